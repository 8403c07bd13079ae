/** Whether one run's latency or errors are worse than another's, by a rank test over time blocks; or one's capacity. */
import { round } from '../../lib/slo.ts';
import { mean, median, shiftOf } from '../../lib/statistics.ts';
import type { CapacityResult } from '../capacity/result.ts';
import { blocksOf, readingOf } from '../result/figures.ts';
import type { LoadSeries } from '../result/load-result.ts';

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

/**
 * Compares the series of two runs, operation by operation.
 *
 * @param slowdown the tolerated one of typical latency, as a part: 0.04 is 4 %
 */
export function compareSeries(
  base: readonly LoadSeries[],
  head: readonly LoadSeries[],
  slowdown: number,
): Comparison {
  const notCompared: string[] = [];
  const operations = [...new Set(base.map(({ operation }) => operation))].filter((operation) =>
    head.some((each) => each.operation === operation),
  );
  if (operations.length === 0) notCompared.push('the two have no operation in common');
  const certain = CERTAIN[operations.length - 1] ?? 0;
  const findings = operations.flatMap((operation) => {
    const [early = [], late = []] = [base, head].map((series) =>
      batchesOf(series.filter((each) => each.operation === operation)),
    );
    if (Math.min(early.length, late.length) >= LEAST_BATCHES)
      return compareBatches(operation, early, late, slowdown, certain);
    notCompared.push(
      `${operation}: ${early.length} and ${late.length} time blocks, ${LEAST_BATCHES} are needed`,
    );
    return [];
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

/** The three findings on one operation. */
function compareBatches(
  operation: string,
  early: Batches,
  late: Batches,
  slowdown: number,
  certain: number,
): CompareFinding[] {
  const ms = (logarithms: readonly number[]) => `${round(Math.exp(median(logarithms)))} ms`;
  const latencies = ([50, 99] as const).map((percentile): CompareFinding => {
    const tolerated = Math.log(1 + slowdown * (percentile === 99 ? TAIL_FACTOR : 1));
    const logarithms = (batches: Batches) =>
      batches.map(({ latency }) => Math.log(Math.max(latency(percentile), 1e-3)));
    const [before, after] = [logarithms(early), logarithms(late)];
    const { low, middle, high } = shiftOf(before, after, USUALLY_CERTAIN);
    return {
      metric: `${operation} p${percentile}`,
      verdict: verdictOn(shiftOf(before, after, certain), tolerated, high > tolerated),
      actual:
        `${ms(before)} → ${ms(after)}; pairs of batches differ by ${percent(middle)} (95 %: ${percent(low)} to ${percent(high)}; ` +
        `tolerated ${percent(tolerated)})`,
    };
  });
  const errorParts = (batches: Batches) => batches.map(({ errors, requests }) => errors / requests);
  const [before, after] = [errorParts(early), errorParts(late)];
  const mayBeWorse = mean(after) > mean(before) + ERRORS_TOLERATED;
  return [
    ...latencies,
    {
      metric: `${operation} errors`,
      verdict: verdictOn(shiftOf(before, after, certain), ERRORS_TOLERATED, mayBeWorse),
      actual: `${round(mean(before) * 100)} % → ${round(mean(after) * 100)} %`,
    },
  ];
}

/** The logarithm of a ratio as a change: `+4.0 %`. */
function percent(logarithm: number): string {
  const change = (Math.exp(logarithm) - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}

/** Half of a 95 % interval, in the logarithm. */
const reach = ([low, high]: readonly [number, number]) => Math.log(high / low) / 2;

/**
 * Compares two capacities. Both intervals make the interval of their ratio, as of two independent estimates.
 *
 * @param tolerance the tolerated loss, as a part
 */
export function compareCapacities(base: CapacityResult, head: CapacityResult, tolerance: number): Comparison {
  const notCompared = [base, head].flatMap(({ capacity, reason }, index) =>
    capacity === null ? [`${index === 0 ? 'base' : 'head'} has no capacity: ${reason}`] : [],
  );
  if (base.capacity === null || head.capacity === null || base.interval === null || head.interval === null)
    return { findings: [], notCompared };
  // A lower capacity counts as a loss, as a longer latency does.
  const loss = Math.log(base.capacity / head.capacity);
  const both = Math.hypot(reach(base.interval), reach(head.interval));
  const [low, high, tolerated] = [loss - both, loss + both, -Math.log(1 - tolerance)];
  const finding: CompareFinding = {
    metric: 'capacity',
    verdict: verdictOn({ low, high }, tolerated, high > tolerated),
    actual:
      `${round(base.capacity)}/s → ${round(head.capacity)}/s, ${percent(-loss)} ` +
      `(95 %: ${percent(-high)} to ${percent(-low)}; tolerated ${percent(-tolerated)})`,
  };
  return { findings: [finding], notCompared: [] };
}
