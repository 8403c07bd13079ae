/** Whether one run's latency or errors are worse than another's: a rank test over time blocks. */
import { round } from '../../lib/slo.ts';
import { mean, median, pairsDeviation, quantile, rankShift, sum } from '../../lib/statistics.ts';
import { mergedBlocks } from '../result/figures.ts';
import type { LoadBlock, LoadSeries } from '../result/load-result.ts';

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
/** The tail varies more from run to run than the middle. */
const TAIL_FACTOR = 4;
const ERRORS_TOLERATED = 0.001;

type Blocks = readonly LoadBlock[];

/** Batches of an operation's blocks in time order, without the first block (warm-up) and the last one (incomplete). */
function batchesOf(series: readonly LoadSeries[]): Blocks[] {
  const ordered = mergedBlocks(series);
  const inner = ordered.length > LEAST_BATCHES + 2 ? ordered.slice(1, -1) : ordered;
  const length = Math.max(1, Math.ceil(inner.length / BATCHES));
  return Array.from({ length: Math.floor(inner.length / length) }, (_, index) =>
    inner.slice(index * length, (index + 1) * length),
  );
}

/** The mean of each batch, by the number of requests. */
function means(batches: readonly Blocks[], value: (block: LoadBlock) => number): number[] {
  return batches.map((blocks) => {
    const requests = sum(blocks.map((block) => block.requests));
    return sum(blocks.map((block) => value(block) * block.requests)) / Math.max(requests, 1);
  });
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
    const latency = (percentile: 'p50' | 'p99', tolerated: number) => ({
      metric: `${operation} ${percentile}`,
      ...compareLatency(percentile, early, late, tolerated, certain),
    });
    return [
      latency('p50', toleratedSlowdown),
      latency('p99', toleratedSlowdown * TAIL_FACTOR),
      { metric: `${operation} errors`, ...compareErrors(early, late, certain) },
    ];
  });
  return { findings, notCompared };
}

/** What the batches of two runs show; `certain` is as many standard deviations as are no chance. */
function verdictOf(
  early: readonly number[],
  late: readonly number[],
  tolerated: number,
  certain: number,
  mayBeWorse: boolean,
): CompareFinding['verdict'] {
  /** Whether `head` is significantly larger than `base`, by more than the tolerance. */
  const isLarger = (head: readonly number[], base: readonly number[]) =>
    rankShift(
      base.map((value) => value + tolerated),
      head,
    ) > certain;
  if (mayBeWorse) return isLarger(late, early) ? 'worse' : 'unclear';
  return isLarger(early, late) ? 'better' : 'same';
}

function compareLatency(
  percentile: 'p50' | 'p99',
  base: readonly Blocks[],
  head: readonly Blocks[],
  slowdown: number,
  certain: number,
): Omit<CompareFinding, 'metric'> {
  const logs = (batches: readonly Blocks[]) =>
    means(batches, (block) => block[percentile]).map((ms) => Math.log(Math.max(ms, 1e-3)));
  const [early, late] = [logs(base), logs(head)];
  // The Hodges–Lehmann shift, with a 95 % interval from the pairwise differences.
  const shifts = late.flatMap((after) => early.map((before) => after - before));
  const reach = (1.96 * pairsDeviation(late.length, early.length)) / shifts.length;
  const change = (part: number) => Math.exp(quantile(shifts, Math.min(1, Math.max(0, part))));
  const high = change(0.5 + reach);
  const tolerated = 1 + slowdown;
  const ms = (batches: readonly number[]) => `${round(Math.exp(median(batches)))} ms`;
  return {
    verdict: verdictOf(early, late, Math.log(tolerated), certain, high > tolerated),
    actual:
      `${ms(early)} → ${ms(late)}; pairs of batches differ by ${percent(change(0.5))} (95 %: ${percent(change(0.5 - reach))} to ${percent(high)}; ` +
      `tolerated ${percent(tolerated)})`,
  };
}

function compareErrors(
  base: readonly Blocks[],
  head: readonly Blocks[],
  certain: number,
): Omit<CompareFinding, 'metric'> {
  const parts = (batches: readonly Blocks[]) =>
    means(batches, ({ errors, requests }) => errors / Math.max(requests, 1));
  const [early, late] = [parts(base), parts(head)];
  const mayBeWorse = mean(late) > mean(early) + ERRORS_TOLERATED;
  return {
    verdict: verdictOf(early, late, ERRORS_TOLERATED, certain, mayBeWorse),
    actual: `${round(mean(early) * 100)} % → ${round(mean(late) * 100)} %`,
  };
}

/** A ratio as a change: `+4.0 %`. */
export function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}
