import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import {
  BLUE,
  chart,
  DASHED,
  DASHED_LINE,
  type Entry,
  GREEN,
  GREY,
  LIGHT_BLUE,
  LINE,
  latencyAxis,
  legend,
  logarithmic,
  RED,
} from '../html/chart.ts';
import { type Markish, rectX, ruleX, ruleY, text } from '../html/plot.ts';

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** Every step, the capacity and its interval: rate against latency. */
export function capacityChart({ run, capacity, interval, steps }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const bounds = boundsIn(run.slo);
  const shown = (mark: Markish, ...entry: Entry) => ({ mark, entry });
  const signs = (of: typeof steps, y: 'p50' | 'p99', ...[words, fill, sign]: Entry) =>
    shown(text(of, { x: 'rate', y, fill, text: () => sign }), words, fill, sign);
  const p99 = (held: boolean) => steps.filter((step) => step.held === held);
  const all = [
    ...(capacity === null || interval === null
      ? []
      : [
          shown(
            rectX([interval], { x1: '0', x2: '1', fill: LIGHT_BLUE }),
            'capacity, 95 % interval',
            LIGHT_BLUE,
          ),
          shown(ruleX([capacity], { stroke: BLUE }), 'capacity', BLUE, LINE),
        ]),
    ...bounds.map((bound) =>
      shown(ruleY([bound], { stroke: RED, strokeDasharray: DASHED }), 'objective', RED, DASHED_LINE),
    ),
    signs(steps, 'p50', 'p50', GREY, '●'),
    signs(p99(true), 'p99', 'p99 of a step that held', GREEN, '●'),
    signs(p99(false), 'p99', 'of one that did not', RED, '✕'),
  ];
  return html`${legend(all.map(({ entry }) => entry))}
${chart('Rate in requests per second against latency', {
  height: 230,
  x: logarithmic([...steps.map(({ rate }) => rate), ...(interval ?? [])], rateText),
  y: latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]),
  marks: all.map(({ mark }) => mark),
})}`;
}
