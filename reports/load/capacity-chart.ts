import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import { median } from '../../scenarios/lib/statistics.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import {
  BLUE,
  boxes,
  chart,
  GREEN,
  GREY,
  latencyAxis,
  legend,
  line,
  logarithmic,
  RED,
} from '../html/chart.ts';

/** Steps whose rates differ by at most this factor are one point of the curve. */
const SAME_RATE = 1.04;
const P50 = { colour: GREY, dash: '6 4' };
const OBJECTIVE = { colour: RED, dash: '6 4' };

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** Every step, the capacity and its interval: rate against latency. */
export function capacityChart({ run, capacity, interval, steps }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const rates = [...steps.map(({ rate }) => rate), ...(interval ?? [])];
  const keys = legend([
    ['p99 of a step that held (●)', GREEN],
    ['of one that did not (✕)', RED],
    ['p50', P50],
    ['objective', OBJECTIVE],
    ...(interval === null ? [] : [['capacity, 95 % interval', BLUE] as const]),
  ]);
  const bounds = boundsIn(run.slo);
  const x = logarithmic(Math.min(...rates) / 1.15, Math.max(...rates) * 1.15, rateText);
  const y = latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]);
  const label = 'Rate in requests per second against latency';
  const [[left = 0, right = 0], [bottom = 0, top = 0]] = [x.scale.domain(), y.scale.domain()];
  const picture = chart({ label, height: 230, x, y }, (canvas) => [
    html`<g opacity="0.3">${boxes(BLUE, canvas, interval === null ? [] : [{ left: interval[0], right: interval[1], from: bottom, to: top }])}</g>`,
    ...[capacity ?? []].flat().map((rate) =>
      line({ colour: BLUE }, canvas, [
        [rate, bottom],
        [rate, top],
      ]),
    ),
    ...bounds.map((bound) =>
      line(OBJECTIVE, canvas, [
        [left, bound],
        [right, bound],
      ]),
    ),
    line(P50, canvas, curve(steps, 'p50')),
    line({ colour: GREY }, canvas, curve(steps, 'p99')),
    ...steps.map(({ held, rate, p99 }) => {
      const [across, up] = [canvas.x(rate).toFixed(1), canvas.y(p99).toFixed(1)];
      return held
        ? html`<circle cx="${across}" cy="${up}" r="3" fill="${GREEN}" />`
        : html`<text x="${across}" y="${up}" dy="3" text-anchor="middle" fill="${RED}">✕</text>`;
    }),
  ]);
  return html`${keys}${picture}`;
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
