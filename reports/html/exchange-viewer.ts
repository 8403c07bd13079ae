import { STATUS_CODES } from 'node:http';
import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange, HeaderList } from '../../checks/wire/exchange.ts';
import { duration } from '../facts.ts';
import { clip, shownLine } from '../visible-text.ts';
import type { Marks } from './differences.ts';
import { bodyHtml } from './json-colours.ts';
import { shown } from './visible-html.ts';

/** More header fields than this are an attack, not evidence. */
const MOST_HEADERS = 60;

/** One line that names an exchange: what was sent and what came. */
export function exchangeLine(exchange: Exchange, startedAt: number): SafeHtml {
  const { request, outcome, key } = exchange;
  const came =
    outcome.kind === 'response'
      ? html`<b class="st st${Math.floor(outcome.status / 100)}">${outcome.status}</b>`
      : html`<b class="st st0">${outcome.reason}</b>`;
  const at = duration(Math.max(0, (exchange.sentAt - startedAt) / 1000));
  return html`<b>${shownLine(request.method, 20)}</b> <span class="path">${shownLine(request.path, 160)}</span> ${came} <span class="quiet">${key === null ? 'no valid key' : shownLine(key, 40)}, at ${at}</span>`;
}

/**
 * Request and response in full, side by side where there is room.
 *
 * @param most characters of each body
 */
export function exchangeHtml(exchange: Exchange, marks: Marks, most: number): SafeHtml {
  const { request, outcome } = exchange;
  const took = Math.max(0, exchange.receivedAt - exchange.sentAt);
  const sent = html`<b>${shownLine(request.method, 20)}</b> ${shown(request.path, most)}`;
  return html`<div class="exchange">
<div><p class="pane">Request</p><pre tabindex="0">${sent}
${headerLines(request.headers, new Set())}${
  request.body === undefined
    ? ''
    : html`
${bodyHtml(request.body, most, new Set())}`
}</pre></div>
<div><p class="pane">Response <span class="quiet">after ${took < 1000 ? `${Math.round(took)} ms` : duration(took / 1000)}</span></p>${
    outcome.kind === 'failure'
      ? html`<pre tabindex="0"><b class="st st0">${outcome.reason}</b>
${shown(outcome.message, most)}</pre>`
      : responseHtml(outcome, marks, most)
  }</div>
</div>`;
}

function responseHtml(
  outcome: Extract<Exchange['outcome'], { kind: 'response' }>,
  marks: Marks,
  most: number,
): SafeHtml {
  const status = html`<b class="st st${Math.floor(outcome.status / 100)}">${outcome.status}</b> ${STATUS_CODES[outcome.status] ?? ''}`;
  const problem =
    outcome.bodyProblem === undefined
      ? ''
      : html`<p class="quiet">The body below is not faithful: ${outcome.bodyProblem}.</p>`;
  return html`<pre tabindex="0">${marks.status ? html`<mark>${status}</mark>` : status}
${headerLines(outcome.headers, marks.headers)}${marks.missingHeaders.map(
  (name) => html`<del>${clip(name, 60)}: (missing)</del>
`,
)}
${outcome.body === '' ? html`<i class="more">no body</i>` : bodyHtml(outcome.body, most, marks.fields)}</pre>${problem}`;
}

function headerLines(headers: HeaderList, marked: ReadonlySet<string>): SafeHtml {
  const lines = headers.slice(0, MOST_HEADERS).map(([name, value]) => {
    const line = html`<i class="h">${shown(name, 80)}</i>: ${shown(value, 400)}`;
    return html`${marked.has(name.toLowerCase()) ? html`<mark>${line}</mark>` : line}
`;
  });
  const more = headers.length - MOST_HEADERS;
  return html`${lines}${
    more > 0
      ? html`<i class="more">and ${more} more header fields</i>
`
      : ''
  }`;
}
