import { html, type SafeHtml } from '@remix-run/html-template';
import type { CompareFinding } from '../../scenarios/runner/compare-blocks.ts';
import { logarithmic, percent } from './chart-frame.ts';

/** Head over base with its interval, on a scale from half to double. */
export function ratioMark({ ratio, interval, alarm, better }: CompareFinding): SafeHtml | string {
  if (ratio === null || interval === null) return '';
  const x = logarithmic(0.5, 2);
  const name = alarm ? 'worse' : better ? 'better' : 'alike';
  return html`<svg class="ratio r-${name}" width="160" height="18" aria-hidden="true"><line class="l-base" x1="50%" x2="50%" y1="0" y2="18" /><line x1="${percent(x(interval[0]))}" x2="${percent(x(interval[1]))}" y1="9" y2="9" /><circle cx="${percent(x(ratio))}" cy="9" r="4" /></svg>`;
}
