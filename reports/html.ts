import { html } from '@remix-run/html-template';
import { exchangeList } from './html/exchange-list.ts';
import { gapList } from './html/gap-list.ts';
import { findings, verdictHeader } from './html/overview.ts';
import { pageAssets } from './html/page-assets.ts';
import { pageShell } from './html/page-shell.ts';
import { ratePanels, ratePicture } from './html/rate-picture.ts';
import { requirementList } from './html/requirement-list.ts';
import { count, outcome } from './outcome.ts';
import type { Report } from './report.ts';
import { ROW_KIND_NAMES, ROW_KINDS, rowKind } from './row-kinds.ts';
import { shownLine } from './visible-text.ts';

/** What the page may use beside the report. */
export interface HtmlOptions {
  /** Earlier runs of the same target, the oldest first: each requirement shows how it fared. */
  readonly history?: readonly Report[];
}

/** Bytes that the page may have, with some to spare below a megabyte. */
const PAGE_BUDGET = 940_000;

/**
 * The report as one HTML file: no network (its policy forbids it), light and dark, on paper and on a phone. Works
 * without its script, which adds filter, search, copying and the look along the rate limits.
 */
export function renderHtml(report: Report, options: HtmlOptions = {}): string {
  const { style, script } = pageAssets();
  const { headline } = outcome(report);
  const parts = (anchors: ReadonlyMap<string, string>) => ({
    head: verdictHeader(report),
    findings: findings(report),
    rates: ratePicture(report),
    requirements: requirementList(report.requirements, {
      exchanges: new Map(report.exchanges.map((exchange) => [exchange.id, exchange])),
      anchors,
      panels: ratePanels(report),
      history: options.history ?? [],
    }),
    gaps: gapList(report.gaps, anchors),
  });
  // The list of exchanges has what the other parts leave, and they link to what it shows: so they are measured first.
  const draft = parts(new Map(report.exchanges.map(({ id }, index) => [id, `x${index}`])));
  const spent = [...Object.values(draft), style, script].reduce(
    (sum, part) => sum + Buffer.byteLength(String(part)),
    0,
  );
  const exchanges = exchangeList(report, PAGE_BUDGET - spent);
  const { head, findings: found, rates, requirements, gaps } = parts(exchanges.anchors);
  const body = html`<a class="skip" href="#requirements">Skip to the requirements</a>
<main>
${head}
<nav aria-label="Parts of the report"><a href="#broken">Broken</a><a href="#not-verified">Not verified</a><a href="#rates">Rate limits</a><a href="#requirements">Requirements</a><a href="#gaps">Left open</a><a href="#exchanges">Exchanges</a></nav>
${found}
<section id="rates" aria-labelledby="h-rates"><h2 id="h-rates">Rate limits over time</h2>${rates}</section>
<section id="requirements" aria-labelledby="h-requirements">
<h2 id="h-requirements">Requirements</h2>
${toolbar(report)}
${requirements}
<p class="nothing" hidden>No requirement matches. <button type="button" class="js" data-reset>Show all</button></p>
</section>
<section id="gaps" aria-labelledby="h-gaps"><h2 id="h-gaps">What the document leaves open, and this target’s answers</h2>
<p class="quiet">The document does not say; any answer conforms. One that the profile pins is a promise of this target, and fails when it changes.</p>
${gaps}</section>
<section id="exchanges" aria-labelledby="h-exchanges"><h2 id="h-exchanges">Exchanges</h2>
<p class="quiet">${count(report.exchanges.length, 'exchange')} in full of ${count(report.requests.total, 'request')}; the uniform ones of a burst are in the picture above.</p>
<p class="js"><label for="find-x">Find an exchange</label> <input id="find-x" type="search" autocomplete="off" placeholder="path, status, check…"></p>
${exchanges.html}</section>
</main>
<footer><p>petstore-harness ${shownLine(report.run.harnessVersion, 40)}, run ${shownLine(report.run.id, 60)}. Keys are shown by name only.</p></footer>
<div id="said" class="sr" role="status"></div>`;
  return pageShell(`${headline} (${shownLine(report.run.target, 100)})`, body, true);
}

function toolbar(report: Report) {
  const numbers = new Map<string, number>();
  for (const row of report.requirements) numbers.set(rowKind(row), (numbers.get(rowKind(row)) ?? 0) + 1);
  const kinds = ROW_KIND_NAMES.filter((kind) => numbers.has(kind));
  return html`<div class="toolbar js" role="search" aria-label="Requirements">
<div class="filters" role="group" aria-label="Show">
<button type="button" data-filter="" aria-pressed="true">All ${report.requirements.length}</button>
${kinds.map((kind) => html`<button type="button" class="k-${kind}" data-filter="${kind}" aria-pressed="false">${ROW_KINDS[kind].words} ${numbers.get(kind) ?? 0}</button>`)}
</div>
<div class="find"><label for="find">Search</label> <input id="find" type="search" autocomplete="off" placeholder="id, words, section…"></div>
<div class="folds"><button type="button" data-fold="open">Expand all</button><button type="button" data-fold="close">Collapse all</button></div>
<output id="matches" for="find"></output>
</div>`;
}
