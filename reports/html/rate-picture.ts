import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { count } from '../outcome.ts';
import type { Report } from '../report.ts';
import { shownLine } from '../visible-text.ts';
import { type Ban, COLUMNS, type KeySeries, type RateWindow, rateSeries } from './rate-series.ts';
import { bars, edges, isBand, place, plotOf, remaining, tallestBar } from './rate-shapes.ts';
import { timeTicks, WIDTHS } from './time-axis.ts';

/** Past these a panel is one picture too many; the rest is in the numbers. */
const MOST_PANELS = 12;
const MOST_LABELS = 200;
const MOST_WINDOWS_LISTED = 60;
/** Closer than this, in pixels, window edges are a hatching. */
const EDGES_APART = 8;
const ZOOMS = [1, 4, 16];

/** Where the page shows each key's panel, by the key's name. */
export function ratePanels(report: Report): ReadonlyMap<string | null, string> {
  return new Map(
    rateSeries(report)
      .slice(0, MOST_PANELS)
      .map(({ key }, index) => [key, `k-${index}`]),
  );
}

/** Requests, Remaining and refusals over time: a panel per key, from its first request to its last. */
export function ratePicture(report: Report): SafeHtml {
  const all = rateSeries(report);
  if (all.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  const shown = all.slice(0, MOST_PANELS);
  return html`
<p class="quiet">Each key from its first request to its last. Above, what X-RateLimit-Remaining said; below, requests admitted (up) and not admitted (down). Dashed lines are window edges (X-RateLimit-Reset).</p>
<div class="legend">
  ${Object.entries(LEGEND).map(([name, words]) => html`<span><i class="swatch s-${name}"></i>${words}</span>`)}
  <span class="zoom js" role="group" aria-label="Zoom of the picture">
    ${ZOOMS.map((zoom) => html`<button type="button" data-zoom="${zoom}" aria-pressed="${String(zoom === 1)}">${zoom}×</button>`)}
  </span>
</div>
<div class="rates" tabindex="0" role="group" aria-label="Rate limits over time, one panel per key">
  <div class="rates-inner">${shown.map(panel)}</div>
</div>
<script type="application/json" id="rate-data">${html.raw`${rateData(shown)}`}</script>
${all.length > MOST_PANELS ? html`<p class="quiet">${all.length - MOST_PANELS} more keys are in report.json.</p>` : ''}
${windowTable(all)}`;
}

const LEGEND = {
  remaining: 'Remaining',
  admitted: 'admitted',
  refused: 'refused (429)',
  banned: 'banned',
  unanswered: 'no answer',
  edge: 'window edge',
};

/** What the script needs to answer "what happened here": columns without their names. `<` cannot end the element. */
function rateData(all: readonly KeySeries[]): string {
  return JSON.stringify(
    all.map((series) => ({
      from: series.from,
      until: series.until,
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
  ).replaceAll('<', '\\u003c');
}

/** The name under which a key's requests are shown. */
function keyName(key: string | null): string {
  return key === null ? 'no valid key' : shownLine(key, 40);
}

/** Requests without a valid key are answered, with 401; nothing admits them. */
function answeredWord({ key }: KeySeries): string {
  return key === null ? 'answered' : 'admitted';
}

/** One key's requests, Remaining, window edges and bans. */
export function panel(series: KeySeries, index: number): SafeHtml {
  const plot = plotOf(series);
  const facts = factsOf(series);
  const beyond = overText(series);
  const name = keyName(series.key);
  const title = [`${name}: ${facts}`, ...(beyond === undefined ? [] : [beyond])].join(', ');
  const line = (y: number, kind: string) =>
    html`<line x1="0" x2="100%" y1="${y}" y2="${y}" class="${kind}" />`;
  const limits = series.limits.slice(0, 3).map((limit) => limit.toLocaleString('en'));
  const quota = html`${series.limits.length === 0 ? '' : line(plot.top, 'l-grid')}${line(plot.top + plot.height, 'l-base')}${windowEdges(series)}${remaining(series)}`;
  const labels = html`${series.windows.slice(0, MOST_LABELS).map((window, at) => windowLabel(series, window, series.windows[at + 1]))}<text x="2" y="${plot.top - 5}" class="t-scale">${limits.join(' or ')}</text><text x="2" y="${plot.top + plot.height - 4}" class="t-scale">0</text>`;
  return html`
<figure class="panel" id="k-${index}">
  <figcaption><b>${name}</b> ${series.plan === undefined ? '' : shownLine(series.plan, 20)} <span class="quiet">${facts}, ${tallestBar(series)}</span>${beyond === undefined ? '' : html`, <b class="over">${beyond}</b>`}</figcaption>
  <svg class="plot" width="100%" height="${plot.bottom}" role="img" aria-label="${title}">
    <defs><pattern id="hatch${index}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" class="f-banned" /></pattern></defs>
    ${series.bans.map((ban) => banBand(series, ban, index))}
    ${plot.height === 0 ? '' : quota}${line(plot.base, 'l-base')}${bars(series)}
    ${plot.height === 0 ? '' : labels}
    ${series.bans.map((ban) => banLabel(series, ban))}
  </svg>
  ${axis(series)}
  <div class="crosshair" hidden></div>
  <div class="look js"><input type="range" min="0" max="${COLUMNS - 1}" value="0" aria-label="Look along ${name}" aria-valuetext="Start" /><output class="quiet"></output></div>
</figure>`;
}

function factsOf(series: KeySeries): string {
  const { admitted, refused, banned, unanswered } = series.total;
  return [
    count(admitted + refused + banned + unanswered, 'request'),
    ...(refused > 0 ? [`${refused.toLocaleString('en')} refused`] : []),
    ...(banned > 0 ? [`${banned.toLocaleString('en')} while banned`] : []),
    ...(unanswered > 0 ? [`${unanswered.toLocaleString('en')} unanswered`] : []),
    ...(isBand(series) && !series.movingReset
      ? [`${count(series.windows.length, 'window')}, Remaining from its lowest to its highest`]
      : []),
    ...(series.movingReset ? ['Reset moves with every request, so there are no window edges'] : []),
  ].join(', ');
}

/** A moment's place as SVG writes it. */
function x(series: KeySeries, at: number): string {
  return `${Number((place(series, at) * 100).toFixed(3))}%`;
}

/** The class that shows something only where the picture is wide enough for its part to have `pixels` to itself. */
function needs(series: KeySeries, seconds: number, pixels: number): string {
  const width = pixels / Math.max(seconds / (series.until - series.from), 1e-9);
  const step = WIDTHS.find((candidate) => width <= candidate);
  return step === undefined ? 'never' : `n${step}`;
}

function axis(series: KeySeries): SafeHtml {
  return html`<svg class="axis" width="100%" height="22" aria-hidden="true">${timeTicks(
    series.until,
    series.from,
  ).map(({ at, label, needs: width }) => {
    const [left, part] = [x(series, at), place(series, at)];
    const anchor = part < 0.03 ? 'start' : part > 0.97 ? 'end' : 'middle';
    return html`<g class="n${width}"><line x1="${left}" x2="${left}" y1="0" y2="5" class="l-base" /><text x="${left}" y="18" text-anchor="${anchor}" class="t-axis">${label}</text></g>`;
  })}</svg>`;
}

function windowEdges(series: KeySeries): SafeHtml {
  const resets = series.windows.map(({ reset }) => reset).sort((a, b) => a - b);
  const apart = resets
    .slice(1)
    .map((reset, index) => reset - (resets[index] ?? reset))
    .sort((a, b) => a - b);
  // The usual distance: a single window that was named twice must not hide all the others.
  const usual = apart[Math.floor(apart.length / 2)] ?? series.until - series.from;
  return html`<g class="${needs(series, usual, EDGES_APART)}">${edges(series)}</g>`;
}

function banBand(series: KeySeries, ban: Ban, index: number): SafeHtml {
  const width = Math.max(0.15, (place(series, ban.until) - place(series, ban.from)) * 100).toFixed(3);
  const rect = (kind: SafeHtml) =>
    html`<rect x="${x(series, ban.from)}" y="0" width="${width}%" height="${plotOf(series).bottom}" ${kind} />`;
  return html`${rect(html`class="f-ban-ground"`)}${rect(html`fill="url(#hatch${index})"`)}`;
}

function banLabel(series: KeySeries, ban: Ban): SafeHtml {
  const text = ban.ended
    ? `banned, free after ${duration(ban.until - ban.from)}`
    : 'banned to the last request';
  const room = needs(series, ban.until - ban.from, text.length * 7);
  return html`<text x="${x(series, (ban.from + ban.until) / 2)}" y="${plotOf(series).base - 12}" text-anchor="middle" class="t-ban ${room}">${text}</text>`;
}

function windowLabel(series: KeySeries, window: RateWindow, next: RateWindow | undefined): SafeHtml | string {
  const plot = plotOf(series);
  const until = Math.min(window.reset, next?.from ?? series.until, series.until);
  if (until <= window.from) return '';
  const over = isOver(series, window);
  const admitted = `${window.admitted.toLocaleString('en')}${over ? ` of ${window.limit?.toLocaleString('en')}` : ''} ${answeredWord(series)}`;
  const refused = window.refused === 0 ? '' : `${window.refused.toLocaleString('en')} refused`;
  const room = needs(series, until - window.from, Math.max(admitted.length, refused.length) * 7 + 6);
  const at = x(series, (window.from + until) / 2);
  const middle = plot.top + plot.height / 2;
  return html`<text y="${refused === '' ? middle + 4 : middle - 4}" text-anchor="middle" class="t-window ${room}"><tspan x="${at}"${html.raw`${over ? ' class="over"' : ''}`}>${admitted}</tspan>${refused === '' ? '' : html`<tspan x="${at}" dy="16" class="t-refused">${refused}</tspan>`}</text>`;
}

/**
 * More admitted than X-RateLimit-Limit allows. Requests without a valid key are refused by 401, not by it, and a limit
 * of nothing that is told to somebody who is served limits nothing.
 */
function isOver({ key }: KeySeries, { limit, admitted }: RateWindow): boolean {
  return key !== null && limit !== undefined && limit > 0 && admitted > limit;
}

/** Windows that admitted too many, in words: their labels in the plot are left out where it is narrow. */
function overText(series: KeySeries): string | undefined {
  const [worst, ...others] = series.windows
    .filter((window) => isOver(series, window))
    .sort((a, b) => b.admitted - a.admitted);
  if (worst === undefined) return undefined;
  const more = others.length === 0 ? '' : `, and too many in ${count(others.length, 'other')}`;
  return `${worst.admitted.toLocaleString('en')} of ${worst.limit?.toLocaleString('en')} admitted in one window${more}`;
}

/** The same as a table, for whoever wants the numbers. */
function windowTable(all: readonly KeySeries[]): SafeHtml | string {
  const rows = all.flatMap((series) => series.windows.map((window) => ({ series, window })));
  if (rows.length === 0) return '';
  const shown = rows.slice(0, MOST_WINDOWS_LISTED);
  const head = ['Key', 'First request', 'Reset', 'Limit', 'Admitted', 'Refused', 'Least Remaining'];
  return html`
<details class="fold"><summary>The windows in numbers (${rows.length})</summary>
<div class="scroll" tabindex="0" role="group" aria-label="The windows in numbers"><table class="numbers">
  <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
  <tbody>${shown.map(
    ({ series, window }) => html`<tr>
    <th scope="row">${keyName(series.key)}</th><td>${duration(window.from)}</td><td>${duration(window.reset)}</td><td>${window.limit?.toLocaleString('en') ?? ''}</td>
    <td${html.raw`${isOver(series, window) ? ' class="over"' : ''}`}>${window.admitted.toLocaleString('en')}</td><td>${window.refused.toLocaleString('en')}</td><td>${window.remainingLeast?.toLocaleString('en') ?? ''}</td></tr>`,
  )}</tbody>
</table></div>
${rows.length > shown.length ? html`<p class="quiet">and ${rows.length - shown.length} more in report.json</p>` : ''}
</details>`;
}
