/** Charts: axes, what is drawn between them, and the legend. All colours are seen on light and on dark ground. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { clock, milliseconds } from '../facts.ts';
import { line as d3Line, type Scale, scaleLinear, scaleLog, scaleUtc } from './d3.ts';

export const BLUE = '#4684d8';
export const ORANGE = '#cf6a2c';
export const GREEN = '#3a9662';
export const RED = '#d9534a';
export const GREY = '#8a8996';
const COLOURS = [BLUE, ORANGE, GREEN, '#9b70d6', '#b08418', '#2393a0'];
const DASHES = ['', '6 4', '2 3'];

/** Units of a picture; the page stretches it to its width. The numbers of the y axis are at the left. */
const WIDTH = 720;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 16, 6, 16];

/** A mark on an axis. */
export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly Tick[];
}

export const linear = (from: number, to: number, ticks: readonly Tick[] = []): Axis => ({
  scale: scaleLinear().domain([from, to]).clamp(true),
  ticks,
});

/** A logarithmic axis with round values. */
export function logarithmic(from: number, to: number, text: (value: number) => string): Axis {
  const scale = scaleLog().domain([from, to]).clamp(true);
  const label = scale.tickFormat(6);
  const values = scale.ticks().filter((value) => label(value) !== '');
  return { scale, ticks: values.map((value) => ({ value, text: text(value) })) };
}

/** An axis for latencies in milliseconds. It is logarithmic, so that a few slow seconds do not flatten the rest. */
export function latencyAxis(latencies: readonly number[]): Axis {
  const positive = latencies.filter((value) => value > 0);
  return logarithmic(Math.min(...positive, 1e6) / 1.3, Math.max(...positive, 0.1) * 1.3, milliseconds);
}

/** An axis in seconds. */
export function timeAxis(from: number, until: number): Axis {
  const dates = scaleUtc()
    .domain([from * 1000, until * 1000])
    .ticks(5);
  const values = dates.map((date) => date.getTime() / 1000).filter(Number.isInteger);
  return linear(
    from,
    until,
    values.map((value) => ({ value, text: clock(value) })),
  );
}

/** Where the values of a chart's axes are in its picture. */
export interface Canvas {
  readonly x: Scale;
  readonly y: Scale;
}

/** Axes around a drawing. On a narrow screen it scrolls. */
export function chart(
  { label, height, x, y }: { label: string; height: number; x: Axis; y: Axis },
  draw: (canvas: Canvas) => SafeHtml[],
): SafeHtml {
  const base = height - BOTTOM;
  const canvas = {
    x: x.scale.copy().range([LEFT, WIDTH - RIGHT]),
    y: y.scale.copy().range([base, TOP]),
  };
  const rows = y.ticks.map(({ value, text }) => {
    const at = canvas.y(value).toFixed(1);
    return html`<line x1="${LEFT}" x2="${WIDTH}" y1="${at}" y2="${at}" stroke="${GREY}" stroke-opacity="0.3" /><text x="${LEFT - 5}" y="${at}" dy="3" text-anchor="end">${text}</text>`;
  });
  const columns = x.ticks.map(
    ({ value, text }) =>
      html`<text x="${canvas.x(value).toFixed(1)}" y="${height - 3}" text-anchor="middle">${text}</text>`,
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${rows}<line x1="${LEFT}" x2="${WIDTH}" y1="${base}" y2="${base}" stroke="${GREY}" />${columns}${draw(canvas)}</svg></div>`;
}

/** How a line is drawn. */
export interface Stroke {
  readonly colour: string;
  readonly dash?: string;
}

/** The stroke of the line with this number. */
export const strokeOf = (index: number): Stroke => ({
  colour: COLOURS[index % COLOURS.length] ?? GREY,
  dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] ?? '',
});

/** A path in units of the picture. */
export const pathHtml = ({ colour, dash = '' }: Stroke, path: string): SafeHtml =>
  html`<path fill="none" stroke="${colour}" stroke-width="1.4" stroke-dasharray="${dash}" d="${path}" />`;

/** A line through points. */
export function line(
  stroke: Stroke,
  { x, y }: Canvas,
  points: readonly (readonly [x: number, y: number])[],
): SafeHtml {
  const path = d3Line<readonly [number, number]>(
    ([across]) => x(across),
    ([, up]) => y(up),
  );
  return pathHtml(stroke, path.digits(1)(points) ?? '');
}

/** Edges of a box, as values of the axes. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly from: number;
  readonly to: number;
}

/** Boxes as one path, which takes a third of the bytes of single elements. */
export function boxes(colour: string, { x, y }: Canvas, list: readonly Box[]): SafeHtml {
  const d = list
    .filter(({ from, to }) => from !== to)
    .map(({ left, right, from, to }) => {
      const [x1, x2] = [x(left).toFixed(1), x(right).toFixed(1)];
      return `M${x1} ${y(from).toFixed(1)}V${y(to).toFixed(1)}H${x2}V${y(from).toFixed(1)}z`;
    });
  return html`<path fill="${colour}" d="${d.join('')}" />`;
}

/** What colours and lines stand for. */
export const legend = (keys: readonly (readonly [words: string, is: string | Stroke])[]): SafeHtml =>
  html`<p class="legend">${keys.map(([words, is]) => html`<span><svg width="22" height="10" aria-hidden="true">${typeof is === 'string' ? html`<rect width="22" height="10" fill="${is}" />` : pathHtml(is, 'M0 5H22')}</svg> ${words}</span> `)}</p>`;
