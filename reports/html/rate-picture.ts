import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { count } from '../outcome.ts';
import type { Report } from '../report.ts';
import { shownLine } from '../visible-text.ts';
import { type Ban, COLUMNS, type KeySeries, type RateWindow, rateSeries, runLength } from './rate-series.ts';
import { timeTicks } from './time-axis.ts';

/**
 * Geometry of one key's panel in pixels. Shapes are drawn on a stretched canvas, COLUMNS wide, so that one drawing
 * serves every width; text stands outside of it, placed by percentages, and keeps its size.
 */
const PLOT = { top: 18, height: 96, bars: 126, up: 34, down: 20, bottom: 184 } as const;

/** Past these a panel is one picture too many; the rest is in the numbers. */
const MOST_PANELS = 12;
const MOST_WINDOWS_DRAWN = 200;
const MOST_WINDOWS_LISTED = 60;

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
<p class="quiet">Above, what X-RateLimit-Remaining said; below, requests admitted (up) and refused (down). Dashed lines are window edges (X-RateLimit-Reset).${clock}</p>
<div class="legend">
  <span><i class="swatch s-remaining"></i>Remaining</span>
  <span><i class="swatch s-admitted"></i>admitted</span>
  <span><i class="swatch s-refused"></i>refused (429)</span>
  <span><i class="swatch s-banned"></i>banned</span>
  <span><i class="swatch s-unanswered"></i>no answer</span>
  <span><i class="swatch s-edge"></i>window edge</span>
  <span class="zoom js" role="group" aria-label="Zoom of the picture">
    ${[1, 2, 4, 8].map((zoom) => html`<button type="button" data-zoom="${zoom}" aria-pressed="${String(zoom === 1)}">${zoom}×</button>`)}
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

function keyName(key: string | null): string {
  return key === null ? 'no valid key' : shownLine(key, 40);
}

function x(at: number, length: number): string {
  return `${Number(((Math.min(Math.max(at, 0), length) / length) * 100).toFixed(3))}%`;
}

function panel(series: KeySeries, index: number, length: number): SafeHtml {
  const { admitted, refused, banned, unanswered } = series.total;
  const facts = [
    count(admitted + refused + banned + unanswered, 'request'),
    ...(refused > 0 ? [`${refused.toLocaleString('en')} refused`] : []),
    ...(banned > 0 ? [`${banned.toLocaleString('en')} while banned`] : []),
    ...(unanswered > 0 ? [`${unanswered.toLocaleString('en')} unanswered`] : []),
    ...(series.movingReset ? ['Reset moves with every request, so there are no window edges'] : []),
  ].join(', ');
  const beyond = overText(series);
  const title = [`${keyName(series.key)}: ${facts}`, ...(beyond === undefined ? [] : [beyond])].join(', ');
  return html`
<figure class="panel">
  <figcaption><b>${keyName(series.key)}</b> ${series.plan === undefined ? '' : shownLine(series.plan, 20)} <span class="quiet">${facts}</span>${beyond === undefined ? '' : html`, <b class="over">${beyond}</b>`}</figcaption>
  <svg class="plot" width="100%" height="${PLOT.bottom}" role="img" aria-label="${title}">
    <defs><pattern id="hatch${index}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" class="f-banned" /></pattern></defs>
    ${series.bans.map((ban) => banBand(ban, index, length))}
    ${grid(series)}
    ${series.windows.slice(0, MOST_WINDOWS_DRAWN).map((window) => edge(window, length))}
    <svg x="0" y="0" width="100%" height="${PLOT.bottom}" viewBox="0 0 ${COLUMNS} ${PLOT.bottom}" preserveAspectRatio="none">
      ${bars(series)}
      ${remaining(series, length)}
    </svg>
    ${series.windows.slice(0, MOST_WINDOWS_DRAWN).map((window, at) => windowLabel(series, window, series.windows[at + 1], length))}
    ${series.bans.map((ban) => banLabel(ban, length))}
    ${series.limits.length === 0 ? '' : html`<text x="2" y="${PLOT.top - 5}" class="t-scale">${limitsText(series)}</text><text x="2" y="${PLOT.top + PLOT.height - 4}" class="t-scale">0</text>`}
  </svg>
</figure>`;
}

/** The value of the upper edge of the plot; a target that turns to the day's headers has two. */
function limitsText({ limits }: KeySeries): string {
  return limits
    .slice(0, 3)
    .map((limit) => limit.toLocaleString('en'))
    .join(' or ');
}

function grid(series: KeySeries): SafeHtml {
  const top =
    series.limits.length === 0
      ? ''
      : html`<line x1="0" x2="100%" y1="${PLOT.top}" y2="${PLOT.top}" class="l-grid" />`;
  const zero = PLOT.top + PLOT.height;
  const bars = PLOT.bars + PLOT.up;
  return html`${top}<line x1="0" x2="100%" y1="${zero}" y2="${zero}" class="l-base" /><line x1="0" x2="100%" y1="${bars}" y2="${bars}" class="l-base" />`;
}

function edge(window: RateWindow, length: number): SafeHtml | string {
  if (window.reset < 0 || window.reset > length) return '';
  const at = x(window.reset, length);
  return html`<line x1="${at}" x2="${at}" y1="0" y2="${PLOT.bottom}" class="l-edge" />`;
}

function banBand(ban: Ban, index: number, length: number): SafeHtml {
  const width = Math.max(0.15, ((ban.until - ban.from) / length) * 100).toFixed(3);
  return html`<rect x="${x(ban.from, length)}" y="0" width="${width}%" height="${PLOT.bottom}" class="f-ban-ground" /><rect x="${x(ban.from, length)}" y="0" width="${width}%" height="${PLOT.bottom}" fill="url(#hatch${index})" />`;
}

/** The class that shows a label only where the picture is wide enough for it to have `pixels` to itself. */
function needs(fraction: number, pixels: number): string {
  const width = pixels / Math.max(fraction, 1e-9);
  const step = [300, 600, 1200, 2400, 4800].find((candidate) => width <= candidate);
  return step === undefined ? 'never' : `n${step}`;
}

function banLabel(ban: Ban, length: number): SafeHtml {
  const text = ban.ended
    ? `banned, free after ${duration(ban.until - ban.from)}`
    : 'banned to the end of the run';
  const fraction = (ban.until - ban.from) / length;
  return html`<text x="${x((ban.from + ban.until) / 2, length)}" y="${PLOT.bars + PLOT.up - 12}" text-anchor="middle" class="t-ban ${needs(fraction, text.length * 7)}">${text}</text>`;
}

function windowLabel(
  series: KeySeries,
  window: RateWindow,
  next: RateWindow | undefined,
  length: number,
): SafeHtml | string {
  const until = Math.min(window.reset, next?.from ?? length, length);
  if (until <= window.from) return '';
  const over = isOver(series, window);
  const parts = [
    `${window.admitted.toLocaleString('en')} ${answeredWord(series)}`,
    ...(over ? [`of ${window.limit?.toLocaleString('en')}`] : []),
    ...(window.refused === 0 ? [] : [`and ${window.refused.toLocaleString('en')} refused`]),
  ];
  const text = parts.join(' ');
  const fraction = (until - window.from) / length;
  return html`<text x="${x((window.from + until) / 2, length)}" y="${PLOT.top + PLOT.height / 2 + 4}" text-anchor="middle" class="t-window${over ? ' over' : ''} ${needs(fraction, text.length * 7)}">${text}</text>`;
}

/** More admitted than X-RateLimit-Limit allows; requests without a valid key are refused by 401, not by it. */
function isOver({ key }: KeySeries, { limit, admitted }: RateWindow): boolean {
  return key !== null && limit !== undefined && admitted > limit;
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

/** Requests without a valid key are answered, with 401; nothing admits them. */
function answeredWord({ key }: KeySeries): string {
  return key === null ? 'answered' : 'admitted';
}

function bars(series: KeySeries): SafeHtml {
  const base = PLOT.bars + PLOT.up;
  const tallest = series.columns.reduce((most, { admitted }) => Math.max(most, admitted), 1);
  const deepest = series.columns.reduce(
    (most, column) => Math.max(most, column.refused + column.banned + column.unanswered),
    1,
  );
  // One path a kind instead of a rectangle a column: a third of the bytes.
  const path = (
    heightOf: (column: KeySeries['columns'][number]) => readonly [from: number, to: number],
    wide = 1,
  ) =>
    series.columns
      .map((column) => {
        const [from, to] = heightOf(column);
        return from === to ? '' : `M${column.index} ${from.toFixed(1)}h${wide}V${to.toFixed(1)}h-${wide}z`;
      })
      .join('');
  const up = (value: number) => (value === 0 ? base : base - Math.max(3, (value / tallest) * PLOT.up));
  const down = (value: number) => (value === 0 ? base : base + Math.max(3, (value / deepest) * PLOT.down));
  const shapes = [
    ['b-admitted', path(({ admitted }) => [base, up(admitted)])],
    // What was not admitted is drawn wider: a single refusal must not be a hair that nobody sees.
    ['b-refused', path(({ refused }) => [base, down(refused)], 2)],
    [
      'b-banned',
      path(
        ({ refused, banned }) => [down(refused), banned === 0 ? down(refused) : down(refused + banned)],
        2,
      ),
    ],
    [
      'b-unanswered',
      path(
        ({ refused, banned, unanswered }) => [
          down(refused + banned),
          unanswered === 0 ? down(refused + banned) : down(refused + banned + unanswered),
        ],
        2,
      ),
    ],
  ] as const;
  return html`${shapes.map(([name, d]) => (d === '' ? '' : html`<path class="${name}" d="${d}" />`))}`;
}

function remaining(series: KeySeries, length: number): SafeHtml | string {
  const px = (at: number) => Number(((Math.min(Math.max(at, 0), length) / length) * COLUMNS).toFixed(1));
  const py = (value: number) =>
    Number((PLOT.top + PLOT.height * (1 - Math.min(Math.max(value, 0), 1))).toFixed(1));
  const bottom = PLOT.top + PLOT.height;
  const lines = series.steps.filter((step) => step.length > 0).map((step) => stepPath(step, px, py));
  return html`${lines.map(({ d, from, to }) => html`<path class="a-remaining" d="${d}L${to} ${bottom}L${from} ${bottom}z" />`)}${lines.map(({ d }) => html`<path class="l-remaining" d="${d}" />`)}`;
}

/** A step line with at most two points in each tenth of a column: the eye sees no more. */
function stepPath(
  step: readonly (readonly [number, number])[],
  px: (at: number) => number,
  py: (value: number) => number,
): { d: string; from: number; to: number } {
  let d = '';
  let lastX = Number.NaN;
  let lastY = Number.NaN;
  let from = 0;
  for (const [at, value] of step) {
    const [atX, atY] = [px(at), py(value)];
    if (d === '') {
      d = `M${atX} ${atY}`;
      from = atX;
    } else {
      if (atX === lastX && atY === lastY) continue;
      if (atX !== lastX) d += `H${atX}`;
      if (atY !== lastY) d += `V${atY}`;
    }
    [lastX, lastY] = [atX, atY];
  }
  return { d, from, to: Number.isNaN(lastX) ? 0 : lastX };
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

function windowTable(all: readonly KeySeries[]): SafeHtml | string {
  const rows = all.flatMap((series) => series.windows.map((window) => ({ series, window })));
  if (rows.length === 0) return '';
  const shown = rows.slice(0, MOST_WINDOWS_LISTED);
  return html`
<details class="numbers"><summary>The windows in numbers (${rows.length})</summary>
<div class="scroll" tabindex="0" role="group" aria-label="The windows in numbers"><table>
  <thead><tr><th scope="col">Key</th><th scope="col">First request</th><th scope="col">Reset</th><th scope="col">Limit</th><th scope="col">Admitted</th><th scope="col">Refused</th><th scope="col">Least Remaining</th></tr></thead>
  <tbody>${shown.map(
    ({ series, window }) => html`<tr>
    <th scope="row">${keyName(series.key)}</th><td>${duration(window.from)}</td><td>${duration(window.reset)}</td><td>${window.limit?.toLocaleString('en') ?? ''}</td>
    <td${html.raw`${isOver(series, window) ? ' class="over"' : ''}`}>${window.admitted.toLocaleString('en')}</td><td>${window.refused.toLocaleString('en')}</td><td>${window.remainingLeast?.toLocaleString('en') ?? ''}</td></tr>`,
  )}</tbody>
</table></div>
${rows.length > shown.length ? html`<p class="quiet">and ${rows.length - shown.length} more in report.json</p>` : ''}
</details>`;
}
