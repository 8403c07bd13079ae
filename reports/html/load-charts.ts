import { html, type SafeHtml } from '@remix-run/html-template';
import type { CapacityResult } from '../../scenarios/runner/capacity.ts';
import type { CompareFinding } from '../../scenarios/runner/compare-blocks.ts';
import type { LoadSeries } from '../../scenarios/runner/load-result.ts';
import { histogramFrom } from '../../scenarios/runner/sample-store.ts';
import { timeTicks } from './time-axis.ts';

/** Lines and swatches repeat after so many; the dash of a line changes with every round. */
const COLOURS = 6;

/** Columns of a chart over time. */
const MOST_COLUMNS = 300;

export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`;
}

/** A value's place between two others, from 0 to 1. */
type Scale = (value: number) => number;

function linear(from: number, to: number): Scale {
  return (value) => Math.min(1, Math.max(0, (value - from) / (to - from || 1)));
}

function logarithmic(from: number, to: number): Scale {
  const scale = linear(Math.log(from), Math.log(to));
  return (value) => scale(Math.log(Math.max(value, from)));
}

/** 1, 2 and 5 times the powers of ten between two values. */
function decades(from: number, to: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power += 1) {
    for (const digit of [1, 2, 5]) {
      const value = Number((digit * 10 ** power).toPrecision(1));
      if (value >= from && value <= to) found.push(value);
    }
  }
  return found.length > 12 ? found.filter((value) => String(value).replace(/[0.]/g, '') === '1') : found;
}

const percent = (part: number) => `${Number((part * 100).toFixed(2))}%`;

interface Frame {
  readonly label: string;
  readonly height: number;
  readonly x: readonly { readonly at: number; readonly text: string; readonly needs?: number }[];
  readonly y: readonly { readonly at: number; readonly text: string }[];
}

/** Axes around drawings; the drawing is stretched over the width, the text beside it is not. */
function frame({ label, height, x, y }: Frame, drawing: SafeHtml, over: SafeHtml | string = ''): SafeHtml {
  const base = height - 22;
  const lines = y.map(({ at, text }) => ({
    text,
    top: (base * (1 - at)).toFixed(1),
    above: (base * (1 - at) - 3).toFixed(1),
  }));
  return html`<svg class="plot" width="100%" height="${height}" role="img" aria-label="${label}">
${lines.map(({ top }) => html`<line x1="0" x2="100%" y1="${top}" y2="${top}" class="l-grid" />`)}
<line x1="0" x2="100%" y1="${base}" y2="${base}" class="l-base" />
<svg x="0" y="0" width="100%" height="${base}" viewBox="0 0 1000 1000" preserveAspectRatio="none">${drawing}</svg>
${lines.map(({ above, text }) => html`<text x="2" y="${above}" class="t-scale">${text}</text>`)}
${over}
${x.map(({ at, text, needs }) => {
  const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle';
  return html`<text class="${needs === undefined ? 't-axis' : `t-axis n${needs}`}" x="${percent(at)}" y="${height - 6}" text-anchor="${anchor}">${text}</text>`;
})}
</svg>`;
}

function path(points: readonly (readonly [x: number, y: number])[]): string {
  return points
    .map(
      ([x, y], index) => `${index === 0 ? 'M' : 'L'}${(x * 1000).toFixed(1)} ${((1 - y) * 1000).toFixed(1)}`,
    )
    .join('');
}

export function seriesName({ stream, operation, plan }: LoadSeries): string {
  return `${stream}, ${operation}, ${plan}`;
}

function lineClass(index: number): string {
  return `line c${index % COLOURS} d${Math.floor(index / COLOURS) % 3}`;
}

function legend(names: readonly string[]): SafeHtml {
  return html`<div class="legend">${names.map(
    (name, index) =>
      html`<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="${lineClass(index)}" x1="0" x2="26" y1="5" y2="5" /></svg> ${name}</span>`,
  )}</div>`;
}

/** Latency by percentile, a line per operation and plan; the axis gives each further nine the same room. */
export function latencyChart(all: readonly LoadSeries[]): SafeHtml {
  const series = all.filter(({ requests }) => requests > 0);
  const most = Math.min(5, Math.max(2, Math.log10(Math.max(10, ...series.map(({ requests }) => requests)))));
  const curves = series.flatMap((one) => {
    if (one.latency === null) return [];
    const histogram = histogramFrom(one.latency.histogram);
    const reach = Math.min(most, Math.log10(Math.max(10, one.requests)));
    return [
      {
        name: seriesName(one),
        points: Array.from({ length: 101 }, (_, index) => {
          const nines = (reach * index) / 100;
          return [nines / most, histogram.getValueAtPercentile(100 * (1 - 10 ** -nines)) / 1000] as const;
        }),
      },
    ];
  });
  if (curves.length === 0) return html`<p class="quiet">No request was answered.</p>`;
  const values = curves.flatMap(({ points }) => points.map(([, value]) => value));
  const [least, top] = [Math.max(0.01, Math.min(...values)) / 1.2, Math.max(0.02, ...values) * 1.2];
  const y = logarithmic(least, top);
  const percentiles = [
    [0, 'fastest'],
    [50, '50 %'],
    [90, '90 %'],
    [99, '99 %'],
    [99.9, '99.9 %'],
    [99.99, '99.99 %'],
    [99.999, '99.999 %'],
  ] as const;
  const x = percentiles
    .map(([value, text]) => ({
      at: -Math.log10(1 - value / 100) / most,
      text,
      needs: value === 0 ? 600 : 300,
    }))
    .filter(({ at }) => at <= 1.001);
  return html`${legend(curves.map(({ name }) => name))}<div class="chart">${frame(
    {
      label: `Latency by percentile: ${curves.map(({ name }) => name).join('; ')}`,
      height: 300,
      x,
      y: decades(least, top).map((value) => ({ at: y(value), text: milliseconds(value) })),
    },
    html`${curves.map(({ points }, index) => html`<path class="${lineClass(index)}" d="${path(points.map(([at, value]) => [at, y(value)]))}" />`)}`,
  )}</div>`;
}

interface Moment {
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** All series in one, by time block, blocks put together until the picture can hold them. */
function moments(series: readonly LoadSeries[]): {
  readonly list: readonly Moment[];
  readonly seconds: number;
} {
  const blocks = series.flatMap((one) => one.blocks);
  const blockSeconds = Math.max(0.001, ...series.map((one) => one.blockSeconds));
  const start = blocks.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const end = blocks.reduce((most, { at }) => Math.max(most, at), start);
  const count = Math.floor((end - start) / 1000 / blockSeconds) + 1;
  const seconds = blockSeconds * Math.max(1, Math.ceil(count / MOST_COLUMNS));
  const byColumn = new Map<number, Moment>();
  for (const block of blocks) {
    const at = Math.floor((block.at - start) / 1000 / seconds) * seconds;
    const before = byColumn.get(at) ?? { at, requests: 0, errors: 0, refused: 0, p50: 0, p99: 0 };
    const requests = before.requests + block.requests;
    byColumn.set(at, {
      at,
      requests,
      errors: before.errors + block.errors,
      refused: before.refused + block.refused,
      p50: (before.p50 * before.requests + block.p50 * block.requests) / Math.max(1, requests),
      // Percentiles of parts do not add up; the largest is on the safe side.
      p99: Math.max(before.p99, block.p99),
    });
  }
  return { list: [...byColumn.values()].sort((a, b) => a.at - b.at), seconds };
}

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const { list, seconds } = moments(series);
  if (list.length === 0) return html`<p class="quiet">There are no time blocks.</p>`;
  const length = (list.at(-1)?.at ?? 0) + seconds;
  const x = linear(0, length);
  const slowest = Math.max(...list.map(({ p99 }) => p99), 0.01) * 1.1;
  const busiest = (Math.max(...list.map(({ requests }) => requests), 1) / seconds) * 1.1;
  const [latency, rate] = [linear(0, slowest), linear(0, busiest)];
  const centre = ({ at }: Moment) => x(at + seconds / 2);
  const bars = (name: string, from: (moment: Moment) => number, to: (moment: Moment) => number) => {
    const d = list
      .filter((moment) => to(moment) > from(moment))
      .map((moment) => {
        const [left, right] = [x(moment.at) * 1000, x(moment.at + seconds) * 1000];
        const [low, high] = [
          (1 - rate(from(moment) / seconds)) * 1000,
          (1 - rate(to(moment) / seconds)) * 1000,
        ];
        return `M${left.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}H${(right - (right - left) * 0.12).toFixed(1)}V${low.toFixed(1)}z`;
      })
      .join('');
    return d === '' ? '' : html`<path class="${name}" d="${d}" />`;
  };
  const ticks = timeTicks(length).map(({ at, label, needs }) => ({ at: x(at), text: label, needs }));
  const scale = (most: number, text: (value: number) => string) =>
    [0.5, 1].map((part) => ({ at: part / 1.1, text: text((most / 1.1) * part) }));
  return html`<div class="legend">
<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line c0 d0" x1="0" x2="26" y1="5" y2="5" /></svg> p50</span>
<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line c1 d0" x1="0" x2="26" y1="5" y2="5" /></svg> p99</span>
<span><i class="swatch s-admitted"></i>requests/s</span><span><i class="swatch s-limited"></i>refused as expected</span><span><i class="swatch s-refused"></i>errors</span></div>
<div class="chart">${frame(
    { label: 'p50 and p99 over time', height: 190, x: [], y: scale(slowest, milliseconds) },
    html`<path class="line c1 d0" d="${path(list.map((moment) => [centre(moment), latency(moment.p99)]))}" /><path class="line c0 d0" d="${path(list.map((moment) => [centre(moment), latency(moment.p50)]))}" />`,
  )}
${frame(
  {
    label: 'Requests, refusals and errors per second over time',
    height: 150,
    x: ticks,
    y: scale(busiest, (value) => `${Number(value.toPrecision(3))}/s`),
  },
  html`${bars(
    'b-refused',
    () => 0,
    ({ errors }) => errors,
  )}${bars(
    'b-limited',
    ({ errors }) => errors,
    ({ errors, refused }) => errors + refused,
  )}${bars(
    'b-admitted',
    ({ errors, refused }) => errors + refused,
    ({ requests }) => requests,
  )}`,
)}</div>`;
}

/** Rate against latency for every step of a search, the capacity and its interval as a band. */
export function capacityChart({ steps, capacity, interval }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const rates = [...steps.map(({ rate }) => rate), ...(interval ?? [])];
  const latencies = steps.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const [low, high] = [Math.min(...rates) / 1.15, Math.max(...rates) * 1.15];
  const [least, most] = [Math.min(...latencies, 1e6) / 1.3, Math.max(...latencies, 0.1) * 1.3];
  const [x, y] = [logarithmic(low, high), logarithmic(least, most)];
  const height = 340;
  const cy = (value: number) => ((height - 22) * (1 - y(value))).toFixed(1);
  const band =
    interval === null
      ? ''
      : html`<rect class="band" x="${(x(interval[0]) * 1000).toFixed(1)}" y="0" width="${Math.max(1, (x(interval[1]) - x(interval[0])) * 1000).toFixed(1)}" height="1000" />`;
  const at =
    capacity === null ? '' : html`<path class="line c0 d0" d="M${(x(capacity) * 1000).toFixed(1)} 0V1000" />`;
  const dots = steps.map(
    (step) =>
      html`<g class="${step.held ? 'held' : 'gave-way'}"><line x1="${percent(x(step.rate))}" x2="${percent(x(step.rate))}" y1="${cy(step.p50)}" y2="${cy(step.p99)}" />${
        step.held
          ? html`<circle cx="${percent(x(step.rate))}" cy="${cy(step.p99)}" r="5" />`
          : html`<text x="${percent(x(step.rate))}" y="${Number(cy(step.p99)) + 5}" text-anchor="middle">✕</text>`
      }</g>`,
  );
  return html`<div class="legend"><span class="held-word">● p99 of a step that held</span><span class="gave-way-word">✕ of one that did not</span><span class="quiet">lines reach down to p50</span>${interval === null ? '' : html`<span><i class="swatch s-band"></i>95 % interval</span>`}</div>
<div class="chart">${frame(
    {
      label: 'Rate in requests per second against latency',
      height,
      x: decades(low, high).map((value) => ({ at: x(value), text: `${value.toLocaleString('en')}/s` })),
      y: decades(least, most).map((value) => ({ at: y(value), text: milliseconds(value) })),
    },
    html`${band}${at}`,
    html`${dots}`,
  )}</div>`;
}

/** Head over base with its interval, on a scale from half to double. */
export function ratioMark({ ratio, interval, alarm, better }: CompareFinding): SafeHtml | string {
  if (ratio === null || interval === null) return '';
  const x = logarithmic(0.5, 2);
  const name = alarm ? 'worse' : better ? 'better' : 'alike';
  return html`<svg class="ratio r-${name}" width="160" height="18" aria-hidden="true"><line class="l-base" x1="50%" x2="50%" y1="0" y2="18" /><line x1="${percent(x(interval[0]))}" x2="${percent(x(interval[1]))}" y1="9" y2="9" /><circle cx="${percent(x(ratio))}" cy="9" r="4" /></svg>`;
}
