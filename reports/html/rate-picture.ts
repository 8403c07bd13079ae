import { html, type SafeHtml } from '@remix-run/html-template';
import type { Report } from '../report.ts';
import { panel, x } from './rate-panel.ts';
import { COLUMNS, type KeySeries, rateSeries, runLength } from './rate-series.ts';
import { answeredWord, keyName, windowTable } from './rate-windows.ts';
import { timeTicks } from './time-axis.ts';

/** Past these a panel is one picture too many; the rest is in the numbers. */
const MOST_PANELS = 12;

/** A run of hours has minutes to look into. */
const zooms = (length: number) => (length > 1_800 ? [1, 4, 16, 64] : [1, 2, 4, 8]);

/** Where the page shows each key's panel, by the key's name. */
export function ratePanels(report: Report): ReadonlyMap<string | null, string> {
  return new Map(
    rateSeries(report)
      .slice(0, MOST_PANELS)
      .map(({ key }, index) => [key, `k-${index}`]),
  );
}

/** Requests, Remaining and refusals over time, a panel per key, with window edges and bans. */
export function ratePicture(report: Report): SafeHtml {
  const all = rateSeries(report);
  if (all.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  const length = runLength(report);
  const shown = all.slice(0, MOST_PANELS);
  const clock =
    report.run.clockSpeed === 1
      ? ''
      : html` Time is that of the simulated clock, ${report.run.clockSpeed} times as fast as real time.`;
  return html`
<p class="quiet">Above, what X-RateLimit-Remaining said; below, requests admitted (up) and not admitted (down). Dashed lines are window edges (X-RateLimit-Reset).${clock}</p>
<div class="legend">
  <span><i class="swatch s-remaining"></i>Remaining</span>
  <span><i class="swatch s-admitted"></i>admitted</span>
  <span><i class="swatch s-refused"></i>refused (429)</span>
  <span><i class="swatch s-banned"></i>banned</span>
  <span><i class="swatch s-unanswered"></i>no answer</span>
  <span><i class="swatch s-edge"></i>window edge</span>
  <span class="zoom js" role="group" aria-label="Zoom of the picture">
    ${zooms(length).map((zoom) => html`<button type="button" data-zoom="${zoom}" aria-pressed="${String(zoom === 1)}">${zoom}×</button>`)}
  </span>
</div>
<div class="rates" tabindex="0" role="group" aria-label="Rate limits over time, one panel per key">
  <div class="rates-inner">
    ${shown.map((series, index) => panel(series, index, length))}
    ${axis(length)}
    <div class="crosshair" hidden></div>
  </div>
</div>
<div class="readout js">
  <label for="rate-at">Look along the run</label>
  <input id="rate-at" type="range" min="0" max="${COLUMNS - 1}" value="0" step="1" aria-valuetext="Start of the run" />
  <output for="rate-at" id="rate-readout" class="quiet">Move the pointer over the picture, or this slider, to read the numbers.</output>
</div>
<script type="application/json" id="rate-data">${html.raw`${rateData(shown, length)}`}</script>
${all.length > MOST_PANELS ? html`<p class="quiet">${all.length - MOST_PANELS} more keys are in report.json.</p>` : ''}
${windowTable(all)}`;
}

function axis(length: number): SafeHtml {
  return html`<svg class="axis" width="100%" height="24" aria-hidden="true">${timeTicks(length).map(
    ({ at, label, needs: width }) => {
      const anchor = at === 0 ? 'start' : at / length > 0.97 ? 'end' : 'middle';
      return html`<g class="n${width}"><line x1="${x(at, length)}" x2="${x(at, length)}" y1="0" y2="5" class="l-base" /><text x="${x(at, length)}" y="18" text-anchor="${anchor}" class="t-axis">${label}</text></g>`;
    },
  )}</svg>`;
}

/** What the script needs to answer "what happened here": columns without their names. `<` cannot end the element. */
function rateData(all: readonly KeySeries[], length: number): string {
  return JSON.stringify({
    length,
    keys: all.map((series) => ({
      name: keyName(series.key),
      answered: answeredWord(series),
      columns: series.columns.map((c) => [
        c.index,
        c.admitted,
        c.refused,
        c.banned,
        c.unanswered,
        c.remaining ?? -1,
      ]),
    })),
  }).replaceAll('<', '\\u003c');
}
