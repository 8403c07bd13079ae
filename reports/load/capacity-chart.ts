import { html, type SafeHtml } from '@remix-run/html-template';
import { median } from 'simple-statistics';
import { latencyBounds } from '../../scenarios/lib/slo.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import {
  baseOf,
  decades,
  frame,
  linear,
  logarithmic,
  milliseconds,
  path,
  percent,
  type Scale,
} from '../html/chart-frame.ts';
import { shownLine } from '../visible-text.ts';

/** Steps whose rates differ by less are one point of the curve. */
const SAME_RATE = 1.04;
/** How far from the interval, in intervals, the second picture reaches. */
const AROUND = 2.5;

/** The curve of all steps, and the steps around the capacity, where the interval can be seen on a phone too. */
export function capacityCharts(result: CapacityResult): SafeHtml {
  const { steps, interval } = result;
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const key = html`<div class="legend"><span class="held-word">● p99 of a step that held</span><span class="gave-way-word">✕ of one that did not</span><span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line d1 curve" x1="0" x2="26" y1="5" y2="5" /></svg> p50</span>${interval === null ? '' : html`<span><i class="swatch s-band"></i>capacity, 95 % interval</span>`}<span><i class="swatch s-bound"></i>objective</span></div>`;
  return html`${key}${whole(result)}${around(result)}`;
}

function whole(result: CapacityResult): SafeHtml {
  const rates = [...result.steps.map(({ rate }) => rate), ...(result.interval ?? [])];
  const [low, high] = [Math.min(...rates) / 1.15, Math.max(...rates) * 1.15];
  return picture(result, {
    label: 'Rate in requests per second against latency, every step',
    steps: result.steps,
    x: logarithmic(low, high),
    ticks: decades(low, high),
    height: 340,
    curves: true,
  });
}

function around(result: CapacityResult): SafeHtml | string {
  const { interval, steps } = result;
  if (interval === null) return '';
  const reach = (interval[1] - interval[0]) * AROUND;
  const [low, high] = [Math.max(0, interval[0] - reach), interval[1] + reach];
  const near = steps.filter(({ rate }) => rate >= low && rate <= high);
  if (near.length < 3) return '';
  return html`<h3>Around the capacity</h3>${picture(result, {
    label: 'Rate in requests per second against latency, steps around the capacity',
    steps: near,
    x: linear(low, high),
    ticks: [low + (high - low) * 0.1, interval[0], interval[1], low + (high - low) * 0.9],
    height: 260,
    curves: false,
  })}`;
}

interface Picture {
  readonly label: string;
  readonly steps: readonly CapacityStep[];
  readonly x: Scale;
  readonly ticks: readonly number[];
  readonly height: number;
  readonly curves: boolean;
}

function picture(
  { run, capacity, interval }: CapacityResult,
  { label, steps, x, ticks, height, curves }: Picture,
) {
  const bounds = latencyBounds(run.slo);
  const latencies = [
    ...steps.flatMap(({ p50, p99 }) => [p50, p99]),
    ...bounds.map(({ bound }) => bound),
  ].filter((value) => value > 0);
  const [least, most] = [Math.min(...latencies, 1e6) / 1.3, Math.max(...latencies, 0.1) * 1.5];
  const y = logarithmic(least, most);
  const cy = (value: number) => (baseOf(height) * (1 - y(value))).toFixed(1);
  const band =
    interval === null
      ? ''
      : html`<rect class="band" x="${(x(interval[0]) * 1000).toFixed(1)}" y="0" width="${Math.max(1, (x(interval[1]) - x(interval[0])) * 1000).toFixed(1)}" height="1000" />`;
  const at =
    capacity === null ? '' : html`<path class="line c0 d0" d="M${(x(capacity) * 1000).toFixed(1)} 0V1000" />`;
  const objective = bounds.map(
    ({ bound }) => html`<path class="line bound" d="M0 ${((1 - y(bound)) * 1000).toFixed(1)}H1000" />`,
  );
  const line = (name: string, value: (step: CapacityStep) => number) =>
    html`<path class="line curve ${name}" d="${path(curve(steps, value).map(([rate, ms]) => [x(rate), y(ms)]))}" />`;
  const lines = curves ? html`${line('d1', ({ p50 }) => p50)}${line('d0', ({ p99 }) => p99)}` : '';
  const dots = steps.map((step) => mark(step, percent(x(step.rate)), cy));
  const labels = bounds.map(
    ({ text, bound }) =>
      html`<text x="4" y="${(Number(cy(bound)) - 5).toFixed(1)}" class="t-bound">${shownLine(text, 60)}</text>`,
  );
  return html`<div class="chart">${frame(
    {
      label,
      height,
      x: ticks.map((value) => ({
        at: x(value),
        text: `${Number(value.toPrecision(3)).toLocaleString('en')}/s`,
      })),
      y: decades(least, most).map((value) => ({ at: y(value), text: milliseconds(value) })),
    },
    html`${band}${at}${objective}${lines}`,
    html`${dots}${labels}`,
  )}</div>`;
}

function mark({ held, p99 }: CapacityStep, at: string, cy: (value: number) => string): SafeHtml {
  const shape = held
    ? html`<circle cx="${at}" cy="${cy(p99)}" r="5" />`
    : html`<text x="${at}" y="${(Number(cy(p99)) + 5).toFixed(1)}" text-anchor="middle">✕</text>`;
  return html`<g class="${held ? 'held' : 'gave-way'}">${shape}</g>`;
}

/** The median latency of steps at about the same rate, by rate. */
function curve(
  steps: readonly CapacityStep[],
  value: (step: CapacityStep) => number,
): (readonly [rate: number, ms: number])[] {
  const groups: CapacityStep[][] = [];
  for (const step of [...steps].sort((a, b) => a.rate - b.rate)) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (group === undefined || first === undefined || step.rate > first.rate * SAME_RATE) groups.push([step]);
    else group.push(step);
  }
  return groups.map((group) => [median(group.map(({ rate }) => rate)), median(group.map(value))]);
}
