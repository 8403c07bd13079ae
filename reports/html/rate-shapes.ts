import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { COLUMNS, type Column, type KeySeries } from './rate-series.ts';

/**
 * Geometry of a panel in pixels. Shapes are drawn on a stretched canvas, so that one drawing serves every width; text
 * stands outside of it, placed by percentages, and keeps its size.
 */
export interface Plot {
  /** The full quota. */
  readonly top: number;
  /** From the full quota down to nothing left; 0 where there is no Remaining to draw. */
  readonly height: number;
  /** The line from which bars go up (admitted) and down (not admitted). */
  readonly base: number;
  readonly up: number;
  readonly down: number;
  readonly bottom: number;
}

const WITH_REMAINING: Plot = { top: 18, height: 96, base: 164, up: 34, down: 22, bottom: 190 };
const BARS_ALONE: Plot = { top: 0, height: 0, base: 44, up: 34, down: 22, bottom: 70 };

/** Who is never told a limit has no line of Remaining. */
export const plotOf = ({ steps }: KeySeries): Plot => (steps.length > 0 ? WITH_REMAINING : BARS_ALONE);

/** The place of a moment between the key's first request and its last, from 0 to 1. */
export function place({ from, until }: KeySeries, at: number): number {
  return Math.min(1, Math.max(0, (at - from) / (until - from)));
}

/** A drawing that is stretched over the width. */
export function stretched(plot: Plot, drawing: SafeHtml, name = ''): SafeHtml {
  return html`<svg class="${name}" x="0" y="0" width="100%" height="${plot.bottom}" viewBox="0 0 ${COLUMNS} ${plot.bottom}" preserveAspectRatio="none">${drawing}</svg>`;
}

/** Bars for two widths of the picture, of which its page shows one: columns put together, and the class. */
const LAYERS = [
  { together: 4, name: 'bars-few' },
  { together: 1, name: 'bars-many' },
] as const;

/** A single refusal must be seen beside a thousand admitted requests. */
const LEAST_HEIGHT = { up: 3, down: 8 };

type Counts = Omit<Column, 'remaining'>;

function coarser(columns: readonly Column[], together: number): Counts[] {
  const coarse = new Map<number, Counts>();
  for (const { index: fine, admitted, refused, banned, unanswered } of columns) {
    const index = Math.floor(fine / together) * together;
    const before = coarse.get(index) ?? { index, admitted: 0, refused: 0, banned: 0, unanswered: 0 };
    coarse.set(index, {
      index,
      admitted: before.admitted + admitted,
      refused: before.refused + refused,
      banned: before.banned + banned,
      unanswered: before.unanswered + unanswered,
    });
  }
  return [...coarse.values()];
}

/** Requests as bars: up what was admitted, down what was refused, banned or unanswered, all to one scale. */
export function bars(series: KeySeries): SafeHtml {
  const plot = plotOf(series);
  return html`${LAYERS.map(({ together, name }) =>
    stretched(plot, paths(coarser(series.columns, together), together, plot), name),
  )}`;
}

/** How many requests the tallest bar stands for, for each width's bars. */
export function tallestBar(series: KeySeries): SafeHtml {
  return html`${LAYERS.map(({ together, name }) => {
    const columns = coarser(series.columns, together);
    const most = columns.reduce((all, column) => Math.max(all, column.admitted, below(column)), 1);
    return html`<span class="${name}">at most ${most.toLocaleString('en')} in ${shortTime(((series.until - series.from) / COLUMNS) * together)}</span>`;
  })}`;
}

const shortTime = (seconds: number) =>
  seconds < 0.1 ? `${Math.ceil(seconds * 1000)} ms` : duration(seconds);

const below = ({ refused, banned, unanswered }: Counts) => refused + banned + unanswered;

function paths(columns: readonly Counts[], together: number, plot: Plot): SafeHtml {
  const tallest = columns.reduce((most, { admitted }) => Math.max(most, admitted), 0);
  const deepest = columns.reduce((most, column) => Math.max(most, below(column)), 0);
  const unit = Math.max(tallest / plot.up, deepest / plot.down, 1 / plot.up);
  const tall = (value: number, least: number) => (value === 0 ? 0 : Math.max(least, value / unit));
  const down = (value: number) => plot.base + tall(value, LEAST_HEIGHT.down);
  const width = together === 1 ? 1 : together * 0.8;
  // One path a kind instead of a rectangle a column: a third of the bytes.
  const path = (name: string, extent: (column: Counts) => readonly [from: number, to: number]) => {
    const d = columns
      .map((column) => {
        const [from, to] = extent(column);
        return from === to ? '' : `M${column.index} ${from.toFixed(1)}h${width}V${to.toFixed(1)}h-${width}z`;
      })
      .join('');
    return d === '' ? '' : html`<path class="${name}" d="${d}" />`;
  };
  const stacked = (name: string, before: (column: Counts) => number, own: (column: Counts) => number) =>
    path(name, (column) => {
      const from = down(before(column));
      return [from, own(column) === 0 ? from : down(before(column) + own(column))];
    });
  return html`${path('b-admitted', ({ admitted }) => [plot.base, plot.base - tall(admitted, LEAST_HEIGHT.up)])}${stacked(
    'b-refused',
    () => 0,
    ({ refused }) => refused,
  )}${stacked(
    'b-banned',
    ({ refused }) => refused,
    ({ banned }) => banned,
  )}${stacked(
    'b-unanswered',
    ({ refused, banned }) => refused + banned,
    ({ unanswered }) => unanswered,
  )}`;
}

/** With more windows than this the line of Remaining would be a solid block: a band is drawn instead. */
const MOST_LINES = 60;
/** Columns of that band. */
const BAND_COLUMNS = 400;

/** Whether Remaining is drawn as a band between its lowest and its highest. */
export function isBand({ steps }: KeySeries): boolean {
  return steps.length > MOST_LINES;
}

/** What Remaining said, as a part of the limit: a step line with the ground below it, or a band. */
export function remaining(series: KeySeries): SafeHtml | string {
  const plot = plotOf(series);
  if (plot.height === 0) return '';
  const px = (at: number) => Number((place(series, at) * COLUMNS).toFixed(1));
  const py = (value: number) =>
    Number((plot.top + plot.height * (1 - Math.min(Math.max(value, 0), 1))).toFixed(1));
  if (isBand(series)) return stretched(plot, band(series, py));
  const bottom = plot.top + plot.height;
  const lines = series.steps.filter((step) => step.length > 0).map((step) => stepPath(step, px, py));
  return stretched(
    plot,
    html`${lines.map(({ d, from, to }) => html`<path class="a-remaining" d="${d}L${to} ${bottom}L${from} ${bottom}z" />`)}${lines.map(({ d }) => html`<path class="l-remaining" d="${d}" />`)}`,
  );
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

function band(series: KeySeries, py: (value: number) => number): SafeHtml {
  const extremes = new Map<number, readonly [least: number, most: number]>();
  for (const [at, value] of series.steps.flat()) {
    const index = Math.min(BAND_COLUMNS - 1, Math.floor(place(series, at) * BAND_COLUMNS));
    const [least, most] = extremes.get(index) ?? [value, value];
    extremes.set(index, [Math.min(least, value), Math.max(most, value)]);
  }
  const columns = [...extremes].sort(([a], [b]) => a - b);
  const at = (index: number) => Number(((index + 0.5) * (COLUMNS / BAND_COLUMNS)).toFixed(1));
  const edge = (which: 0 | 1) => columns.map(([index, value]) => `${at(index)} ${py(value[which])}`);
  const lowest = edge(0);
  return html`<path class="a-band" d="M${[...edge(1), ...lowest.toReversed()].join('L')}z" /><path class="l-remaining thin" d="M${lowest.join('L')}" />`;
}

/** Window edges as one path, so that a day of them costs little. */
export function edges(series: KeySeries): SafeHtml | string {
  const plot = plotOf(series);
  const d = series.windows
    .filter(({ reset }) => reset >= series.from && reset <= series.until)
    .map(({ reset }) => `M${(place(series, reset) * COLUMNS).toFixed(1)} 0V${plot.bottom}`)
    .join('');
  return d === '' ? '' : stretched(plot, html`<path class="l-edge" d="${d}" />`);
}
