import { STATUS_CODES } from 'node:http';
import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange, HeaderList } from '../../checks/wire/exchange.ts';
import { duration } from '../facts.ts';
import type { Report, RequirementResult } from '../report.ts';
import { clip, shownLine } from '../visible-text.ts';
import { type Marks, marksOf, NO_MARKS } from './differences.ts';
import { bodyHtml } from './json-colours.ts';
import { shown } from './visible-html.ts';

/** How many characters of each body are shown: more if the exchange proves something. */
const MOST_OF_PROOF = 2_500;
const MOST_OF_OTHERS = 900;
/** How many exchanges of a requirement the page shows or links to. */
export const MOST_EVIDENCE = 12;

/** Where the page shows each exchange. */
export interface PlacedExchanges {
  /** For the exchanges that are shown: their anchors on the page, by id. */
  readonly anchors: ReadonlyMap<string, string>;
  /** The exchanges beneath each requirement, by its id. Each one is beneath the first requirement that cites it. */
  readonly beneath: ReadonlyMap<string, readonly { readonly id: string; readonly entry: SafeHtml }[]>;
  /** Exchanges that no requirement cites, in the order of sending. */
  readonly others: SafeHtml[];
  /** How many exchanges the page has no room for. */
  readonly left: number;
}

/**
 * Places the exchanges of the run. If not all fit, evidence has precedence.
 *
 * @param budget how many bytes they may have, so that the page stays below a megabyte
 */
export function placeExchanges(report: Report, budget: number): PlacedExchanges {
  const startedAt = Date.parse(report.run.startedAt);
  const homes = homesOf(report.requirements);
  const weight = weights(report);
  const weightOf = ({ id }: Exchange) => weight.get(id) ?? 0;
  const anchors = new Map<string, string>();
  const beneath = new Map<string, { readonly id: string; readonly entry: SafeHtml }[]>();
  const others: { readonly sentAt: number; readonly entry: SafeHtml }[] = [];
  let spent = 0;
  for (const exchange of [...report.exchanges].sort((a, b) => weightOf(b) - weightOf(a))) {
    const home = homes.get(exchange.id);
    const isProof = home?.verdict === 'fail' && home.evidence[0] === exchange.id;
    const anchor = `x${anchors.size}`;
    const most = weightOf(exchange) >= PROOF ? MOST_OF_PROOF : MOST_OF_OTHERS;
    const marks = isProof ? marksOf(home, exchange) : NO_MARKS;
    const entry = html`
<details class="x" id="${anchor}"${html.raw`${isProof ? ' open' : ''}`}><summary>${exchangeLine(exchange, startedAt)} <code>${shownLine(exchange.id, 80)}</code></summary>
<div class="body">${exchangeHtml(exchange, marks, most)}</div></details>`;
    spent += Buffer.byteLength(String(entry));
    if (spent > budget) break;
    anchors.set(exchange.id, anchor);
    if (home === undefined) others.push({ sentAt: exchange.sentAt, entry });
    else beneath.set(home.id, [...(beneath.get(home.id) ?? []), { id: exchange.id, entry }]);
  }
  return {
    anchors,
    beneath,
    others: others.sort((a, b) => a.sentAt - b.sentAt).map(({ entry }) => entry),
    left: report.exchanges.length - anchors.size,
  };
}

/** The requirement beneath which each exchange is shown: one that it broke, else the first that cites it. */
function homesOf(rows: readonly RequirementResult[]): Map<string, RequirementResult> {
  const homes = new Map<string, RequirementResult>();
  const failedFirst = [...rows].sort((a, b) => Number(b.verdict === 'fail') - Number(a.verdict === 'fail'));
  for (const row of failedFirst) {
    for (const id of row.evidence.slice(0, MOST_EVIDENCE)) if (!homes.has(id)) homes.set(id, row);
  }
  return homes;
}

/** From this weight on, an exchange proves a failure or an answer to a gap. */
const PROOF = 2;

/** How much each exchange matters: evidence of a failure weighs most. */
function weights(report: Report): Map<string, number> {
  const weight = new Map<string, number>();
  const raise = (ids: readonly string[], to: number) => {
    // The decisive exchange stands first. Further examples of the same matter less.
    for (const [index, id] of ids.entries()) {
      weight.set(id, Math.max(weight.get(id) ?? 0, index === 0 ? to : to / 2));
    }
  };
  for (const { verdict, evidence } of report.requirements) {
    raise(evidence, verdict === 'fail' ? 6 : verdict === 'inconclusive' ? 3 : 1);
  }
  for (const { verdict, evidence } of report.gaps) raise(evidence, verdict === 'drifted' ? 6 : 2);
  return weight;
}

/** More header fields than this are an attack, not evidence. */
const MOST_HEADERS = 60;

function exchangeLine({ request, outcome, key, sentAt }: Exchange, startedAt: number): SafeHtml {
  const came = outcome.kind === 'response' ? statusHtml(outcome.status) : failureWord(outcome.reason);
  const at = duration(Math.max(0, (sentAt - startedAt) / 1000));
  return html`<b>${shownLine(request.method, 20)}</b> <span class="path">${shownLine(request.path, 160)}</span> ${came} <span class="quiet">${key === null ? 'no valid key' : shownLine(key, 40)}, at ${at}</span>`;
}

/** An HTTP status. */
export function statusHtml(status: number): SafeHtml {
  const kind = status >= 500 ? 'fail' : status >= 200 && status < 300 ? 'pass' : 'inconclusive';
  return html`<b class="st k-${kind}">${status}</b>`;
}
const failureWord = (reason: string) => html`<b class="st k-fail">${reason}</b>`;

/**
 * Request and response in full, side by side if there is room.
 *
 * @param most characters of each body
 */
export function exchangeHtml(exchange: Exchange, marks: Marks, most = MOST_OF_PROOF): SafeHtml {
  const { request, outcome } = exchange;
  const took = Math.max(0, exchange.receivedAt - exchange.sentAt);
  const body =
    request.body === undefined
      ? ''
      : html`
${bodyHtml(request.body, most, new Set())}`;
  return html`<div class="exchange">
<div><p class="pane">Request</p><pre tabindex="0"><b>${shownLine(request.method, 20)}</b> ${shown(request.path, most)}
${headerLines(request.headers, new Set())}${body}</pre></div>
<div><p class="pane">Response <span class="quiet">after ${took < 1000 ? `${Math.round(took)} ms` : duration(took / 1000)}</span></p>${
    outcome.kind === 'response'
      ? responseHtml(outcome, marks, most)
      : html`<pre tabindex="0">${failureWord(outcome.reason)}
${shown(outcome.message, most)}</pre>`
  }</div>
</div>`;
}

function responseHtml(
  outcome: Extract<Exchange['outcome'], { kind: 'response' }>,
  marks: Marks,
  most: number,
): SafeHtml {
  const status = html`${statusHtml(outcome.status)} ${STATUS_CODES[outcome.status] ?? ''}`;
  const missing = marks.missingHeaders.map(
    (name) => html`<del>${clip(name, 60)}: (missing)</del>
`,
  );
  const problem =
    outcome.bodyProblem === undefined
      ? ''
      : html`<p class="quiet">The body below is not faithful: ${outcome.bodyProblem}.</p>`;
  return html`<pre tabindex="0">${marks.status ? html`<mark>${status}</mark>` : status}
${headerLines(outcome.headers, marks.headers)}${missing}
${outcome.body === '' ? html`<i class="quiet">no body</i>` : bodyHtml(outcome.body, most, marks.fields)}</pre>${problem}`;
}

function headerLines(headers: HeaderList, marked: ReadonlySet<string>): SafeHtml {
  const lines = headers.slice(0, MOST_HEADERS).map(([name, value]) => {
    const line = html`<i class="h">${shown(name, 80)}</i>: ${shown(value, 400)}`;
    return html`${marked.has(name.toLowerCase()) ? html`<mark>${line}</mark>` : line}
`;
  });
  const more = headers.length - MOST_HEADERS;
  const rest = html`<i class="quiet">and ${more} more header fields</i>
`;
  return html`${lines}${more > 0 ? rest : ''}`;
}
