import { html, type SafeHtml } from '@remix-run/html-template';

/** Lines and swatches repeat after so many; the dash of a line changes with every round. */
const COLOURS = 6;

/** `12 ms`, `1.8 ms`, `12.0 s`. */
export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`;
}

/** A value's place between two others, from 0 to 1. */
export type Scale = (value: number) => number;

export function linear(from: number, to: number): Scale {
  return (value) => Math.min(1, Math.max(0, (value - from) / (to - from || 1)));
}

export function logarithmic(from: number, to: number): Scale {
  const scale = linear(Math.log(from), Math.log(to));
  return (value) => scale(Math.log(Math.max(value, from)));
}

/** 1, 2 and 5 times the powers of ten between two values. */
export function decades(from: number, to: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power += 1) {
    for (const digit of [1, 2, 5]) {
      const value = Number((digit * 10 ** power).toPrecision(1));
      if (value >= from && value <= to) found.push(value);
    }
  }
  return found.length > 12 ? found.filter((value) => String(value).replace(/[0.]/g, '') === '1') : found;
}

/** A place from 0 to 1 as SVG writes it. */
export const percent = (part: number) => `${Number((part * 100).toFixed(2))}%`;

/** What a chart has around its drawing. */
export interface Frame {
  readonly label: string;
  readonly height: number;
  readonly x: readonly { readonly at: number; readonly text: string; readonly needs?: number }[];
  readonly y: readonly { readonly at: number; readonly text: string }[];
}

/** The height of a chart's lowest line, below which its x axis is written. */
export const baseOf = (height: number) => height - 22;

/**
 * Axes around drawings. The drawing, 1000 wide and high, is stretched over the width; the text around it is not, and
 * that of the y axis has a column of its own.
 */
export function frame(
  { label, height, x, y }: Frame,
  drawing: SafeHtml,
  over: SafeHtml | string = '',
): SafeHtml {
  const base = baseOf(height);
  const lines = y.map(({ at, text }) => ({ text, top: base * (1 - at) }));
  return html`<div class="charted"><svg class="y-axis" height="${height}" aria-hidden="true">${lines.map(({ top, text }) => html`<text x="100%" y="${(top + 4).toFixed(1)}" text-anchor="end" class="t-axis">${text}</text>`)}</svg>
<svg class="plot" width="100%" height="${height}" role="img" aria-label="${label}">
${lines.map(({ top }) => html`<line x1="0" x2="100%" y1="${top.toFixed(1)}" y2="${top.toFixed(1)}" class="l-grid" />`)}
<line x1="0" x2="100%" y1="${base}" y2="${base}" class="l-base" />
<svg x="0" y="0" width="100%" height="${base}" viewBox="0 0 1000 1000" preserveAspectRatio="none">${drawing}</svg>
${over}
${x.map(({ at, text, needs }) => {
  const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle';
  return html`<text class="${needs === undefined ? 't-axis' : `t-axis n${needs}`}" x="${percent(at)}" y="${height - 6}" text-anchor="${anchor}">${text}</text>`;
})}
</svg></div>`;
}

/** A line through points, each between 0 and 1. */
export function path(points: readonly (readonly [x: number, y: number])[]): string {
  return points
    .map(
      ([x, y], index) => `${index === 0 ? 'M' : 'L'}${(x * 1000).toFixed(1)} ${((1 - y) * 1000).toFixed(1)}`,
    )
    .join('');
}

/** Colour and dash of the line with this number. */
export function lineClass(index: number): string {
  return `line c${index % COLOURS} d${Math.floor(index / COLOURS) % 3}`;
}

/** Which line is which. */
export function legend(names: readonly string[]): SafeHtml {
  return html`<div class="legend">${names.map(
    (name, index) =>
      html`<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="${lineClass(index)}" x1="0" x2="26" y1="5" y2="5" /></svg> ${name}</span>`,
  )}</div>`;
}
