import { html, type SafeHtml } from '@remix-run/html-template';
import { mergedBlocks } from '../../scenarios/runner/result/figures.ts';
import type { LoadBlock, LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import {
  boxes,
  frame,
  latencyAxis,
  line,
  linear,
  lineKeys,
  swatches,
  timeTicks,
} from '../html/chart-frame.ts';

/** A time block of all series together. */
type Column = Pick<LoadBlock, 'requests' | 'errors' | 'refused'>;

/** The parts of a bar, from the bottom up. */
const PARTS = [
  ['b-refused', ({ errors }) => errors],
  ['b-limited', ({ refused }) => refused],
  ['b-admitted', ({ requests, errors, refused }) => requests - errors - refused],
] as const satisfies readonly (readonly [name: string, number: (column: Column) => number])[];

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const blocks = mergedBlocks(series);
  const [first] = blocks;
  if (first === undefined) return html`<p class="quiet">There are no time blocks.</p>`;
  const seconds = Math.max(0.001, ...series.map(({ blockSeconds }) => blockSeconds));
  const columns = blocks.map((block) => ({ ...block, at: (block.at - first.at) / 1000 }));
  const length = (columns.at(-1)?.at ?? 0) + seconds;
  const x = { scale: linear(0, length), ticks: timeTicks(length) };
  const latency = {
    label: 'p50 and p99 over time',
    height: 190,
    x: { ...x, ticks: [] },
    y: latencyAxis(columns.flatMap(({ p50, p99 }) => [p50, p99])),
  };
  const curve = (name: string, which: 'p50' | 'p99') =>
    line(
      name,
      latency,
      columns.map((column) => [column.at + seconds / 2, column[which]]),
    );
  const busiest = Math.max(...columns.map(({ requests }) => requests), 1) / seconds;
  const rate = linear(0, busiest * 1.1);
  const rates = [busiest / 2, busiest].map((value) => ({ value, text: `${Number(value.toPrecision(3))}/s` }));
  const bars = PARTS.map(([name, number], index) =>
    boxes(
      name,
      columns.map((column) => {
        const below = PARTS.slice(0, index).reduce((sum, [, part]) => sum + part(column), 0);
        const top = (requests: number) => (1 - rate(requests / seconds)) * 1000;
        return {
          left: x.scale(column.at) * 1000,
          right: x.scale(column.at + seconds * 0.88) * 1000,
          from: top(below),
          to: top(below + number(column)),
        };
      }),
    ),
  );
  const label = 'Requests, refusals and errors per second over time';
  return html`<div class="legend">${lineKeys([
    ['c0', 'p50'],
    ['c1', 'p99'],
  ])}${swatches({ admitted: 'requests/s', limited: 'refused as expected', refused: 'errors' })}</div>
<div class="chart">${frame(latency, html`${curve('c1', 'p99')}${curve('c0', 'p50')}`)}
${frame({ label, height: 150, x, y: { scale: rate, ticks: rates } }, html`${bars}`)}</div>`;
}
