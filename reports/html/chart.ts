/** Charts: axes, marks between them, and their legend. All colours are seen on light and on dark ground. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { clock, milliseconds } from '../facts.ts';
import { line as d3Line, type Scale, scaleLinear, scaleLog, scaleUtc } from './d3.ts';

export const BLUE = '#4684d8';
export const LIGHT_BLUE = `${BLUE}66`;
export const ORANGE = '#cf6a2c';
export const GREEN = '#3a9662';
export const RED = '#d9534a';
export const GREY = '#8a8996';
const COLOURS = [BLUE, ORANGE, GREEN, '#9b70d6', '#b08418', '#2393a0'];
/** The dashes of a line that bounds something. */
export const DASHED = '6 4';
const DASHES = ['', DASHED, '2 3'];

/** Units of a picture; the page stretches it to its width. The numbers of the y axis are at the left. */
const WIDTH = 720;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 16, 6, 16];

export interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly { readonly value: number; readonly text: string }[];
}

export const linear = (from: number, to: number, ticks: Axis['ticks'] = []): Axis => ({
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

/** What is drawn between axes, in words, and how it looks in the legend. */
export interface Mark {
  readonly words: string;
  readonly key: SafeHtml;
  readonly draw: (x: Scale, y: Scale) => SafeHtml;
}

type Points = readonly (readonly [x: number, y: number])[];

/** A line through points. */
export function line(words: string, colour: string, points: Points, dash = ''): Mark {
  const path = (d: string | null) =>
    html`<path fill="none" stroke="${colour}" stroke-width="1.4" stroke-dasharray="${dash}" d="${d ?? ''}" />`;
  return {
    words,
    key: path('M0 5H22'),
    draw: (x, y) =>
      path(
        d3Line<Points[number]>(
          ([across]) => x(across),
          ([, up]) => y(up),
        ).digits(1)(points),
      ),
  };
}

/** The colour and dashes of the line with this number. */
export const strokeOf = (index: number): readonly [colour: string, dash: string] => [
  COLOURS[index % COLOURS.length] ?? GREY,
  DASHES[Math.floor(index / COLOURS.length) % DASHES.length] ?? '',
];

/** A bar: the part of the x axis that it takes, and its end; it begins at 0, or where the axis does. */
export type Bar = readonly [left: number, right: number, end: number];

/** Bars as one path, which takes a third of the bytes of single elements. */
export function bars(words: string, colour: string, list: readonly Bar[]): Mark {
  return {
    words,
    key: html`<rect width="22" height="10" fill="${colour}" />`,
    draw: (x, y) => {
      const base = y(Math.max(0, Math.min(...y.domain()))).toFixed(1);
      const drawn = list.map(([left, right, end]) =>
        end === 0
          ? ''
          : `M${x(left).toFixed(1)} ${base}V${y(end).toFixed(1)}H${x(right).toFixed(1)}V${base}z`,
      );
      return html`<path fill="${colour}" d="${drawn.join('')}" />`;
    },
  };
}

/** A sign at each point. */
export const signs = (words: string, colour: string, sign: string, points: Points): Mark => ({
  words,
  key: html`<text x="11" y="9" text-anchor="middle" fill="${colour}">${sign}</text>`,
  draw: (x, y) =>
    html`${points.map(([across, up]) => html`<text x="${x(across).toFixed(1)}" y="${y(up).toFixed(1)}" dy="3" text-anchor="middle" fill="${colour}">${sign}</text>`)}`,
});

/** Marks between axes. On a narrow screen it scrolls. */
export function chart(
  { label, height, x, y }: { label: string; height: number; x: Axis; y: Axis },
  marks: readonly Mark[],
): SafeHtml {
  const base = height - BOTTOM;
  const across = x.scale.copy().range([LEFT, WIDTH - RIGHT]);
  const up = y.scale.copy().range([base, TOP]);
  const rows = y.ticks.map(({ value, text }) => {
    const at = up(value).toFixed(1);
    return html`<line x1="${LEFT}" x2="${WIDTH}" y1="${at}" y2="${at}" stroke="${GREY}" stroke-opacity="0.3" /><text x="${LEFT - 5}" y="${at}" dy="3" text-anchor="end">${text}</text>`;
  });
  const columns = x.ticks.map(
    ({ value, text }) =>
      html`<text x="${across(value).toFixed(1)}" y="${height - 3}" text-anchor="middle">${text}</text>`,
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${rows}<line x1="${LEFT}" x2="${WIDTH}" y1="${base}" y2="${base}" stroke="${GREY}" />${columns}${marks.map(({ draw }) => draw(across, up))}</svg></div>`;
}

/** What the marks stand for. */
export const legend = (marks: readonly Mark[]): SafeHtml =>
  html`<p class="legend">${marks.map(({ words, key }) => html`<span><svg width="22" height="10" aria-hidden="true">${key}</svg> ${words}</span> `)}</p>`;
