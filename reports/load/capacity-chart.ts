import { html, type SafeHtml } from '@remix-run/html-template';
import { median } from 'simple-statistics';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import {
  type Axis,
  decades,
  frame,
  fromTop,
  latencyAxis,
  line,
  linear,
  lineKeys,
  logarithmic,
  percent,
  swatches,
} from '../html/chart-frame.ts';
import { shownLine } from '../visible-text.ts';

/** Steps whose rates differ by at most this factor are one point of the curve. */
const SAME_RATE = 1.04;
/** How far the second picture reaches beyond the interval, in widths of the interval. */
const AROUND = 2.5;

/** A picture of all steps, and one of those around the capacity, which shows the interval on a phone too. */
export function capacityCharts(result: CapacityResult): SafeHtml {
  const { steps, interval } = result;
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const rates = [...steps.map(({ rate }) => rate), ...(interval ?? [])];
  const [least, most] = [Math.min(...rates) / 1.15, Math.max(...rates) * 1.15];
  const band = swatches(interval === null ? {} : { band: 'capacity, 95 % interval' });
  const lines = lineKeys([
    ['curve d1', 'p50'],
    ['bound', 'objective'],
  ]);
  return html`<div class="legend"><span><b class="k-pass">●</b> p99 of a step that held</span><span><b class="k-fail">✕</b> of one that did not</span>${lines}${band}</div>
${picture(result, steps, 340, rateAxis(logarithmic(least, most), decades(least, most)))}${around(result)}`;
}

function around(result: CapacityResult): SafeHtml | string {
  const { interval, steps } = result;
  if (interval === null) return '';
  const reach = (interval[1] - interval[0]) * AROUND;
  const [low, high] = [Math.max(0, interval[0] - reach), interval[1] + reach];
  const near = steps.filter(({ rate }) => rate >= low && rate <= high);
  if (near.length < 3) return '';
  const margin = (high - low) * 0.1;
  const axis = rateAxis(linear(low, high), [low + margin, ...interval, high - margin]);
  return html`<h3>Around the capacity</h3>${picture(result, near, 260, axis)}`;
}

const rateAxis = (scale: Axis['scale'], values: readonly number[]): Axis => ({
  scale,
  ticks: values.map((value) => ({
    value,
    text: `${Number(value.toPrecision(3)).toLocaleString('en')}/s`,
  })),
});

function picture(
  { run, capacity, interval, steps: all }: CapacityResult,
  steps: readonly CapacityStep[],
  height: number,
  x: Axis,
): SafeHtml {
  const bounds = boundsIn(run.slo);
  const y = latencyAxis([
    ...steps.flatMap(({ p50, p99 }) => [p50, p99]),
    ...bounds.map(({ bound }) => bound),
  ]);
  const which = steps === all ? 'every step' : 'steps around the capacity';
  const canvas = { label: `Rate in requests per second against latency, ${which}`, height, x, y };
  const across = (rate: number) => x.scale(rate) * 1000;
  const band =
    interval === null
      ? ''
      : html`<rect class="area b-band" x="${across(interval[0]).toFixed(1)}" y="0" width="${Math.max(1, across(interval[1]) - across(interval[0])).toFixed(1)}" height="1000" />`;
  const found =
    capacity === null ? '' : html`<path class="line c0" d="M${across(capacity).toFixed(1)} 0V1000" />`;
  const objective = bounds.map(
    ({ bound }) => html`<path class="line bound" d="M0 ${((1 - y.scale(bound)) * 1000).toFixed(1)}H1000" />`,
  );
  // Near the capacity a curve would zigzag between steps of the same rate.
  const curves =
    steps === all
      ? [line('curve d1', canvas, curve(steps, 'p50')), line('curve d0', canvas, curve(steps, 'p99'))]
      : [];
  const dots = steps.map(({ held, rate, p99 }) => {
    const [at, top] = [percent(x.scale(rate)), fromTop(canvas, p99)];
    return held
      ? html`<circle class="mark k-pass" cx="${at}" cy="${top.toFixed(1)}" r="4" />`
      : html`<text class="mark k-fail" x="${at}" y="${(top + 5).toFixed(1)}" text-anchor="middle">✕</text>`;
  });
  const labels = bounds.map(
    ({ text, bound }) =>
      html`<text x="4" y="${(fromTop(canvas, bound) - 5).toFixed(1)}" class="t-bound">${shownLine(text, 60)}</text>`,
  );
  return html`<div class="chart">${frame(canvas, html`${band}${found}${objective}${curves}`, html`${dots}${labels}`)}</div>`;
}

/** The median latency of steps at about the same rate, by rate. */
function curve(
  steps: readonly CapacityStep[],
  which: 'p50' | 'p99',
): (readonly [rate: number, ms: number])[] {
  const groups: CapacityStep[][] = [];
  for (const step of [...steps].sort((a, b) => a.rate - b.rate)) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && step.rate <= group[0].rate * SAME_RATE) group.push(step);
    else groups.push([step]);
  }
  return groups.map((group) => [
    median(group.map(({ rate }) => rate)),
    median(group.map((step) => step[which])),
  ]);
}
