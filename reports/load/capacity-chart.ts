import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import {
  BLUE,
  bars,
  chart,
  DASHED,
  GREEN,
  GREY,
  LIGHT_BLUE,
  latencyAxis,
  legend,
  line,
  logarithmic,
  RED,
  signs,
} from '../html/chart.ts';

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** Every step, the capacity and its interval: rate against latency. */
export function capacityChart({ run, capacity, interval, steps }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const rates = [...steps.map(({ rate }) => rate), ...(interval ?? [])];
  const bounds = boundsIn(run.slo);
  const x = logarithmic(Math.min(...rates) / 1.15, Math.max(...rates) * 1.15, rateText);
  const y = latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]);
  const [[left = 0, right = 0], [bottom = 0, top = 0]] = [x.scale.domain(), y.scale.domain()];
  const p99 = (which: boolean) =>
    steps.flatMap(({ held, rate, p99: ms }) => (held === which ? [[rate, ms] as const] : []));
  const marks = [
    ...(capacity === null || interval === null
      ? []
      : [
          bars('capacity, 95 % interval', LIGHT_BLUE, [[...interval, top]]),
          line('capacity', BLUE, [
            [capacity, bottom],
            [capacity, top],
          ]),
        ]),
    ...bounds.map((bound) =>
      line(
        'objective',
        RED,
        [
          [left, bound],
          [right, bound],
        ],
        DASHED,
      ),
    ),
    signs(
      'p50',
      GREY,
      '●',
      steps.map(({ rate, p50 }) => [rate, p50]),
    ),
    signs('p99 of a step that held', GREEN, '●', p99(true)),
    signs('of one that did not', RED, '✕', p99(false)),
  ];
  return html`${legend(marks)}
${chart({ label: 'Rate in requests per second against latency', height: 230, x, y }, marks)}`;
}
