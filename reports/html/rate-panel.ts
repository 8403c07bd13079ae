import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { count } from '../outcome.ts';
import { shownLine } from '../visible-text.ts';
import type { Ban, KeySeries, RateWindow } from './rate-series.ts';
import { bars, edges, isBand, type Plot, remaining, tallestBar } from './rate-shapes.ts';
import { answeredWord, isOver, keyName, overText } from './rate-windows.ts';

/**
 * Geometry of a panel in pixels. Shapes are drawn on a stretched canvas, so that one drawing serves every width; text
 * stands outside of it, placed by percentages, and keeps its size.
 */
const WITH_REMAINING: Plot = { top: 18, height: 96, base: 164, up: 34, down: 22, bottom: 190 };
const BARS_ALONE: Plot = { top: 0, height: 0, base: 44, up: 34, down: 22, bottom: 70 };

const MOST_LABELS = 200;
/** Closer than this, in pixels, window edges are a hatching. */
const EDGES_APART = 8;

/** The place of a moment along the run. */
export function x(at: number, length: number): string {
  return `${Number(((Math.min(Math.max(at, 0), length) / length) * 100).toFixed(3))}%`;
}

/** Widths, in CSS pixels, at which something more finds room; each is a rule of the page's style. */
const WIDTHS = [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400];

/** The class that shows something only where the picture is wide enough for its part to have `pixels` to itself. */
function needs(fraction: number, pixels: number): string {
  const width = pixels / Math.max(fraction, 1e-9);
  const step = WIDTHS.find((candidate) => width <= candidate);
  return step === undefined ? 'never' : `n${step}`;
}

/** One key's requests, Remaining, window edges and bans. */
export function panel(series: KeySeries, index: number, length: number): SafeHtml {
  // Strangers may be shown a limit of nothing: there is no line to draw then.
  const plot = series.steps.length > 0 ? WITH_REMAINING : BARS_ALONE;
  const facts = factsOf(series);
  const beyond = overText(series);
  const title = [`${keyName(series.key)}: ${facts}`, ...(beyond === undefined ? [] : [beyond])].join(', ');
  return html`
<figure class="panel" id="k-${index}">
  <figcaption><b>${keyName(series.key)}</b> ${series.plan === undefined ? '' : shownLine(series.plan, 20)} <span class="quiet">${facts}, ${tallestBar(series, length)}</span>${beyond === undefined ? '' : html`, <b class="over">${beyond}</b>`}</figcaption>
  <svg class="plot" width="100%" height="${plot.bottom}" role="img" aria-label="${title}">
    <defs><pattern id="hatch${index}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" class="f-banned" /></pattern></defs>
    ${series.bans.map((ban) => banBand(ban, index, plot, length))}
    ${grid(series, plot)}
    ${plot.height === 0 ? '' : windowEdges(series.windows, plot, length)}
    ${remaining(series, plot, length)}
    ${bars(series, plot)}
    ${plot.height === 0 ? '' : series.windows.slice(0, MOST_LABELS).map((window, at) => windowLabel(series, window, series.windows[at + 1], plot, length))}
    ${series.bans.map((ban) => banLabel(ban, plot, length))}
    ${plot.height === 0 ? '' : html`<text x="2" y="${plot.top - 5}" class="t-scale">${limitsText(series)}</text><text x="2" y="${plot.top + plot.height - 4}" class="t-scale">0</text>`}
  </svg>
</figure>`;
}

function factsOf(series: KeySeries): string {
  const { admitted, refused, banned, unanswered } = series.total;
  return [
    count(admitted + refused + banned + unanswered, 'request'),
    ...(refused > 0 ? [`${refused.toLocaleString('en')} refused`] : []),
    ...(banned > 0 ? [`${banned.toLocaleString('en')} while banned`] : []),
    ...(unanswered > 0 ? [`${unanswered.toLocaleString('en')} unanswered`] : []),
    ...(isBand(series) && !series.movingReset
      ? [`${count(series.windows.length, 'window')}, Remaining from its lowest to its highest`]
      : []),
    ...(series.movingReset ? ['Reset moves with every request, so there are no window edges'] : []),
  ].join(', ');
}

/** The value of the upper edge of the plot; a target that turns to the day's headers has two. */
function limitsText({ limits }: KeySeries): string {
  return limits
    .slice(0, 3)
    .map((limit) => limit.toLocaleString('en'))
    .join(' or ');
}

function grid(series: KeySeries, plot: Plot): SafeHtml {
  const across = (y: number, name: string) =>
    html`<line x1="0" x2="100%" y1="${y}" y2="${y}" class="${name}" />`;
  const top = plot.height === 0 || series.limits.length === 0 ? '' : across(plot.top, 'l-grid');
  return html`${top}${plot.height === 0 ? '' : across(plot.top + plot.height, 'l-base')}${across(plot.base, 'l-base')}`;
}

function windowEdges(windows: readonly RateWindow[], plot: Plot, length: number): SafeHtml {
  const resets = windows.map(({ reset }) => reset).sort((a, b) => a - b);
  const apart = resets
    .slice(1)
    .map((reset, index) => reset - (resets[index] ?? reset))
    .sort((a, b) => a - b);
  // The usual distance: a single window that was named twice must not hide all the others.
  const usual = apart[Math.floor(apart.length / 2)] ?? length;
  return html`<g class="${needs(usual / length, EDGES_APART)}">${edges(windows, plot, length)}</g>`;
}

function banBand(ban: Ban, index: number, plot: Plot, length: number): SafeHtml {
  const width = Math.max(0.15, ((ban.until - ban.from) / length) * 100).toFixed(3);
  return html`<rect x="${x(ban.from, length)}" y="0" width="${width}%" height="${plot.bottom}" class="f-ban-ground" /><rect x="${x(ban.from, length)}" y="0" width="${width}%" height="${plot.bottom}" fill="url(#hatch${index})" />`;
}

function banLabel(ban: Ban, plot: Plot, length: number): SafeHtml {
  const text = ban.ended
    ? `banned, free after ${duration(ban.until - ban.from)}`
    : 'banned to the end of the run';
  const fraction = (ban.until - ban.from) / length;
  return html`<text x="${x((ban.from + ban.until) / 2, length)}" y="${plot.base - 12}" text-anchor="middle" class="t-ban ${needs(fraction, text.length * 7)}">${text}</text>`;
}

function windowLabel(
  series: KeySeries,
  window: RateWindow,
  next: RateWindow | undefined,
  plot: Plot,
  length: number,
): SafeHtml | string {
  const until = Math.min(window.reset, next?.from ?? length, length);
  if (until <= window.from) return '';
  const over = isOver(series, window);
  const admitted = `${window.admitted.toLocaleString('en')}${over ? ` of ${window.limit?.toLocaleString('en')}` : ''} ${answeredWord(series)}`;
  const refused = window.refused === 0 ? '' : `${window.refused.toLocaleString('en')} refused`;
  const fraction = (until - window.from) / length;
  const at = x((window.from + until) / 2, length);
  const middle = plot.top + plot.height / 2;
  return html`<text y="${refused === '' ? middle + 4 : middle - 4}" text-anchor="middle" class="t-window ${needs(fraction, Math.max(admitted.length, refused.length) * 7 + 6)}"><tspan x="${at}"${html.raw`${over ? ' class="over"' : ''}`}>${admitted}</tspan>${refused === '' ? '' : html`<tspan x="${at}" dy="16" class="t-refused">${refused}</tspan>`}</text>`;
}
