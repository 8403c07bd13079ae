import { html, type SafeHtml } from '@remix-run/html-template';
import { mergedBlocks } from '../../scenarios/runner/result/figures.ts';
import type { LoadBlock, LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import {
  BLUE,
  bars,
  chart,
  GREEN,
  latencyAxis,
  legend,
  line,
  linear,
  ORANGE,
  RED,
  timeAxis,
} from '../html/chart.ts';

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const blocks = mergedBlocks(series);
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return html`<p class="quiet">There are no time blocks.</p>`;
  const width = Math.max(0.001, ...series.map(({ blockSeconds }) => blockSeconds));
  const seconds = ({ at }: LoadBlock) => (at - first.at) / 1000;
  const x = timeAxis(0, seconds(last) + width);
  const y = latencyAxis(blocks.flatMap(({ p50, p99 }) => [p50, p99]));
  const latencies = (['p50', 'p99'] as const).map((which) =>
    line(
      which,
      which === 'p50' ? BLUE : ORANGE,
      blocks.map((block) => [seconds(block) + width / 2, block[which]]),
    ),
  );
  const perSecond = (words: string, colour: string, number: (block: LoadBlock) => number) =>
    bars(
      words,
      colour,
      blocks.map((block) => [seconds(block), seconds(block) + width * 0.88, number(block) / width]),
    );
  // Each covers the lower part of the one before.
  const rates = [
    perSecond('requests/s', GREEN, ({ requests }) => requests),
    perSecond('refused as expected', ORANGE, ({ errors, refused }) => errors + refused),
    perSecond('errors', RED, ({ errors }) => errors),
  ];
  const busiest = Math.max(...blocks.map(({ requests }) => requests), 1) / width;
  const ticks = [busiest / 2, busiest].map((value) => ({ value, text: `${Number(value.toPrecision(3))}/s` }));
  const label = 'Requests, refusals and errors per second over time';
  return html`${legend([...latencies, ...rates])}
${chart({ label: 'p50 and p99 over time', height: 150, x: { ...x, ticks: [] }, y }, latencies)}
${chart({ label, height: 120, x, y: linear(0, busiest * 1.1, ticks) }, rates)}`;
}
