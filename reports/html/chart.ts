/** Charts, and what their marks stand for. All colours are seen on light and on dark ground. */
import type { PlotOptions, ScaleOptions } from '@observablehq/plot';
import { html, type SafeHtml } from '@remix-run/html-template';
import { clock } from '../facts.ts';
import { document, plot } from './plot.ts';

export const BLUE = '#4684d8';
export const LIGHT_BLUE = `${BLUE}66`;
export const ORANGE = '#cf6a2c';
export const GREEN = '#3a9662';
export const RED = '#d9534a';
export const GREY = '#8a8996';

/** No date is later or earlier, in seconds. A file that is damaged may say so. */
const LAST = 8.64e12;
/** Seconds, as a time axis takes them. */
export const dateOf = (seconds: number) => new Date(Math.min(LAST, Math.max(-LAST, seconds)) * 1000);

/** An axis in seconds. */
export const TIME_AXIS = {
  type: 'utc',
  ticks: 5,
  tickFormat: (date: Date) => (date.getMilliseconds() === 0 ? clock(date.getTime() / 1000) : ''),
} as const satisfies ScaleOptions;

/** A picture between axes; the page stretches it to its width. On a narrow screen it scrolls. */
export function chart(label: string, { x, y, ...more }: PlotOptions): SafeHtml {
  const svg: unknown = plot({
    document,
    ...{ className: 'chart', ariaLabel: label, width: 720 },
    ...{ marginLeft: 50, marginRight: 16, marginTop: 6, marginBottom: 20 },
    x: { label: null, ...x, tickSize: 0 },
    y: { label: null, grid: true, ...y, tickSize: 0 },
    ...more,
  });
  const picture = String(svg)
    .replace('<svg', '<svg role="img"')
    // The page's policy allows no style but its own, and the parts of a picture have no names.
    .replace(/<style>.*<\/style>|(?<=<g[^>]*) aria-label="[^"]*"/gs, '')
    // Two digits of a place are enough; they are half of the page.
    .replace(/(\.\d)\d{2,}(?=[^"<>]*")/g, '$1');
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">${html.raw`${picture}`}</div>`;
}

/** What a mark stands for, its colour, and its sign where it is no surface. */
type Entry = readonly [words: string, colour: string, sign?: string];

/** What the marks stand for. */
export const legend = (entries: readonly Entry[]): SafeHtml =>
  html`<p class="legend">${entries.map(([words, colour, sign = '■']) => html`<span><svg width="22" height="12" aria-hidden="true"><text x="11" y="11" text-anchor="middle" fill="${colour}">${sign}</text></svg> ${words}</span> `)}</p>`;
