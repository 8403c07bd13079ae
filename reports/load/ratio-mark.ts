import { html, type SafeHtml } from '@remix-run/html-template';
import type { CompareFinding } from '../../scenarios/runner/compare/compare-blocks.ts';
import { logarithmic, percent } from '../html/chart-frame.ts';

/** Head over base with its interval, on a scale from half to double. Beyond the scale there is an arrow. */
export function ratioMark({ ratio, interval, alarm, better }: CompareFinding): SafeHtml | string {
  if (ratio === null || interval === null) return '';
  const scale = logarithmic(0.5, 2);
  // With a margin on both sides, so that no mark is cut off.
  const x = (value: number) => percent(0.04 + 0.92 * scale(value));
  const kind = alarm ? 'k-fail' : better ? 'k-pass' : '';
  const mark =
    ratio > 2
      ? html`<text class="mark" x="96%" y="14" text-anchor="middle">▸</text>`
      : ratio < 0.5
        ? html`<text class="mark" x="4%" y="14" text-anchor="middle">◂</text>`
        : html`<circle class="mark" cx="${x(ratio)}" cy="9" r="4" />`;
  return html`<svg class="ratio ${kind}" width="160" height="18" aria-hidden="true"><line class="l-base" x1="50%" x2="50%" y1="0" y2="18" /><line class="mark" x1="${x(interval[0])}" x2="${x(interval[1])}" y1="9" y2="9" />${mark}</svg>`;
}
