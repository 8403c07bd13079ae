import { html, type SafeHtml } from '@remix-run/html-template';
import { clock, milliseconds } from '../facts.ts';
import { area, curveStepAfter, d3Line, scaleLinear, scaleLog, scaleUtc } from './d3.ts';

/** The colours of lines repeat after this many. Then the lines have another dash. */
const COLOURS = 6;

/** A value's place between two others, from 0 to 1. */
export type Scale = (value: number) => number;

export const linear = (from: number, to: number): Scale => scaleLinear([from, to], [0, 1]).clamp(true);

export const logarithmic = (from: number, to: number): Scale => {
  const scale = scaleLog([from, to], [0, 1]).clamp(true);
  return (value) => scale(Math.max(value, from));
};

/** A mark on an axis. */
export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly Tick[];
}

/** An axis for latencies in milliseconds. It is logarithmic, so that a few slow seconds do not flatten the rest. */
export function latencyAxis(latencies: readonly number[]): Axis {
  const positive = latencies.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive, 1e6) / 1.3, Math.max(...positive, 0.1) * 1.3];
  const ticks = decades(least, most).map((value) => ({ value, text: milliseconds(value) }));
  return { scale: logarithmic(least, most), ticks };
}

/** Round values between two others, for a logarithmic axis. */
export const decades = (from: number, to: number): number[] => {
  const scale = scaleLog().domain([from, to]);
  const label = scale.tickFormat(6);
  return scale.ticks().filter((value) => label(value) !== '');
};

/** A few times on an axis in seconds. */
export const timeTicks = (until: number, from = 0): Tick[] =>
  scaleUtc()
    .domain([from * 1000, until * 1000])
    .ticks(5)
    .map((date) => date.getTime() / 1000)
    .filter(Number.isInteger)
    .map((value) => ({ value, text: clock(value) }));

/** A place from 0 to 1 as SVG writes it. */
export const percent = (part: number) => `${Number((part * 100).toFixed(3))}%`;

/** Label, height and axes of a chart. */
export interface Frame {
  readonly label: string;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
}

/** A value's distance in pixels from the top of a chart. The last 22 pixels are for the x axis. */
export const fromTop = ({ height, y }: Frame, value: number) => (height - 22) * (1 - y.scale(value));

/**
 * Axes around a drawing of 1000 by 1000, which is stretched to the size of the chart. The text is not stretched. The text
 * of the y axis has a column of its own.
 */
export function frame(around: Frame, drawing: SafeHtml, over: SafeHtml | string = ''): SafeHtml {
  const { label, height, x, y } = around;
  const base = height - 22;
  const lines = y.ticks.map(({ value, text }) => ({ text, top: fromTop(around, value) }));
  return html`<div class="charted"><svg class="y-axis" height="${height}" aria-hidden="true">${lines.map(({ top, text }) => html`<text x="100%" y="${(top + 4).toFixed(1)}" text-anchor="end">${text}</text>`)}</svg>
<svg class="plot" width="100%" height="${height}" role="img" aria-label="${label}">
${lines.map(({ top }) => html`<line x1="0" x2="100%" y1="${top.toFixed(1)}" y2="${top.toFixed(1)}" class="l-grid" />`)}
<line x1="0" x2="100%" y1="${base}" y2="${base}" class="l-base" />
<svg x="0" y="0" width="100%" height="${base}" viewBox="0 0 1000 1000" preserveAspectRatio="none">${drawing}</svg>
${over}
${tickTexts(x, height - 6)}
</svg></div>`;
}

/** The text below an x axis. */
function tickTexts({ scale, ticks }: Axis, top: number): SafeHtml[] {
  return ticks.map(({ value, text }) => {
    const at = scale(value);
    const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle';
    return html`<text x="${percent(at)}" y="${top}" text-anchor="${anchor}">${text}</text>`;
  });
}

type Points = readonly (readonly [x: number, y: number])[];

/** A line through points. */
export function line(name: string, { x, y }: Frame, points: Points): SafeHtml {
  const path = d3Line(
    ([across]) => x.scale(across) * 1000,
    ([, up]) => (1 - y.scale(up)) * 1000,
  );
  return html`<path class="line ${name}" d="${path.digits(1)(points) ?? ''}" />`;
}

/** The area below steps: each height, from 0 to 1, holds to the next point. */
export function stepArea(name: string, scale: Scale, points: Points): SafeHtml {
  const path = area(
    ([at]) => scale(at) * 1000,
    1000,
    ([, part]) => (1 - part) * 1000,
  ).curve(curveStepAfter);
  return html`<path class="area ${name}" d="${path.digits(1)(points) ?? ''}" />`;
}

/** Edges of a box in the units of its canvas. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly from: number;
  readonly to: number;
}

/** Boxes as one path, which takes a third of the bytes of single elements. */
export function boxes(name: string, list: readonly Box[]): SafeHtml | string {
  const d = list
    .filter(({ from, to }) => from !== to)
    .map(({ left, right, from, to }) => {
      const [x1, x2, y1, y2] = [left, right, from, to].map((edge) => Number(edge.toFixed(1)));
      return `M${x1} ${y1}V${y2}H${x2}V${y1}z`;
    });
  return d.length === 0 ? '' : html`<path class="${name}" d="${d.join('')}" />`;
}

/** Colour and dash of the line with this number. */
export function lineClass(index: number): string {
  return `c${index % COLOURS} d${Math.floor(index / COLOURS) % 3}`;
}

/** The legend of lines: class and name. */
export function lineKeys(lines: readonly (readonly [name: string, words: string])[]): SafeHtml[] {
  return lines.map(
    ([name, words]) =>
      html`<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line ${name}" x1="0" x2="26" y1="5" y2="5" /></svg> ${words}</span>`,
  );
}

/** The legend of colours: the end of a class, and its name. */
export function swatches(colours: Readonly<Record<string, string>>): SafeHtml[] {
  return Object.entries(colours).map(
    ([name, words]) => html`<span><i class="swatch b-${name}"></i>${words}</span>`,
  );
}
