import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { count } from '../outcome.ts';
import type { Report } from '../report.ts';
import { shownLine } from '../visible-text.ts';
import { boxes, linear, lineKeys, percent, swatches, tickTexts } from './chart-frame.ts';
import {
  type Ban,
  COLUMNS,
  type Column,
  type Fate,
  type KeySeries,
  type RateWindow,
  rateSeries,
} from './rate-series.ts';
import { tableHtml } from './table.ts';
import { timeTicks, WIDTHS } from './time-axis.ts';

/** More panels would be too many; the other keys are in the numbers. */
const MOST_PANELS = 12;
const MOST_LABELS = 200;
const MOST_WINDOWS_LISTED = 60;
/** Window edges are left out if they are closer than this, in pixels. */
const EDGES_APART = 8;
/** With more windows the line of Remaining would be a solid block, so a band is drawn instead. */
const MOST_LINES = 60;
const ZOOMS = [1, 4, 16];

/** Where the page shows each key's panel, by the key's name. */
export function ratePanels(report: Report): ReadonlyMap<string | null, string> {
  return new Map(
    rateSeries(report)
      .slice(0, MOST_PANELS)
      .map(({ key }, index) => [key, `k-${index}`]),
  );
}

/** Requests, Remaining and refusals over time: a panel for each key, from its first request to its last. */
export function ratePicture(report: Report): SafeHtml {
  const all = rateSeries(report);
  if (all.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  const shown = all.slice(0, MOST_PANELS);
  return html`
<p class="quiet">Each key from its first request to its last. Above, what X-RateLimit-Remaining said; below, requests admitted (up) and not admitted (down). Dashed lines are window edges (X-RateLimit-Reset).</p>
<div class="legend">
  ${swatches(LEGEND)}${lineKeys([['edge', 'window edge']])}
  <span class="zoom js" role="group" aria-label="Zoom of the picture">
    ${ZOOMS.map((zoom) => html`<button type="button" data-zoom="${zoom}" aria-pressed="${zoom === 1}">${zoom}×</button>`)}
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
};

/** Data with which the script says what happened at a place. `<` is escaped, so that it cannot end the element. */
function rateData(all: readonly KeySeries[]): string {
  const data = all.map((series) => ({
    from: series.from,
    until: series.until,
    answered: answeredWord(series),
    columns: series.columns.map(({ index, admitted, refused, banned, unanswered, remaining = -1 }) => [
      ...[index, admitted, refused, banned, unanswered, remaining],
    ]),
  }));
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}

const keyName = (key: string | null) => (key === null ? 'no valid key' : shownLine(key, 40));

/** Requests without a valid key are answered with 401, not admitted. */
const answeredWord = ({ key }: KeySeries) => (key === null ? 'answered' : 'admitted');

/**
 * Geometry of a panel in pixels. Shapes are drawn on a stretched canvas, so that one drawing serves every width. Text is
 * outside of it, at percentages of the width, and keeps its size.
 */
interface Plot {
  /** The full quota. */
  readonly top: number;
  /** Height from nothing left to the full quota; 0 if there is no Remaining to draw. */
  readonly height: number;
  /** The line from which bars go up (admitted) and down (not admitted). */
  readonly base: number;
  readonly bottom: number;
}

const WITH_REMAINING: Plot = { top: 18, height: 96, base: 164, bottom: 190 };
const BARS_ALONE: Plot = { top: 0, height: 0, base: 44, bottom: 70 };
/** Room for bars, and the least height of one: a refusal must be visible beside a thousand admitted requests. */
const BARS = { up: 34, leastUp: 3, down: 22, leastDown: 8 };

/** If no answer told a limit, there is no line of Remaining. */
const plotOf = ({ steps }: KeySeries): Plot => (steps.length > 0 ? WITH_REMAINING : BARS_ALONE);

/** The place of a moment between the key's first request and its last, from 0 to 1. */
const place = ({ from, until }: KeySeries, at: number) => linear(from, until)(at);

const x = (series: KeySeries, at: number) => percent(place(series, at));

const stretched = (bottom: number, drawing: SafeHtml) =>
  html`<svg x="0" y="0" width="100%" height="${bottom}" viewBox="0 0 ${COLUMNS} ${bottom}" preserveAspectRatio="none">${drawing}</svg>`;

/** One key's requests, Remaining, window edges and bans. */
export function panel(series: KeySeries, index: number): SafeHtml {
  const { top, height, base, bottom } = plotOf(series);
  const facts = factsOf(series);
  const beyond = overText(series);
  const name = keyName(series.key);
  const level = (y: number, kind: string) =>
    html`<line x1="0" x2="100%" y1="${y}" y2="${y}" class="${kind}" />`;
  const limits = series.limits.slice(0, 3).map((limit) => limit.toLocaleString('en'));
  const quota = html`${limits.length === 0 ? '' : level(top, 'l-grid')}${level(top + height, 'l-base')}${windowEdges(series)}${remaining(series)}`;
  const labels = html`${series.windows.slice(0, MOST_LABELS).map((window, at) => windowLabel(series, window, series.windows[at + 1]))}<text x="2" y="${top - 5}" class="t-scale">${limits.join(' or ')}</text><text x="2" y="${top + height - 4}" class="t-scale">0</text>`;
  return html`
<figure class="panel" id="k-${index}">
  <figcaption><b>${name}</b> ${series.plan === undefined ? '' : shownLine(series.plan, 20)} <span class="quiet">${facts}, ${tallestBar(series)}</span>${beyond === '' ? '' : html`, <b class="over">${beyond}</b>`}</figcaption>
  <svg class="plot" width="100%" height="${bottom + 22}" role="img" aria-label="${name}: ${facts}${beyond === '' ? '' : `, ${beyond}`}">
    ${series.bans.map((ban) => banBand(series, ban))}
    ${height === 0 ? '' : quota}${level(base, 'l-base')}${bars(series)}
    ${height === 0 ? '' : labels}
    ${series.bans.map((ban) => banLabel(series, ban))}
    ${tickTexts({ scale: (at) => place(series, at), ticks: timeTicks(series.until, series.from) }, bottom + 18)}
  </svg>
  <div class="crosshair" hidden></div>
  <div class="look js"><input type="range" min="0" max="${COLUMNS - 1}" value="0" aria-label="Look along ${name}" aria-valuetext="Start" /><output class="quiet"></output></div>
</figure>`;
}

const isBand = ({ steps }: KeySeries) => steps.length > MOST_LINES;

function factsOf(series: KeySeries): string {
  const { admitted, refused, banned, unanswered } = series.total;
  const some = (number: number, words: string) =>
    number > 0 ? [`${number.toLocaleString('en')} ${words}`] : [];
  return [
    count(admitted + refused + banned + unanswered, 'request'),
    ...some(refused, 'refused'),
    ...some(banned, 'while banned'),
    ...some(unanswered, 'unanswered'),
    ...some(series.onlyCounted, 'more of its day, only counted'),
    ...(isBand(series) && !series.movingReset
      ? [`${count(series.windows.length, 'window')}, Remaining from its lowest to its highest`]
      : []),
    ...(series.movingReset ? ['Reset moves with every request, so there are no window edges'] : []),
  ].join(', ');
}

/** The class that shows something only if this many seconds of the picture are at least `pixels` wide. */
function needs(series: KeySeries, seconds: number, pixels: number): string {
  const width = pixels / Math.max(seconds / (series.until - series.from), 1e-9);
  const step = WIDTHS.find((candidate) => width <= candidate);
  return step === undefined ? 'never' : `n${step}`;
}

/** What is drawn downwards, in this order. */
const DOWN = ['refused', 'banned', 'unanswered'] as const satisfies readonly Fate[];

/** How many requests of a column are drawn downwards, of all these kinds or the first few. */
const below = (column: Column, kinds: number = DOWN.length) =>
  DOWN.slice(0, kinds).reduce((sum, kind) => sum + column[kind], 0);

/** Requests as bars: admitted ones upwards, the others downwards, all to one scale. */
function bars(series: KeySeries): SafeHtml {
  const { base, bottom } = plotOf(series);
  const { columns } = series;
  const tallest = Math.max(...columns.map(({ admitted }) => admitted));
  const deepest = Math.max(...columns.map((column) => below(column)));
  const unit = Math.max(tallest / BARS.up, deepest / BARS.down, 1 / BARS.up);
  const size = (requests: number, least: number) => (requests === 0 ? 0 : Math.max(least, requests / unit));
  const down = (requests: number) => base + size(requests, BARS.leastDown);
  const part = (name: string, edges: (column: Column) => readonly [from: number, to: number]) =>
    boxes(
      name,
      columns.map((column) => {
        const [from, to] = edges(column);
        return { left: column.index, right: column.index + 1, from, to };
      }),
    );
  const drawn = [
    part('b-admitted', ({ admitted }) => [base, base - size(admitted, BARS.leastUp)]),
    ...DOWN.map((kind, place) =>
      part(`b-${kind}`, (column) => [down(below(column, place)), down(below(column, place + 1))]),
    ),
  ];
  return stretched(bottom, html`${drawn}`);
}

function tallestBar({ columns, from, until }: KeySeries): string {
  const most = columns.reduce((all, column) => Math.max(all, column.admitted, below(column)), 1);
  const seconds = (until - from) / COLUMNS;
  const time = seconds < 0.1 ? `${Math.ceil(seconds * 1000)} ms` : duration(seconds);
  return `at most ${most.toLocaleString('en')} in ${time}`;
}

/** Remaining as a part of the limit: a step line with the area below it, or a band. */
function remaining(series: KeySeries): SafeHtml {
  const { top, height, bottom } = plotOf(series);
  const px = (at: number) => Number((place(series, at) * COLUMNS).toFixed(1));
  const py = (part: number) => Number((top + height * (1 - linear(0, 1)(part))).toFixed(1));
  if (isBand(series)) return stretched(bottom, band(series, py));
  const lines = series.steps.map((step) => {
    const places = step.map(([at, part]) => ({ at: px(at), y: py(part) }));
    const [first = { at: 0, y: 0 }, last = first] = [places[0], places.at(-1)];
    // Points in the same tenth of a column look like one.
    const moves = places
      .map(({ at, y }) => `H${at}V${y}`)
      .filter((move, index, all) => move !== all[index - 1]);
    return { d: `M${first.at} ${first.y}${moves.join('')}`, from: first.at, to: last.at };
  });
  const ground = top + height;
  return stretched(
    bottom,
    html`${lines.map(({ d, from, to }) => html`<path class="area b-remaining" d="${d}L${to} ${ground}L${from} ${ground}z" />`)}${lines.map(({ d }) => html`<path class="line b-remaining" d="${d}" />`)}`,
  );
}

function band(series: KeySeries, py: (part: number) => number): SafeHtml {
  const extremes = new Map<number, readonly [least: number, most: number]>();
  for (const [at, part] of series.steps.flat()) {
    const column = Math.min(COLUMNS - 1, Math.floor(place(series, at) * COLUMNS));
    const [least, most] = extremes.get(column) ?? [part, part];
    extremes.set(column, [Math.min(least, part), Math.max(most, part)]);
  }
  const columns = [...extremes].sort(([a], [b]) => a - b);
  const lowest = columns.map(([column, [least]]) => `${column + 0.5} ${py(least)}`);
  const highest = columns.map(([column, [, most]]) => `${column + 0.5} ${py(most)}`);
  return html`<path class="area b-remaining" d="M${[...highest, ...lowest.toReversed()].join('L')}z" /><path class="line b-remaining" d="M${lowest.join('L')}" />`;
}

function windowEdges(series: KeySeries): SafeHtml {
  const resets = series.windows.map(({ reset }) => reset).sort((a, b) => a - b);
  const apart = resets
    .slice(1)
    .map((reset, index) => reset - (resets[index] ?? reset))
    .sort((a, b) => a - b);
  // The median distance: a single window that was named twice must not hide all others.
  const usual = apart[Math.floor(apart.length / 2)] ?? series.until - series.from;
  const { bottom } = plotOf(series);
  const d = resets
    .filter((reset) => reset >= series.from && reset <= series.until)
    .map((reset) => `M${(place(series, reset) * COLUMNS).toFixed(1)} 0V${bottom}`);
  return html`<g class="${needs(series, usual, EDGES_APART)}">${stretched(bottom, html`<path class="line edge" d="${d.join('')}" />`)}</g>`;
}

function banBand(series: KeySeries, ban: Ban): SafeHtml {
  const width = Math.max(0.15, (place(series, ban.until) - place(series, ban.from)) * 100).toFixed(3);
  return html`<rect class="area b-banned" x="${x(series, ban.from)}" y="0" width="${width}%" height="${plotOf(series).bottom}" />`;
}

function banLabel(series: KeySeries, { from, until, ended }: Ban): SafeHtml {
  const text = ended ? `banned, free after ${duration(until - from)}` : 'banned to the last request';
  const room = needs(series, until - from, text.length * 7);
  return html`<text x="${x(series, (from + until) / 2)}" y="${plotOf(series).base - 12}" text-anchor="middle" class="t-ban ${room}">${text}</text>`;
}

function windowLabel(series: KeySeries, window: RateWindow, next: RateWindow | undefined): SafeHtml | string {
  const { top, height } = plotOf(series);
  const until = Math.min(window.reset, next?.from ?? series.until, series.until);
  if (until <= window.from) return '';
  const over = isOver(series, window);
  const of = over ? ` of ${window.limit?.toLocaleString('en')}` : '';
  const admitted = `${window.admitted.toLocaleString('en')}${of} ${answeredWord(series)}`;
  const refused = window.refused === 0 ? '' : `${window.refused.toLocaleString('en')} refused`;
  const room = needs(series, until - window.from, Math.max(admitted.length, refused.length) * 7 + 6);
  const at = x(series, (window.from + until) / 2);
  const middle = top + height / 2 + (refused === '' ? 4 : -4);
  return html`<text y="${middle}" text-anchor="middle" class="t-window ${room}"><tspan x="${at}" class="${over ? 'over' : ''}">${admitted}</tspan>${refused === '' ? '' : html`<tspan x="${at}" dy="16" class="t-refused">${refused}</tspan>`}</text>`;
}

/**
 * Whether more was admitted than X-RateLimit-Limit allows. It does not apply to requests without a valid key, which get a
 * 401, nor if the limit is 0 although requests are served.
 */
function isOver({ key }: KeySeries, { limit, admitted }: RateWindow): boolean {
  return key !== null && limit !== undefined && limit > 0 && admitted > limit;
}

/** Windows that admitted too many, in words: a narrow plot has no labels. */
function overText(series: KeySeries): string {
  const [worst, ...others] = series.windows
    .filter((window) => isOver(series, window))
    .sort((a, b) => b.admitted - a.admitted);
  if (worst === undefined) return '';
  const more = others.length === 0 ? '' : `, and too many in ${count(others.length, 'other')}`;
  return `${worst.admitted.toLocaleString('en')} of ${worst.limit?.toLocaleString('en')} admitted in one window${more}`;
}

function windowTable(all: readonly KeySeries[]): SafeHtml | string {
  const windows = all.flatMap((series) => series.windows.map((window) => ({ series, window })));
  if (windows.length === 0) return '';
  const rows = windows.slice(0, MOST_WINDOWS_LISTED).map(({ series, window }) => {
    const admitted = window.admitted.toLocaleString('en');
    return [
      keyName(series.key),
      duration(window.from),
      duration(window.reset),
      window.limit?.toLocaleString('en') ?? '',
      isOver(series, window) ? { wrong: admitted } : admitted,
      window.refused.toLocaleString('en'),
      window.remainingLeast?.toLocaleString('en') ?? '',
    ];
  });
  const more = windows.length - rows.length;
  return html`
<details class="fold"><summary>The windows in numbers (${windows.length})</summary>
${tableHtml({
  title: 'The windows in numbers',
  head: ['Key', 'First request', 'Reset', 'Limit', 'Admitted', 'Refused', 'Least Remaining'],
  rows,
})}${more > 0 ? html`<p class="quiet">and ${more} more in report.json</p>` : ''}
</details>`;
}
