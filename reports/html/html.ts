import { html } from '@remix-run/html-template';
import { count, outcome } from '../outcome.ts';
import type { Report } from '../report.ts';
import { kindCounts } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { type PlacedExchanges, placeExchanges } from './exchanges.ts';
import { gapList } from './gap-list.ts';
import { findings, verdictHeader } from './overview.ts';
import { pageAssets, pageShell } from './page-shell.ts';
import { ratePanels, ratePicture } from './rate-picture.ts';
import { requirementList } from './requirement-list.ts';

/** How many bytes the page may have: somewhat less than a megabyte. */
const PAGE_BUDGET = 940_000;

/**
 * The report as one HTML file without network (its policy forbids it): light and dark, on paper and on a phone. It works
 * without its script, which adds filter, search, copying and the look along the rate limits.
 *
 * @param history earlier runs of the same target, the oldest first
 */
export function renderHtml(report: Report, history: readonly Report[] = []): string {
  const exchanges = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  const parts = (placed: PlacedExchanges) => ({
    head: verdictHeader(report, history),
    findings: findings(report),
    rates: ratePicture(report),
    requirements: requirementList(report.requirements, {
      exchanges,
      placed,
      panels: ratePanels(report),
      history,
    }),
    gaps: gapList(report.gaps, placed.anchors),
  });
  // The exchanges get the room that the other parts leave. Those contain links to the exchanges, so they are drafted first.
  const draft = parts({
    anchors: new Map(report.exchanges.map(({ id }, index) => [id, `x${index}`])),
    beneath: new Map(),
    others: [],
    left: 0,
  });
  const spent = [...Object.values(draft), ...Object.values(pageAssets())].reduce(
    (sum: number, part) => sum + Buffer.byteLength(String(part)),
    0,
  );
  const placed = placeExchanges(report, PAGE_BUDGET - spent);
  const { head, findings: found, rates, requirements, gaps } = parts(placed);
  const body = html`<a class="skip" href="#requirements">Skip to the requirements</a>
<main>
${head}
<nav aria-label="Parts of the report"><a href="#broken">Broken</a><a href="#not-verified">Not verified</a><a href="#requirements">Requirements</a><a href="#rates">Rate limits</a><a href="#gaps">Left open</a></nav>
${found}
<section id="requirements" aria-labelledby="h-requirements">
<h2 id="h-requirements">Requirements</h2>
${toolbar(report)}
${requirements}
<details class="group" id="exchanges"><summary><h3>Other exchanges</h3> <span>${placed.others.length}</span></summary>
<p class="quiet">No requirement cites them. The page has ${count(report.exchanges.length, 'exchange')} in full of ${count(report.requests.total, 'request')}; the uniform ones of a burst are in the picture below.${placed.left > 0 ? ` ${placed.left.toLocaleString('en')} more are in report.json: the page would grow past a megabyte.` : ''}</p>
${placed.others}</details>
<p class="nothing" hidden>Nothing matches. <button type="button" class="js" data-reset>Show all</button></p>
</section>
<section id="rates" aria-labelledby="h-rates"><h2 id="h-rates">Rate limits over time</h2>${rates}</section>
<section id="gaps" aria-labelledby="h-gaps"><h2 id="h-gaps">What the document leaves open, and this target’s answers</h2>
<p class="quiet">The document does not say; any answer conforms. One that the profile pins is a promise of this target, and fails when it changes.</p>
${gaps}</section>
</main>
<footer><p>petstore-harness ${shownLine(report.run.harnessVersion, 40)}, run ${shownLine(report.run.id, 60)}. Keys are shown by name only.</p></footer>
<div id="said" class="sr" role="status"></div>`;
  const { headline } = outcome(report);
  return pageShell(`${shownLine(headline)} (${shownLine(report.run.target, 100)})`, body, true);
}

function toolbar({ requirements }: Report) {
  const filters = kindCounts(requirements).map(
    ({ kind, words, number }) =>
      html`<button type="button" data-filter="${kind}" aria-pressed="false">${words} ${number}</button>`,
  );
  return html`<div class="toolbar js" role="search" aria-label="Requirements">
<div class="filters" role="group" aria-label="Show">
<button type="button" data-filter="" aria-pressed="true">All ${requirements.length}</button>
${filters}
</div>
<div class="find"><label for="find">Search</label> <input id="find" type="search" autocomplete="off" placeholder="id, words, path, status…"></div>
<div class="folds"><button type="button" data-fold="open">Expand all</button><button type="button" data-fold="close">Collapse all</button></div>
<output id="matches" for="find"></output>
</div>`;
}
