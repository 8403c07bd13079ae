/** Counts and latencies: taken in sample by sample, added up, and read back from a result. */
import { groupBy } from '../../../spec/group-by.ts';
import { scenarioNamed } from '../../lib/catalogue.ts';
import type { LoadPlan } from '../../lib/messages.ts';
import { ARRIVALS, LOAD_OPERATIONS, OUTCOMES, type Outcome } from '../../lib/scenario.ts';
import { sum } from '../../lib/statistics.ts';
import type { Histogram, LoadFigures, LoadSeries, StoredBlock } from './load-result.ts';

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

const noCounts = () => ({
  statuses: {},
  outcomes: { ok: 0, refused: 0, 'unexpected-429': 0, error: 0, violation: 0, unfinished: 0 },
  histogram: {},
});

/** Those that count as errors. A violation is counted on its own. */
const ERRORS: readonly Outcome[] = ['error', 'unexpected-429', 'unfinished'];

/** How many of the requests count as errors. */
export const errorsIn = (outcomes: Readonly<Record<Outcome, number>>): number =>
  sum(ERRORS.map((outcome) => outcomes[outcome]));

/** Requests as they are counted. */
type Counts = Pick<StoredBlock, 'statuses' | 'outcomes' | 'histogram'>;

/** Counts added up: the result is that of one process with all samples. */
const merged = (all: readonly Counts[]): Counts => ({
  statuses: added(all.map(({ statuses }) => statuses)),
  outcomes: { ...noCounts().outcomes, ...added(all.map(({ outcomes }) => outcomes)) },
  histogram: added(all.map(({ histogram }) => histogram)),
});

/** What some time blocks say together; times are in milliseconds, NaN if nothing was counted. */
export function readingOf(blocks: readonly Counts[]) {
  const counts = merged(blocks);
  const { outcomes, histogram } = counts;
  // An object has whole numbers in their order.
  const durations = Object.entries(histogram).map(([time, times]) => [Number(time), times] as const);
  const requests = sum(durations.map(([, times]) => times));
  return {
    ...counts,
    requests,
    errors: errorsIn(outcomes),
    violations: outcomes.violation,
    refused: outcomes.refused,
    mean: sum(durations.map(([microseconds, times]) => microseconds * times)) / requests / 1000,
    latency(percentile: number): number {
      let left = (requests * percentile) / 100;
      const reached = durations.findIndex(([, times]) => {
        left -= times;
        return left <= 1e-9;
      });
      return Number(durations.at(reached)?.[0]) / 1000;
    },
  };
}

type Names = Pick<LoadSeries, 'stream' | 'operation' | 'plan' | 'blockSeconds'>;
type WithBlocks = Pick<LoadSeries, 'blocks'>;

const countsOf = (all: readonly WithBlocks[]) => all.flatMap(({ blocks }) => blocks);
const byTime = (all: readonly WithBlocks[]) =>
  [...groupBy(countsOf(all), ({ at }) => at)].toSorted(([a], [b]) => a - b);

/** The blocks of several series, read, in time; `at` is a block's start, milliseconds since 1970. */
export const blocksOf = (all: readonly WithBlocks[]) =>
  byTime(all).map(([at, blocks]) => ({ at, ...readingOf(blocks) }));
export type LoadBlock = ReturnType<typeof blocksOf>[number];

/** The figures of series together. */
export function figuresOf(all: readonly WithBlocks[], seconds: number): LoadFigures {
  const { requests, statuses, outcomes, mean, latency: at } = readingOf(countsOf(all));
  const latency = { mean, p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), max: at(100) };
  return {
    requests,
    perSecond: seconds === 0 ? 0 : requests / seconds,
    statuses,
    outcomes,
    // The time until a request failed is not a latency: then k6's code is there, not a status.
    latency: Object.keys(statuses).some((code) => Number(code) > 0 && Number(code) < 1000) ? latency : null,
  };
}

/** The same series of several processes as one. */
export function mergedSeries(
  all: readonly [Names & WithBlocks, ...WithBlocks[]],
  seconds: number,
): LoadSeries {
  const blocks = byTime(all).map(([at, same]) => ({ at, ...merged(same) }));
  return { ...all[0], ...figuresOf(all, seconds), blocks };
}

/** A run has so many time blocks, or fewer. */
const USUAL_BLOCKS = 120;

/** What samples need of a plan to be read. */
type SampledPlan = Pick<LoadPlan, 'scenario' | 'seconds' | 'keys' | 'clients'>;

/** Takes in samples, and keeps counts and histograms by time blocks, so that memory does not grow with their number. */
export class Samples {
  readonly #plan: SampledPlan;
  readonly #series = new Map<string, Names & WithBlocks>();
  /** What each key has paid for so far. */
  readonly paid = new Map<string, { sent: number; refused: number }>();
  /** Start of the first request and end of the last one, in milliseconds since 1970; `last` is 0 if there was none. */
  first = Number.POSITIVE_INFINITY;
  last = 0;

  /** @param plan tells what positions in samples stand for */
  constructor(plan: SampledPlan) {
    this.#plan = plan;
  }

  /** Takes in samples as lib/run.ts writes them; false if one has a meaning that the plan does not know. */
  add(since: number, samples: Readonly<Record<string, readonly number[]>>): boolean {
    const { scenario, seconds, keys, clients } = this.#plan;
    const facts = scenarioNamed(scenario);
    const { blockSeconds = Math.max(1, Math.ceil(seconds / USUAL_BLOCKS)) } = facts;
    const length = blockSeconds * 1000;
    let isKnown = true;
    for (const [name, numbers] of Object.entries(samples)) {
      const [position = '', named, status = '', word] = name.split(' ');
      const operation = LOAD_OPERATIONS.find((one) => one === named);
      const outcome = OUTCOMES.find((one) => one === word);
      const key = position === '' ? undefined : keys[Number(position)];
      if (!outcome || !key || !operation || numbers.length % 2 !== 0) {
        isKnown = false;
        continue;
      }
      const { plan } = key;
      const stream = clients.includes(Number(position)) ? (facts.personas?.name ?? '') : ARRIVALS;
      const id = `${stream} ${operation} ${plan}`;
      const series = this.#series.get(id) ?? { stream, operation, plan, blockSeconds, blocks: [] };
      this.#series.set(id, series);
      const times = numbers.length / 2;
      const { sent, refused } = this.paid.get(key.name) ?? { sent: 0, refused: 0 };
      this.paid.set(key.name, { sent: sent + times, refused: refused + (status === '429' ? times : 0) });
      for (let place = 0; place < numbers.length; place += 2) {
        const [start, microseconds] = [since + (numbers[place] ?? 0), numbers[place + 1] ?? 0];
        const at = Math.floor(start / length) * length;
        const known = series.blocks.findLast((block) => block.at === at);
        const block: StoredBlock = known ?? { at, ...noCounts() };
        if (known === undefined) series.blocks.push(block);
        const { statuses, outcomes, histogram } = block;
        statuses[status] = (statuses[status] ?? 0) + 1;
        outcomes[outcome] += 1;
        record(histogram, microseconds);
        this.first = Math.min(this.first, start);
        this.last = Math.max(this.last, start + microseconds / 1000);
      }
    }
    return isKnown;
  }

  /** What the blocks say that began since `time`, as far as they have arrived. */
  since(time: number) {
    return readingOf(countsOf([...this.#series.values()]).filter(({ at }) => at >= time));
  }

  /** Everything, as the result has it. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.last - this.first) / 1000, 0.001);
    return [...this.#series.values()].map((one) => mergedSeries([one], seconds));
  }
}
