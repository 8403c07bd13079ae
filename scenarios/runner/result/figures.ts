/** Counts and latencies: taken in sample by sample, added up, and read back from a result. */
import { groupBy } from '../../../spec/group-by.ts';
import { CAPACITY_STEP, scenarioNamed } from '../../lib/catalogue.ts';
import type { ToldPlan } from '../../lib/messages.ts';
import { ARRIVALS, blockSecondsOf, LOAD_OPERATIONS, OUTCOMES, type Outcome } from '../../lib/scenario.ts';
import type { SloFigures } from '../../lib/slo.ts';
import { sum } from '../../lib/statistics.ts';
import type { Histogram, LoadBlock, LoadFigures, LoadSeries } from './load-result.ts';

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
const mergedHistogram = (parts: readonly { readonly histogram: Histogram }[]): Histogram =>
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

/** What is counted of a time block. */
type BlockCounts = Pick<LoadBlock, 'at' | 'histogram' | 'errors' | 'refused'>;

function blockOf(counts: BlockCounts): LoadBlock {
  const { histogram } = counts;
  const at = percentilesOf(histogram);
  return { ...counts, requests: totalOf(histogram), mean: meanOf(histogram), p50: at(50), p99: at(99) };
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
      : blockOf({
          at,
          histogram: mergedHistogram(blocks),
          errors: sum(blocks.map(({ errors }) => errors)),
          refused: sum(blocks.map(({ refused }) => refused)),
        }),
  );
  return merged.toSorted((a, b) => a.at - b.at);
}

/** What an objective looks at, of some time blocks. */
export function objectiveFigures(blocks: readonly BlockCounts[]): SloFigures {
  const histogram = mergedHistogram(blocks);
  const errors = sum(blocks.map((block) => block.errors));
  return { requests: totalOf(histogram), errors, violations: 0, latency: percentilesOf(histogram) };
}

const noOutcomes = () => ({ ok: 0, refused: 0, 'unexpected-429': 0, error: 0, violation: 0, unfinished: 0 });

/** Those that count as errors. A violation is counted on its own. */
const ERRORS: readonly Outcome[] = ['error', 'unexpected-429', 'unfinished'];

/** How many of the requests count as errors. */
export const errorsIn = (outcomes: Readonly<Record<Outcome, number>>): number =>
  sum(ERRORS.map((outcome) => outcomes[outcome]));

/** An HTTP status, not k6's code for a response that never came. */
const isAnswer = (status: string) => Number(status) > 0 && Number(status) < 1000;

type Counts = Pick<LoadFigures, 'statuses' | 'outcomes'> & { readonly histogram: Histogram };

function figuresOf({ statuses, outcomes, histogram }: Counts, seconds: number): LoadFigures {
  const requests = totalOf(statuses);
  const at = percentilesOf(histogram);
  const latency = {
    mean: meanOf(histogram),
    ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), max: at(100) },
    histogram,
  };
  return {
    requests,
    perSecond: seconds === 0 ? 0 : requests / seconds,
    statuses,
    outcomes,
    // The time until a request failed is not a latency.
    latency: Object.keys(statuses).some(isAnswer) ? latency : null,
  };
}

/** Adds up the counts and histograms of several figures: the result is that of one process with all samples. */
export const combine = (parts: readonly LoadFigures[], seconds: number): LoadFigures =>
  figuresOf(
    {
      statuses: added(parts.map(({ statuses }) => statuses)),
      outcomes: { ...noOutcomes(), ...added(parts.map(({ outcomes }) => outcomes)) },
      histogram: mergedHistogram(parts.flatMap(({ latency }) => latency ?? [])),
    },
    seconds,
  );

interface Series extends Pick<LoadSeries, 'stream' | 'operation' | 'plan'> {
  readonly statuses: Record<string, number>;
  readonly outcomes: Record<Outcome, number>;
  /** By their start. */
  readonly blocks: Map<number, { -readonly [Field in keyof BlockCounts]: BlockCounts[Field] }>;
}

/** Takes in samples, and keeps counts and histograms by time blocks, so that memory does not grow with their number. */
export class Samples {
  readonly #plan: Pick<ToldPlan, 'keys' | 'clients'>;
  readonly #personas: string;
  readonly #blockSeconds: number;
  readonly #series = new Map<string, Series>();
  /** What each key has paid for so far. */
  readonly paid = new Map<string, { sent: number; refused: number }>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  /** @param plan tells what positions in samples stand for */
  constructor(plan: Pick<ToldPlan, 'scenario' | 'rate' | 'seconds' | 'keys' | 'clients'>) {
    const facts = scenarioNamed(plan.scenario) ?? CAPACITY_STEP;
    this.#plan = plan;
    this.#personas = facts.personas?.name ?? '';
    this.#blockSeconds = blockSecondsOf({ ...plan, facts });
  }

  /** Takes in samples as lib/report.ts writes them; false if one has a meaning that the plan does not know. */
  add(since: number, samples: Readonly<Record<string, readonly number[]>>): boolean {
    let isKnown = true;
    for (const [name, numbers] of Object.entries(samples)) {
      const [position = '', named, status = '', word] = name.split(' ');
      const operation = LOAD_OPERATIONS.find((one) => one === named);
      const outcome = OUTCOMES.find((one) => one === word);
      const key = position === '' ? undefined : this.#plan.keys[Number(position)];
      if (!outcome || !key || !operation || numbers.length % 2 !== 0) {
        isKnown = false;
        continue;
      }
      const stream = this.#plan.clients.includes(Number(position)) ? this.#personas : ARRIVALS;
      const id = `${stream} ${operation} ${key.plan}`;
      const series: Series = this.#series.get(id) ?? {
        ...{ stream, operation, plan: key.plan },
        ...{ statuses: {}, outcomes: noOutcomes(), blocks: new Map() },
      };
      this.#series.set(id, series);
      const times = numbers.length / 2;
      series.statuses[status] = (series.statuses[status] ?? 0) + times;
      series.outcomes[outcome] += times;
      const { sent, refused } = this.paid.get(key.name) ?? { sent: 0, refused: 0 };
      this.paid.set(key.name, { sent: sent + times, refused: refused + (status === '429' ? times : 0) });
      for (let place = 0; place < numbers.length; place += 2)
        this.#add(series, outcome, since + (numbers[place] ?? 0), numbers[place + 1] ?? 0);
    }
    return isKnown;
  }

  #add({ blocks }: Series, outcome: Outcome, start: number, microseconds: number): void {
    this.#first = Math.min(this.#first, start);
    this.#last = Math.max(this.#last, start + microseconds / 1000);
    const length = this.#blockSeconds * 1000;
    const at = Math.floor(start / length) * length;
    const block = blocks.get(at) ?? { at, histogram: {}, errors: 0, refused: 0 };
    blocks.set(at, block);
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

  /** What an objective looks at, of the blocks that began since `time`, as far as they have arrived. */
  since(time: number): SloFigures {
    const all = [...this.#series.values()].flatMap(({ blocks }) => [...blocks.values()]);
    return objectiveFigures(all.filter(({ at }) => at >= time));
  }

  /** Everything, as the result has it. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.#last - this.#first) / 1000, 0.001);
    return [...this.#series.values()].map(({ blocks, statuses, outcomes, ...names }) => ({
      ...names,
      ...figuresOf({ statuses, outcomes, histogram: mergedHistogram([...blocks.values()]) }, seconds),
      blockSeconds: this.#blockSeconds,
      blocks: [...blocks.values()].map(blockOf).toSorted((a, b) => a.at - b.at),
    }));
  }
}
