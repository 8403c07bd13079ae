import { STATUS_CODES } from 'node:http';
import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange, HeaderList } from '../../checks/wire/exchange.ts';
import { duration, grouped, milliseconds } from '../facts.ts';
import { clip } from '../visible-text.ts';
import { type Place, placeIn } from './json-place.ts';

/** More header fields than this are an attack, not evidence. */
const MOST_HEADERS = 40;
/** How many characters of a body are shown, and at least how many on both sides of what is wrong. */
const MOST_OF_BODY = 1_600;
const AROUND = 400;

/** An HTTP status. */
export function statusHtml(status: number): SafeHtml {
  const kind = status >= 500 ? 'fail' : status >= 200 && status < 300 ? 'pass' : 'inconclusive';
  return html`<b class="st k-${kind}">${status}</b>`;
}

/** What a verdict says is wrong in an answer. */
interface Wrong {
  readonly status: boolean;
  readonly headers: readonly string[];
  readonly place: Place | undefined;
}

function wrongIn({ outcome }: Exchange, at: readonly string[]): Wrong {
  const headers = at.flatMap((one) => (one.startsWith('header:') ? one.slice('header:'.length) : []));
  const pointer = at.find((one) => one.startsWith('body/'))?.slice('body'.length);
  const place =
    pointer === undefined || outcome.kind !== 'response' ? undefined : placeIn(outcome.body, pointer);
  return { status: at.includes('status'), headers, place };
}

/**
 * Request and response, with what is wrong marked; of a long body a window around it.
 *
 * @param at what is wrong, as in `RequirementResult.at`
 */
export function exchangeHtml(exchange: Exchange, at: readonly string[] = []): SafeHtml {
  const { request, outcome } = exchange;
  const wrong = wrongIn(exchange, at);
  const took = Math.max(0, exchange.receivedAt - exchange.sentAt);
  const sent = html`<b>${request.method}</b> ${clip(request.path, 400)}\n${headerLines(request.headers, [])}${request.body === undefined ? '' : html`\n${clip(request.body, MOST_OF_BODY)}`}`;
  const came =
    outcome.kind === 'failure'
      ? html`<b class="st k-fail">${outcome.reason}</b>\n${clip(outcome.message, 400)}`
      : html`${mark(wrong.status, html`${statusHtml(outcome.status)} ${STATUS_CODES[outcome.status] ?? ''}`)}\n${headerLines(outcome.headers, wrong.headers)}\n${bodyHtml(outcome.body, wrong.place)}`;
  const words = wrong.place === undefined ? '' : html`<p class="found"><mark>${wrong.place.words}</mark></p>`;
  const problem =
    outcome.kind === 'response' && outcome.bodyProblem !== undefined
      ? html`<p class="quiet">The body is not faithful: ${outcome.bodyProblem}.</p>`
      : '';
  return html`${words}<div class="exchange"><div><p class="quiet">Request ${exchange.id}</p><pre tabindex="0">${sent}</pre></div>
<div><p class="quiet">Response after ${took < 1000 ? milliseconds(took) : duration(took / 1000)}</p><pre tabindex="0">${came}</pre>${problem}</div></div>`;
}

const mark = (isWrong: boolean, text: SafeHtml): SafeHtml => (isWrong ? html`<mark>${text}</mark>` : text);

function headerLines(headers: HeaderList, wrong: readonly string[]): SafeHtml {
  const names = headers.map(([name]) => name.toLowerCase());
  const lines = headers.slice(0, MOST_HEADERS).map(([name, value]) =>
    mark(
      wrong.some((one) => one.toLowerCase() === name.toLowerCase()),
      html`${clip(name, 80)}: ${clip(value, 300)}\n`,
    ),
  );
  const missing = wrong
    .filter((one) => !names.includes(one.toLowerCase()))
    .map((one) => html`<mark>${one}: (missing)</mark>\n`);
  const more = headers.length - MOST_HEADERS;
  return html`${lines}${more > 0 ? html`<i>and ${more} more header fields</i>\n` : ''}${missing}`;
}

function bodyHtml(body: string, place: Place | undefined): SafeHtml {
  if (body === '') return html`<i>no body</i>`;
  const length = html`\n<i>of ${grouped(body.length)} characters</i>`;
  if (place === undefined)
    return body.length <= MOST_OF_BODY ? html`${body}` : html`${body.slice(0, MOST_OF_BODY)}…${length}`;
  const { value, item } = place;
  // The whole item, if there is room for it.
  const [from, to] =
    item.to - item.from <= MOST_OF_BODY ? [item.from, item.to] : [value.from - AROUND, value.to + AROUND];
  const start = body.length <= MOST_OF_BODY ? 0 : Math.max(0, Math.min(from, value.from - AROUND));
  const end =
    body.length <= MOST_OF_BODY ? body.length : Math.min(body.length, Math.max(to, value.from + AROUND));
  const stop = Math.min(value.to, value.from + MOST_OF_BODY);
  return html`${start > 0 ? '…' : ''}${body.slice(start, value.from)}<mark>${body.slice(value.from, stop)}</mark>${body.slice(stop, Math.max(stop, end))}${end < body.length ? html`…${length}` : ''}`;
}
