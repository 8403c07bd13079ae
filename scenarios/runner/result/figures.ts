/** Counts and latencies: taken in sample by sample, added up, and read back from a result. */
import { groupBy } from '../../../spec/group-by.ts';
import type { PlanName } from '../../../spec/plans.ts';
import type { ToldPlan } from '../../lib/load-plan.ts';
import { isLoadOperation, type LoadOperation } from '../../lib/operations.ts';
import { OUTCOMES, type Outcome } from '../../lib/scenario.ts';
import { sum } from '../../lib/statistics.ts';
import type { Histogram, Latency, LoadBlock, LoadFigures, LoadSeries } from './load-result.ts';

/** A duration is counted by its first ten bits, which is three significant digits. */
const BITS_LEFT_OUT = 32 - 10;
/** Half an hour: no request takes longer, whatever a log says. */
const LONGEST = 2 ** 31 - 1;

function record(histogram: Histogram, microseconds: number): void {
  const time = Math.min(microseconds, LONGEST);
  const shift = Math.max(0, BITS_LEFT_OUT - Math.clz32(time));
  const digits = (time >> shift) << shift;
  histogram[digits] = (histogram[digits] ?? 0) + 1;
}

/** Counts by what they count, added up. */
function added(parts: Iterable<Readonly<Record<string, number>>>): Record<string, number> {
  const all: Record<string, number> = {};
  for (const part of parts)
    for (const [what, times] of Object.entries(part)) all[what] = (all[what] ?? 0) + times;
  return all;
}

/** Histograms as one. */
export const mergedHistogram = (parts: readonly { readonly histogram: Histogram }[]): Histogram =>
  added(parts.map(({ histogram }) => histogram));

/** How many durations it counts. */
export const totalOf = (histogram: Histogram): number => sum(Object.values(histogram));

/** The percentiles of a histogram in milliseconds; NaN if nothing was counted. */
export function percentilesOf(histogram: Histogram): (percentile: number) => number {
  // An object has whole numbers in their order.
  const counts = Object.entries(histogram);
  const total = totalOf(histogram);
  return (percentile) => {
    let left = (total * percentile) / 100;
    const place = counts.findIndex(([, times]) => {
      left -= times;
      return left <= 1e-9;
    });
    return Number(counts.at(place)?.[0]) / 1000;
  };
}

function meanOf(histogram: Histogram): number {
  const times = Object.entries(histogram).map(([microseconds, count]) => Number(microseconds) * count);
  return sum(times) / totalOf(histogram) / 1000;
}

function latencyOf(histogram: Histogram): Latency {
  const at = percentilesOf(histogram);
  return {
    mean: meanOf(histogram),
    ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), max: at(100) },
    histogram,
  };
}

/** What is counted of a time block. */
type BlockCounts = Pick<LoadBlock, 'histogram' | 'errors' | 'refused'>;

function blockOf(at: number, { histogram, errors, refused }: BlockCounts): LoadBlock {
  const percentile = percentilesOf(histogram);
  const latency = { mean: meanOf(histogram), p50: percentile(50), p99: percentile(99), histogram };
  return { at, requests: totalOf(histogram), errors, refused, ...latency };
}

/** The blocks of several series as one, in time. */
export function mergedBlocks(series: readonly { readonly blocks: readonly LoadBlock[] }[]): LoadBlock[] {
  const byTime = groupBy(
    series.flatMap(({ blocks }) => blocks),
    ({ at }) => at,
  );
  const merged = [...byTime].map(([at, blocks]) =>
    blocks.length === 1
      ? blocks[0]
      : blockOf(at, {
          histogram: mergedHistogram(blocks),
          errors: sum(blocks.map(({ errors }) => errors)),
          refused: sum(blocks.map(({ refused }) => refused)),
        }),
  );
  return merged.toSorted((a, b) => a.at - b.at);
}

const noOutcomes = () => ({ ok: 0, refused: 0, 'unexpected-429': 0, error: 0, violation: 0, unfinished: 0 });

/** Those that count as errors. A violation is counted on its own. */
const ERRORS: readonly Outcome[] = ['error', 'unexpected-429', 'unfinished'];

/** How many of the requests count as errors. */
export const errorsIn = (outcomes: Readonly<Record<Outcome, number>>): number =>
  sum(ERRORS.map((outcome) => outcomes[outcome]));

/** An HTTP status, not k6's code for a response that never came. */
const isAnswer = (status: string) => Number(status) > 0 && Number(status) < 1000;

function figuresOf(
  { statuses, outcomes, histogram }: Pick<LoadFigures, 'statuses' | 'outcomes'> & { histogram: Histogram },
  seconds: number,
): LoadFigures {
  const requests = totalOf(statuses);
  return {
    requests,
    perSecond: seconds === 0 ? 0 : requests / seconds,
    statuses,
    outcomes,
    // The time until a request failed is not a latency.
    latency: Object.keys(statuses).some(isAnswer) ? latencyOf(histogram) : null,
  };
}

/** Adds up the counts and histograms of several figures: the result is that of one process with all samples. */
export function combine(parts: readonly LoadFigures[], seconds: number): LoadFigures {
  const sums = {
    statuses: added(parts.map(({ statuses }) => statuses)),
    outcomes: { ...noOutcomes(), ...added(parts.map(({ outcomes }) => outcomes)) },
    histogram: mergedHistogram(parts.flatMap(({ latency }) => latency ?? [])),
  };
  return figuresOf(sums, seconds);
}

type SampledPlan = Pick<ToldPlan, 'streams' | 'keys' | 'blockSeconds'>;

interface Series {
  readonly stream: string;
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  readonly statuses: Record<string, number>;
  readonly outcomes: Record<Outcome, number>;
  readonly histogram: Histogram;
  /** By their start. */
  readonly blocks: Map<number, { -readonly [Field in keyof BlockCounts]: BlockCounts[Field] }>;
}

/** Takes in samples, and keeps counts, histograms and time blocks, so that memory does not grow with their number. */
export class Samples {
  readonly #plan: SampledPlan;
  readonly #blockMs: number;
  readonly #series = new Map<string, Series>();
  /** What each key has paid for so far. */
  readonly paid = new Map<string, { sent: number; refused: number }>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  /** @param plan tells what positions in samples stand for */
  constructor(plan: SampledPlan) {
    this.#plan = plan;
    this.#blockMs = plan.blockSeconds * 1000;
  }

  /** Takes in samples as lib/report.ts writes them; false if one has a meaning that the plan does not know. */
  add(since: number, samples: Readonly<Record<string, readonly number[]>>): boolean {
    let isKnown = true;
    for (const [name, numbers] of Object.entries(samples)) {
      const [stream, key, operation = '', status = '', word] = name.split(' ');
      const outcome = OUTCOMES.find((one) => one === word);
      const series = outcome && this.#seriesOf(Number(stream), Number(key), operation);
      if (outcome === undefined || series === undefined || numbers.length % 2 !== 0) isKnown = false;
      else {
        const times = numbers.length / 2;
        series.statuses[status] = (series.statuses[status] ?? 0) + times;
        series.outcomes[outcome] += times;
        this.#pay(this.#plan.keys[Number(key)]?.name ?? '', times, status === '429');
        for (let place = 0; place < numbers.length; place += 2)
          this.#add(series, outcome, since + (numbers[place] ?? 0), numbers[place + 1] ?? 0);
      }
    }
    return isKnown;
  }

  #seriesOf(streamIndex: number, keyIndex: number, operation: string): Series | undefined {
    const stream = this.#plan.streams[streamIndex]?.name;
    const plan = this.#plan.keys[keyIndex]?.plan;
    if (stream === undefined || plan === undefined || !isLoadOperation(operation)) return undefined;
    const id = `${stream} ${operation} ${plan}`;
    const sums = { statuses: {}, outcomes: noOutcomes(), histogram: {}, blocks: new Map() };
    const series = this.#series.get(id) ?? { stream, operation, plan, ...sums };
    this.#series.set(id, series);
    return series;
  }

  #pay(key: string, times: number, isRefused: boolean): void {
    const { sent, refused } = this.paid.get(key) ?? { sent: 0, refused: 0 };
    this.paid.set(key, { sent: sent + times, refused: refused + (isRefused ? times : 0) });
  }

  #add({ histogram, blocks }: Series, outcome: Outcome, at: number, microseconds: number): void {
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at + microseconds / 1000);
    const start = Math.floor(at / this.#blockMs) * this.#blockMs;
    const block = blocks.get(start) ?? { histogram: {}, errors: 0, refused: 0 };
    blocks.set(start, block);
    record(histogram, microseconds);
    record(block.histogram, microseconds);
    if (ERRORS.includes(outcome)) block.errors += 1;
    if (outcome === 'refused') block.refused += 1;
  }

  /** Start of the first request and end of the last one, in milliseconds since 1970; undefined if there was none. */
  span(): { readonly first: number; readonly last: number } | undefined {
    return this.#last === 0 ? undefined : { first: this.#first, last: this.#last };
  }

  /** Requests so far, and errors among them. */
  counts(): { readonly requests: number; readonly errors: number } {
    return {
      requests: sum([...this.paid.values()].map(({ sent }) => sent)),
      errors: sum([...this.#series.values()].map(({ outcomes }) => errorsIn(outcomes))),
    };
  }

  /** The durations and errors in blocks that began since `time`, as far as they have arrived. */
  since(time: number): { readonly histogram: Histogram; readonly errors: number } {
    const all = [...this.#series.values()].flatMap(({ blocks }) => [...blocks]);
    const recent = all.flatMap(([at, block]) => (at >= time ? [block] : []));
    return { histogram: mergedHistogram(recent), errors: sum(recent.map(({ errors }) => errors)) };
  }

  /** Everything, as the result has it. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.#last - this.#first) / 1000, 0.001);
    return [...this.#series.values()].map(({ stream, operation, plan, blocks, ...sums }) => ({
      ...{ stream, operation, plan },
      ...figuresOf(sums, seconds),
      blockSeconds: this.#blockMs / 1000,
      blocks: [...blocks].map(([at, block]) => blockOf(at, block)).toSorted((a, b) => a.at - b.at),
    }));
  }
}
