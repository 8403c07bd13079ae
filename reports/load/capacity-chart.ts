import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import {
  BLUE,
  chart,
  DASHED,
  DASHED_LINE,
  GREEN,
  GREY,
  LIGHT_BLUE,
  LINE,
  latencyAxis,
  legend,
  logarithmic,
  RED,
} from '../html/chart.ts';
import { rectX, ruleX, ruleY, text } from '../html/plot.ts';

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** Every step, the capacity and its interval: rate against latency. */
export function capacityChart({ run, capacity, interval, steps }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const bounds = boundsIn(run.slo);
  const signs = (words: string, fill: string, sign: string, of: typeof steps, y: 'p50' | 'p99') => ({
    entry: [words, fill, sign] as const,
    mark: text(of, { x: 'rate', y, fill, text: () => sign }),
  });
  const shown = [
    ...(capacity === null || interval === null
      ? []
      : [
          {
            entry: ['capacity, 95 % interval', LIGHT_BLUE] as const,
            mark: rectX([interval], { x1: '0', x2: '1', fill: LIGHT_BLUE }),
          },
          { entry: ['capacity', BLUE, LINE] as const, mark: ruleX([capacity], { stroke: BLUE }) },
        ]),
    ...bounds.map((bound) => ({
      entry: ['objective', RED, DASHED_LINE] as const,
      mark: ruleY([bound], { stroke: RED, strokeDasharray: DASHED }),
    })),
    signs('p50', GREY, '●', steps, 'p50'),
    signs(
      'p99 of a step that held',
      GREEN,
      '●',
      steps.filter(({ held }) => held),
      'p99',
    ),
    signs(
      'of one that did not',
      RED,
      '✕',
      steps.filter(({ held }) => !held),
      'p99',
    ),
  ];
  return html`${legend(shown.map(({ entry }) => entry))}
${chart('Rate in requests per second against latency', {
  height: 230,
  x: logarithmic([...steps.map(({ rate }) => rate), ...(interval ?? [])], rateText),
  y: latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]),
  marks: shown.map(({ mark }) => mark),
})}`;
}
