import { html, type SafeHtml } from '@remix-run/html-template';
import { mergedBlocks } from '../../scenarios/runner/result/figures.ts';
import type { LoadBlock, LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import {
  BLUE,
  boxes,
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

/** A time block of all series together. */
type Column = Pick<LoadBlock, 'requests' | 'errors' | 'refused'>;

/** The parts of a bar, from the bottom up. */
const PARTS = [
  ['errors', RED, ({ errors }) => errors],
  ['refused as expected', ORANGE, ({ refused }) => refused],
  ['requests/s', GREEN, ({ requests, errors, refused }) => requests - errors - refused],
] as const satisfies readonly (readonly [
  words: string,
  colour: string,
  number: (column: Column) => number,
])[];

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const blocks = mergedBlocks(series);
  const [first] = blocks;
  if (first === undefined) return html`<p class="quiet">There are no time blocks.</p>`;
  const seconds = Math.max(0.001, ...series.map(({ blockSeconds }) => blockSeconds));
  const columns = blocks.map((block) => ({ ...block, at: (block.at - first.at) / 1000 }));
  const x = timeAxis(0, (columns.at(-1)?.at ?? 0) + seconds);
  const y = latencyAxis(columns.flatMap(({ p50, p99 }) => [p50, p99]));
  const latency = chart(
    { label: 'p50 and p99 over time', height: 150, x: { ...x, ticks: [] }, y },
    (canvas) =>
      (['p50', 'p99'] as const).map((which) =>
        line(
          { colour: which === 'p50' ? BLUE : ORANGE },
          canvas,
          columns.map((column) => [column.at + seconds / 2, column[which]]),
        ),
      ),
  );
  const busiest = Math.max(...columns.map(({ requests }) => requests), 1) / seconds;
  const ticks = [busiest / 2, busiest].map((value) => ({ value, text: `${Number(value.toPrecision(3))}/s` }));
  const label = 'Requests, refusals and errors per second over time';
  const rates = chart({ label, height: 120, x, y: linear(0, busiest * 1.1, ticks) }, (canvas) =>
    PARTS.map(([, colour, number], index) =>
      boxes(
        colour,
        canvas,
        columns.map((column) => {
          const below = PARTS.slice(0, index).reduce((sum, [, , part]) => sum + part(column), 0);
          return {
            left: column.at,
            right: column.at + seconds * 0.88,
            from: below / seconds,
            to: (below + number(column)) / seconds,
          };
        }),
      ),
    ),
  );
  return html`${legend([
    ['p50', { colour: BLUE }],
    ['p99', { colour: ORANGE }],
    ...PARTS.map(([words, colour]) => [words, colour] as const),
  ])}${latency}${rates}`;
}
