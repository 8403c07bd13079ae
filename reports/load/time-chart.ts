import { html, type SafeHtml } from '@remix-run/html-template';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { decades, frame, linear, logarithmic, milliseconds, path } from '../html/chart-frame.ts';
import { timeTicks } from '../html/time-axis.ts';

/** Columns of a chart over time. */
const MOST_COLUMNS = 300;

interface Moment {
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** All series in one, by time block, blocks put together until the picture can hold them. */
function moments(series: readonly LoadSeries[]): {
  readonly list: readonly Moment[];
  readonly seconds: number;
} {
  const blocks = series.flatMap((one) => one.blocks);
  const blockSeconds = Math.max(0.001, ...series.map((one) => one.blockSeconds));
  const start = blocks.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const end = blocks.reduce((most, { at }) => Math.max(most, at), start);
  const count = Math.floor((end - start) / 1000 / blockSeconds) + 1;
  const seconds = blockSeconds * Math.max(1, Math.ceil(count / MOST_COLUMNS));
  const byColumn = new Map<number, Moment>();
  for (const block of blocks) {
    const at = Math.floor((block.at - start) / 1000 / seconds) * seconds;
    const before = byColumn.get(at) ?? { at, requests: 0, errors: 0, refused: 0, p50: 0, p99: 0 };
    const requests = before.requests + block.requests;
    byColumn.set(at, {
      at,
      requests,
      errors: before.errors + block.errors,
      refused: before.refused + block.refused,
      p50: (before.p50 * before.requests + block.p50 * block.requests) / Math.max(1, requests),
      // Percentiles of parts do not add up; the largest is on the safe side.
      p99: Math.max(before.p99, block.p99),
    });
  }
  return { list: [...byColumn.values()].sort((a, b) => a.at - b.at), seconds };
}

/** Latency, and below it rate, refusals and errors, over the run. */
export function timeChart(series: readonly LoadSeries[]): SafeHtml {
  const { list, seconds } = moments(series);
  if (list.length === 0) return html`<p class="quiet">There are no time blocks.</p>`;
  const length = (list.at(-1)?.at ?? 0) + seconds;
  const x = linear(0, length);
  const latencies = list.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const [fastest, slowest] = [Math.min(...latencies, 1e6) / 1.3, Math.max(...latencies, 0.1) * 1.3];
  const busiest = (Math.max(...list.map(({ requests }) => requests), 1) / seconds) * 1.1;
  // Seconds of trouble must not press the rest to the ground.
  const [latency, rate] = [logarithmic(fastest, slowest), linear(0, busiest)];
  const centre = ({ at }: Moment) => x(at + seconds / 2);
  const bars = (name: string, from: (moment: Moment) => number, to: (moment: Moment) => number) => {
    const d = list
      .filter((moment) => to(moment) > from(moment))
      .map((moment) => {
        const [left, right] = [x(moment.at) * 1000, x(moment.at + seconds) * 1000];
        const [low, high] = [
          (1 - rate(from(moment) / seconds)) * 1000,
          (1 - rate(to(moment) / seconds)) * 1000,
        ];
        return `M${left.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}H${(right - (right - left) * 0.12).toFixed(1)}V${low.toFixed(1)}z`;
      })
      .join('');
    return d === '' ? '' : html`<path class="${name}" d="${d}" />`;
  };
  const ticks = timeTicks(length).map(({ at, label, needs }) => ({ at: x(at), text: label, needs }));
  const rates = [0.5, 1].map((part) => ({
    at: part / 1.1,
    text: `${Number(((busiest / 1.1) * part).toPrecision(3))}/s`,
  }));
  return html`<div class="legend">
<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line c0 d0" x1="0" x2="26" y1="5" y2="5" /></svg> p50</span>
<span><svg class="sample" width="26" height="10" aria-hidden="true"><line class="line c1 d0" x1="0" x2="26" y1="5" y2="5" /></svg> p99</span>
<span><i class="swatch s-admitted"></i>requests/s</span><span><i class="swatch s-limited"></i>refused as expected</span><span><i class="swatch s-refused"></i>errors</span></div>
<div class="chart">${frame(
    {
      label: 'p50 and p99 over time',
      height: 190,
      x: [],
      y: decades(fastest, slowest).map((value) => ({ at: latency(value), text: milliseconds(value) })),
    },
    html`<path class="line c1 d0" d="${path(list.map((moment) => [centre(moment), latency(moment.p99)]))}" /><path class="line c0 d0" d="${path(list.map((moment) => [centre(moment), latency(moment.p50)]))}" />`,
  )}
${frame(
  {
    label: 'Requests, refusals and errors per second over time',
    height: 150,
    x: ticks,
    y: rates,
  },
  html`${bars(
    'b-refused',
    () => 0,
    ({ errors }) => errors,
  )}${bars(
    'b-limited',
    ({ errors }) => errors,
    ({ errors, refused }) => errors + refused,
  )}${bars(
    'b-admitted',
    ({ errors, refused }) => errors + refused,
    ({ requests }) => requests,
  )}`,
)}</div>`;
}
