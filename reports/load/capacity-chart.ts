import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import { median } from '../../scenarios/lib/statistics.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import {
  type Axis,
  BLUE,
  boxes,
  chart,
  GREEN,
  GREY,
  latencyAxis,
  legend,
  line,
  linear,
  logarithmic,
  RED,
} from '../html/chart.ts';

/** Steps whose rates differ by at most this factor are one point of the curve. */
const SAME_RATE = 1.04;
/** How far the second picture reaches beyond the interval, in widths of the interval. */
const AROUND = 2.5;
const P50 = { colour: GREY, dash: '6 4' };
const OBJECTIVE = { colour: RED, dash: '6 4' };

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** A picture of all steps, and one of those around the capacity. */
export function capacityCharts(result: CapacityResult): SafeHtml {
  const { steps, interval } = result;
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const rates = [...steps.map(({ rate }) => rate), ...(interval ?? [])];
  const keys = legend([
    ['p99 of a step that held (●)', GREEN],
    ['of one that did not (✕)', RED],
    ['p50', P50],
    ['objective', OBJECTIVE],
    ...(interval === null ? [] : [['capacity, 95 % interval', BLUE] as const]),
  ]);
  const x = logarithmic(Math.min(...rates) / 1.15, Math.max(...rates) * 1.15, rateText);
  return html`${keys}${picture(result, steps, x)}${around(result)}`;
}

function around(result: CapacityResult): SafeHtml | string {
  const { interval, steps } = result;
  if (interval === null) return '';
  const reach = (interval[1] - interval[0]) * AROUND;
  const [low, high] = [Math.max(0, interval[0] - reach), interval[1] + reach];
  const near = steps.filter(({ rate }) => rate >= low && rate <= high);
  if (near.length < 3) return '';
  const ticks = interval.map((value) => ({ value, text: rateText(value) }));
  return html`<h2>Around the capacity</h2>${picture(result, near, linear(low, high, ticks))}`;
}

function picture(
  { run, capacity, interval, steps: all }: CapacityResult,
  steps: readonly CapacityStep[],
  x: Axis,
): SafeHtml {
  const bounds = boundsIn(run.slo).map(({ bound }) => bound);
  const y = latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]);
  const which = steps === all ? 'every step' : 'steps around the capacity';
  const label = `Rate in requests per second against latency, ${which}`;
  const [[left = 0, right = 0], [bottom = 0, top = 0]] = [x.scale.domain(), y.scale.domain()];
  return chart({ label, height: 230, x, y }, (canvas) => [
    html`<g opacity="0.3">${boxes(BLUE, canvas, interval === null ? [] : [{ left: interval[0], right: interval[1], from: bottom, to: top }])}</g>`,
    ...(capacity === null
      ? []
      : [
          line({ colour: BLUE }, canvas, [
            [capacity, bottom],
            [capacity, top],
          ]),
        ]),
    ...bounds.map((bound) =>
      line(OBJECTIVE, canvas, [
        [left, bound],
        [right, bound],
      ]),
    ),
    // Near the capacity a curve would zigzag between steps of the same rate.
    ...(steps === all
      ? [line(P50, canvas, curve(steps, 'p50')), line({ colour: GREY }, canvas, curve(steps, 'p99'))]
      : []),
    ...steps.map(({ held, rate, p99 }) => {
      const [at, top] = [canvas.x(rate).toFixed(1), canvas.y(p99).toFixed(1)];
      return held
        ? html`<circle cx="${at}" cy="${top}" r="3" fill="${GREEN}" />`
        : html`<text x="${at}" y="${top}" dy="3" text-anchor="middle" fill="${RED}">✕</text>`;
    }),
  ]);
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
