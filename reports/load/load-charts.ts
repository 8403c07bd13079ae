/** The pictures of a load and of a search for a capacity. */
import type { ScaleOptions } from '@observablehq/plot';
import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn } from '../../scenarios/lib/slo.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/result.ts';
import { blocksOf, type LoadBlock, readingOf } from '../../scenarios/runner/result/figures.ts';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { milliseconds } from '../facts.ts';
import {
  BLUE,
  chart,
  dateOf,
  GREEN,
  GREY,
  LIGHT_BLUE,
  legend,
  ORANGE,
  RED,
  TIME_AXIS,
} from '../html/chart.ts';
import { lineY, rectX, rectY, ruleX, ruleY, text } from '../html/plot.ts';

const COLOURS = [BLUE, ORANGE, GREEN, '#9b70d6', '#b08418', '#2393a0'];
/** The dashes of a line that bounds something. */
const DASHED = '6 4';
/** The signs of lines in a legend. */
const LINE = '━';
const DASHED_LINE = '┅';

const DASHES = [
  ['', LINE],
  [DASHED, DASHED_LINE],
  ['2 3', '┉'],
] as const;

/** How the line with this number is drawn, and its sign in a legend. */
function strokeOf(index: number) {
  const [strokeDasharray, sign] = DASHES[Math.floor(index / COLOURS.length) % DASHES.length] ?? DASHES[0];
  return { stroke: COLOURS[index % COLOURS.length] ?? GREY, strokeDasharray, sign };
}

/** A logarithmic axis around these values, with round numbers. */
const logarithmic = (all: readonly number[], tickFormat: (value: number) => string): ScaleOptions => {
  const values = all.filter((value) => value > 0);
  const domain = [Math.min(...values, 1e6) / 1.3, Math.max(...values, 0.1) * 1.3];
  return { type: 'log', domain, clamp: true, ticks: 6, tickFormat };
};

/** An axis for latencies in milliseconds. It is logarithmic, so that a few slow seconds do not flatten the rest. */
const latencyAxis = (latencies: readonly number[]) => logarithmic(latencies, milliseconds);

const PERCENTILES = [0, 50, 90, 99, 99.9, 99.99, 99.999];

/** 2 for the 99th percentile, 3 for the 99.9th: on the axis each further nine has the same width. */
const nines = (percentile: number) => -Math.log10(1 - percentile / 100);

/**
 * Latency by percentile, one line for each series.
 *
 * @param names the names of the series
 */
export function latencyChart(all: readonly LoadSeries[], names: readonly string[]): SafeHtml {
  const reachOf = (requests: number) => Math.log10(Math.max(10, requests));
  const most = Math.min(5, Math.max(2, ...all.map(({ requests }) => reachOf(requests))));
  const curves = all.flatMap((series, index) => {
    const { requests } = series;
    if (series.latency === null) return [];
    const { latency: percentile } = readingOf(series.blocks);
    const reach = Math.min(most, reachOf(requests));
    const points = Array.from({ length: 101 }, (_, step) => {
      const at = (reach * step) / 100;
      return [at, percentile(100 * (1 - 10 ** -at))] as const;
    });
    return [{ name: names[index] ?? '', points, ...strokeOf(index) }];
  });
  if (curves.length === 0) return html`<p class="quiet">No request was answered.</p>`;
  const ticks = PERCENTILES.filter((value) => nines(value) <= most * 1.001);
  const x = {
    domain: [0, most],
    ticks: ticks.map(nines),
    tickFormat: (_: number, index: number) => (index === 0 ? 'fastest' : `${ticks[index]} %`),
  };
  const y = latencyAxis(curves.flatMap(({ points }) => points.map(([, value]) => value)));
  const label = `Latency by percentile: ${curves.map(({ name }) => name).join('; ')}`;
  const marks = curves.map(({ points, stroke, strokeDasharray }) =>
    lineY(points, { x: '0', y: '1', stroke, strokeDasharray }),
  );
  return html`${legend(curves.map(({ name, stroke, sign }) => [name, stroke, sign]))}
${chart(label, { height: 220, x, y, marks })}`;
}

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
  const lines = LATENCIES.map(([percentile, colour]) => [`p${percentile}`, colour, LINE] as const);
  const label = 'Requests, refusals and errors per second over time';
  return html`${legend([...lines, ...RATES.map(([words, colour]) => [words, colour] as const)])}
${chart('p50 and p99 over time', { height: 150, x: { ...x, axis: null }, y, marks: latencies })}
${chart(label, { height: 120, x, y: { ticks: 3, tickFormat: (value: number) => `${value}/s` }, marks: [...rates, ruleY([0])] })}`;
}

const rateText = (value: number) => `${Number(value.toPrecision(3)).toLocaleString('en')}/s`;

/** Every step, the capacity and its interval: rate against latency. */
export function capacityChart({ run, capacity, interval, steps }: CapacityResult): SafeHtml {
  if (steps.length === 0) return html`<p class="quiet">No step was taken.</p>`;
  const bounds = boundsIn(run.slo);
  const entries = [
    ['capacity, 95 % interval', LIGHT_BLUE],
    ['capacity', BLUE, LINE],
    ['objective', RED, DASHED_LINE],
    ['p50', GREY, '●'],
    ['p99 of a step that held', GREEN, '●'],
    ['of one that did not', RED, '✕'],
  ] as const;
  return html`${legend(entries)}
${chart('Rate in requests per second against latency', {
  height: 230,
  x: logarithmic([...steps.map(({ rate }) => rate), ...(interval ?? [])], rateText),
  y: latencyAxis([...steps.flatMap(({ p50, p99 }) => [p50, p99]), ...bounds]),
  marks: [
    interval && rectX([interval], { x1: '0', x2: '1', fill: LIGHT_BLUE }),
    capacity === null ? null : ruleX([capacity], { stroke: BLUE }),
    ruleY(bounds, { stroke: RED, strokeDasharray: DASHED }),
    text(steps, { x: 'rate', y: 'p50', fill: GREY, text: () => '●' }),
    text(steps, {
      x: 'rate',
      y: 'p99',
      fill: (step) => (step.held ? GREEN : RED),
      text: (step) => (step.held ? '●' : '✕'),
    }),
  ],
})}`;
}
