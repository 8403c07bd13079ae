/** Whether one run's latency or errors are worse than another's, by a rank test over time blocks; or one's capacity. */
import { round } from '../../lib/slo.ts';
import { mean, median, shiftOf } from '../../lib/statistics.ts';
import type { CapacityResult } from '../capacity/capacity.ts';
import { blocksOf, readingOf } from '../result/figures.ts';
import type { LoadSeries } from '../result/load-result.ts';

export interface CompareOptions {
  /** The tolerated slow-down of typical latency, as a part: 0.04 is 4 %. */
  readonly toleratedSlowdown: number;
}

/** One metric of one operation, base against head. */
export interface CompareFinding {
  readonly metric: string;
  /** Worse or better is it significantly, and by more than is tolerated; unclear, if it may or may not be worse. */
  readonly verdict: 'worse' | 'better' | 'same' | 'unclear';
  readonly actual: string;
}

export interface Comparison {
  readonly findings: readonly CompareFinding[];
  readonly notCompared: readonly string[];
}

/** Consecutive blocks depend on each other; long batches of them hardly do. */
const BATCHES = 20;
const LEAST_BATCHES = 6;
/**
 * How many standard deviations are no chance, for the three metrics of one operation, of two or of all: the chance of a
 * false alarm is 2 % over all of them together (Bonferroni).
 */
const CERTAIN = [2.48, 2.71, 2.85];
/** Those of a 95 % interval. */
const USUALLY_CERTAIN = 1.96;
/** The tail varies more from run to run than the middle. */
const TAIL_FACTOR = 4;
const ERRORS_TOLERATED = 0.001;

type Batches = readonly ReturnType<typeof readingOf>[];

/** What batches of an operation's blocks say, in time, without the first block (warm-up) and the last one (incomplete). */
function batchesOf(series: readonly LoadSeries[]): Batches {
  const ordered = blocksOf(series);
  const inner = ordered.length > LEAST_BATCHES + 2 ? ordered.slice(1, -1) : ordered;
  const length = Math.max(1, Math.ceil(inner.length / BATCHES));
  return Array.from({ length: Math.floor(inner.length / length) }, (_, index) =>
    readingOf(inner.slice(index * length, (index + 1) * length)),
  );
}

/** How the two latencies of a finding are estimated, for the reader of a report that shows others. */
export const ESTIMATOR =
  'p50 and p99 are here the medians over batches of time blocks; a report has those over all requests';

/** Compares the series of two runs, operation by operation. */
export function compareSeries(
  base: readonly LoadSeries[],
  head: readonly LoadSeries[],
  { toleratedSlowdown }: CompareOptions,
): Comparison {
  const notCompared: string[] = [];
  const operations = [...new Set(base.map(({ operation }) => operation))].filter((operation) =>
    head.some((each) => each.operation === operation),
  );
  if (operations.length === 0) notCompared.push('the two have no operation in common');
  const certain = CERTAIN[operations.length - 1] ?? 0;
  const findings = operations.flatMap((operation): CompareFinding[] => {
    const [early = [], late = []] = [base, head].map((series) =>
      batchesOf(series.filter((each) => each.operation === operation)),
    );
    if (Math.min(early.length, late.length) < LEAST_BATCHES) {
      notCompared.push(
        `${operation}: ${early.length} and ${late.length} time blocks, ${LEAST_BATCHES} are needed`,
      );
      return [];
    }
    return [
      compareLatency(operation, 50, [early, late], toleratedSlowdown, certain),
      compareLatency(operation, 99, [early, late], toleratedSlowdown * TAIL_FACTOR, certain),
      compareErrors(operation, [early, late], certain),
    ];
  });
  return { findings, notCompared };
}

/**
 * What an interval shows of a change.
 *
 * @param sure the interval that leaves out what is no chance
 * @param mayBeWorse whether more than is tolerated is still possible
 */
function verdictOn(
  sure: { readonly low: number; readonly high: number },
  tolerated: number,
  mayBeWorse: boolean,
): CompareFinding['verdict'] {
  if (mayBeWorse) return sure.low > tolerated ? 'worse' : 'unclear';
  return sure.high < -tolerated ? 'better' : 'same';
}

type Pair = readonly [base: Batches, head: Batches];

function compareLatency(
  operation: string,
  percentile: number,
  pair: Pair,
  slowdown: number,
  certain: number,
): CompareFinding {
  const [early = [], late = []] = pair.map((batches) =>
    batches.map(({ latency }) => Math.log(Math.max(latency(percentile), 1e-3))),
  );
  const tolerated = Math.log(1 + slowdown);
  const { low, middle, high } = shiftOf(early, late, USUALLY_CERTAIN);
  const ms = (batches: readonly number[]) => `${round(Math.exp(median(batches)))} ms`;
  return {
    metric: `${operation} p${percentile}`,
    verdict: verdictOn(shiftOf(early, late, certain), tolerated, high > tolerated),
    actual:
      `${ms(early)} → ${ms(late)}; pairs of batches differ by ${percent(middle)} (95 %: ${percent(low)} to ${percent(high)}; ` +
      `tolerated ${percent(tolerated)})`,
  };
}

function compareErrors(operation: string, pair: Pair, certain: number): CompareFinding {
  const [early = [], late = []] = pair.map((batches) =>
    batches.map(({ errors, requests }) => errors / requests),
  );
  const mayBeWorse = mean(late) > mean(early) + ERRORS_TOLERATED;
  return {
    metric: `${operation} errors`,
    verdict: verdictOn(shiftOf(early, late, certain), ERRORS_TOLERATED, mayBeWorse),
    actual: `${round(mean(early) * 100)} % → ${round(mean(late) * 100)} %`,
  };
}

/** The logarithm of a ratio as a change: `+4.0 %`. */
function percent(logarithm: number): string {
  const change = (Math.exp(logarithm) - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}

/** Half of a 95 % interval, in the logarithm. */
const reach = ([low, high]: readonly [number, number]) => Math.log(high / low) / 2;

/** Compares two capacities. Both intervals make the interval of their ratio, as of two independent estimates. */
export function compareCapacities(
  base: CapacityResult,
  head: CapacityResult,
  { toleratedSlowdown }: CompareOptions,
): Comparison {
  const notCompared = [base, head].flatMap(({ capacity, reason }, index) =>
    capacity === null ? [`${index === 0 ? 'base' : 'head'} has no capacity: ${reason}`] : [],
  );
  if (base.capacity === null || head.capacity === null || base.interval === null || head.interval === null)
    return { findings: [], notCompared };
  // A lower capacity counts as a loss, as a longer latency does.
  const loss = Math.log(base.capacity / head.capacity);
  const both = Math.hypot(reach(base.interval), reach(head.interval));
  const [low, high, tolerated] = [loss - both, loss + both, -Math.log(1 - toleratedSlowdown)];
  const finding: CompareFinding = {
    metric: 'capacity',
    verdict: verdictOn({ low, high }, tolerated, high > tolerated),
    actual:
      `${round(base.capacity)}/s → ${round(head.capacity)}/s, ${percent(-loss)} ` +
      `(95 %: ${percent(-high)} to ${percent(-low)}; tolerated ${percent(-tolerated)})`,
  };
  return { findings: [finding], notCompared: [] };
}
