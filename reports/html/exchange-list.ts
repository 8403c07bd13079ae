import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange } from '../../checks/wire/exchange.ts';
import type { Report } from '../report.ts';
import { shownLine } from '../visible-text.ts';
import { NO_MARKS } from './differences.ts';
import { exchangeHtml, exchangeLine } from './exchange-viewer.ts';

/** Characters of each body: generous where the exchange proves something. */
const MOST_OF_PROOF = 2_500;
const MOST_OF_OTHERS = 900;

export interface ExchangeList {
  readonly html: SafeHtml;
  /** Ids of exchanges to the page's ids, for those that are shown. */
  readonly anchors: ReadonlyMap<string, string>;
}

/**
 * The exchanges of the run in the order in which they were sent; evidence has precedence where not all fit.
 *
 * @param budget bytes that the list may weigh, so that the page stays under a megabyte whatever the target sent
 */
export function exchangeList(report: Report, budget: number): ExchangeList {
  const startedAt = Date.parse(report.run.startedAt);
  const weight = weights(report);
  const anchors = new Map<string, string>();
  const entries: { readonly exchange: Exchange; readonly entry: SafeHtml }[] = [];
  let spent = 0;
  for (const exchange of [...report.exchanges].sort(
    (a, b) => (weight.get(b.id) ?? 0) - (weight.get(a.id) ?? 0),
  )) {
    const anchor = `x${entries.length}`;
    const proof = (weight.get(exchange.id) ?? 0) >= PROOF;
    const entry = html`
<details class="x" id="${anchor}"><summary>${exchangeLine(exchange, startedAt)} <code>${shownLine(exchange.id, 80)}</code></summary>
<div class="body">${exchangeHtml(exchange, NO_MARKS, proof ? MOST_OF_PROOF : MOST_OF_OTHERS)}</div></details>`;
    spent += Buffer.byteLength(String(entry));
    if (spent > budget) break;
    anchors.set(exchange.id, anchor);
    entries.push({ exchange, entry });
  }
  const left = report.exchanges.length - entries.length;
  return {
    anchors,
    html: html`
${entries.sort((a, b) => a.exchange.sentAt - b.exchange.sentAt).map(({ entry }) => entry)}
${left > 0 ? html`<p class="quiet">${left.toLocaleString('en')} more are in report.json: the page would grow past a megabyte.</p>` : ''}`,
  };
}

/** From this weight on an exchange proves something: a failure, or an answer to what the document leaves open. */
const PROOF = 2;

/** How much each exchange matters: evidence of a failure, of drift or doubt, of a pass, none. */
function weights(report: Report): Map<string, number> {
  const weight = new Map<string, number>();
  const raise = (ids: readonly string[], to: number) => {
    // The decisive exchange stands first; the tenth example of the same thing matters less than another's first.
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
