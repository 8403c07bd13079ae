import { html, type SafeHtml } from '@remix-run/html-template';
import { blocksOf, type LoadBlock } from '../../scenarios/runner/result/figures.ts';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import {
  BLUE,
  chart,
  dateOf,
  type Entry,
  GREEN,
  LINE,
  latencyAxis,
  legend,
  ORANGE,
  RED,
  TIME_AXIS,
} from '../html/chart.ts';
import { lineY, rectY, ruleY } from '../html/plot.ts';

const LATENCIES = [
  [50, BLUE],
  [99, ORANGE],
] as const;

/** Each covers the lower part of the one before. */
const RATES: readonly (readonly [words: string, colour: string, number: (block: LoadBlock) => number])[] = [
  ['requests/s', GREEN, ({ requests }) => requests],
  ['refused as expected', ORANGE, ({ errors, refused }) => errors + refused],
  ['errors', RED, ({ errors }) => errors],
];

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const blocks = blocksOf(series);
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return html`<p class="quiet">There are no time blocks.</p>`;
  const width = Math.max(0.001, ...series.map(({ blockSeconds }) => blockSeconds));
  /** A moment of a block, from its begin at 0 to its end at 1. */
  const moment = (part: number) => (block: LoadBlock) => dateOf((block.at - first.at) / 1000 + part * width);
  const x = { ...TIME_AXIS, domain: [dateOf(0), moment(1)(last)] };
  const y = latencyAxis(
    blocks.flatMap(({ latency }) => LATENCIES.map(([percentile]) => latency(percentile))),
  );
  const latencies = LATENCIES.map(([percentile, stroke]) =>
    lineY(blocks, { x: moment(0.5), y: ({ latency }: LoadBlock) => latency(percentile), stroke }),
  );
  const rates = RATES.map(([, fill, number]) => {
    const perSecond = (block: LoadBlock) => number(block) / width;
    return rectY(blocks, { x1: moment(0), x2: moment(0.88), y1: 0, y2: perSecond, fill });
  });
  const entries = LATENCIES.map(([percentile, colour]): Entry => [`p${percentile}`, colour, LINE]);
  const label = 'Requests, refusals and errors per second over time';
  return html`${legend([...entries, ...RATES.map(([words, colour]): Entry => [words, colour])])}
${chart('p50 and p99 over time', { height: 150, x: { ...x, axis: null }, y, marks: latencies })}
${chart(label, { height: 120, x, y: { ticks: 3, tickFormat: (value: number) => `${value}/s` }, marks: [...rates, ruleY([0])] })}`;
}
