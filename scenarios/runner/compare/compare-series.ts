/** Whether one run's latency or errors are worse than another's: a rank test over time blocks. */
import { round } from '../../lib/slo.ts';
import { mean, median, pairsDeviation, quantile, rankShift, sum } from '../../lib/statistics.ts';
import { mergedBlocks, mergedHistogram, percentileOf } from '../result/figures.ts';
import type { LoadBlock, LoadSeries } from '../result/load-result.ts';

export interface CompareOptions {
  /** The tolerated slow-down of typical latency, as a part: 0.04 is 4 %. */
  readonly toleratedSlowdown: number;
}

/** One metric of one operation, base against head. */
export interface CompareFinding {
  readonly metric: string;
  /** Significantly worse than tolerated. */
  readonly alarm: boolean;
  /** Significantly better, by more than the tolerance. */
  readonly better: boolean;
  /** It may or may not be worse than tolerated. */
  readonly undecided: boolean;
  /** Head over base; null for errors. */
  readonly ratio: number | null;
  /** 95 % confidence interval of the ratio. */
  readonly interval: readonly [number, number] | null;
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
function blocksOf(series: readonly LoadSeries[], operation: string): Blocks[] {
  const ordered = mergedBlocks(series.filter((each) => each.operation === operation));
  const inner = ordered.length > LEAST_BATCHES + 2 ? ordered.slice(1, -1) : ordered;
  const length = Math.max(1, Math.ceil(inner.length / BATCHES));
  return Array.from({ length: Math.floor(inner.length / length) }, (_, index) =>
    inner.slice(index * length, (index + 1) * length),
  );
}

function weightedMean(blocks: Blocks, value: (block: LoadBlock) => number): number {
  const requests = sum(blocks.map((block) => block.requests));
  return sum(blocks.map((block) => value(block) * block.requests)) / Math.max(requests, 1);
}

/** The Hodges–Lehmann shift between two samples, with a 95 % interval from the pairwise differences. */
function estimateShift(
  base: readonly number[],
  head: readonly number[],
): { estimate: number; low: number; high: number } {
  const differences = head.flatMap((late) => base.map((early) => late - early));
  const reach = (1.96 * pairsDeviation(head.length, base.length)) / differences.length;
  return {
    estimate: median(differences),
    low: quantile(differences, Math.max(0, 0.5 - reach)),
    high: quantile(differences, Math.min(1, 0.5 + reach)),
  };
}

/** How the two latencies of a finding are estimated, for the reader of a report that shows others. */
export const ESTIMATOR =
  'p50 and p99 are here the medians over batches of time blocks; a report has those over all requests';

/** A percentile over all requests of an operation, as a report shows it. */
function overall(series: readonly LoadSeries[], operation: string, percentile: number): number {
  const own = series.filter((each) => each.operation === operation);
  return percentileOf(mergedHistogram(own.flatMap(({ latency }) => latency ?? [])), percentile);
}

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
  const findings = operations.flatMap((operation) => {
    const [early, late] = [blocksOf(base, operation), blocksOf(head, operation)];
    if (Math.min(early.length, late.length) < LEAST_BATCHES) {
      notCompared.push(
        `${operation}: ${early.length} and ${late.length} time blocks, ${LEAST_BATCHES} are needed`,
      );
      return [];
    }
    const latency = (percentile: 'p50' | 'p99', tolerated: number) => {
      const finding = latencyFinding(percentile, early, late, tolerated, certain);
      const whole = [base, head].map((series) => overall(series, operation, Number(percentile.slice(1))));
      const reported = whole.map((ms) => `${round(ms)} ms`).join(' → ');
      const actual = finding.actual.startsWith(reported)
        ? finding.actual
        : `${finding.actual}; over all requests ${reported}`;
      return { metric: `${operation} ${percentile}`, ...finding, actual };
    };
    return [
      latency('p50', toleratedSlowdown),
      latency('p99', toleratedSlowdown * TAIL_FACTOR),
      { metric: `${operation} errors`, ...errorFinding(early, late, certain) },
    ];
  });
  return { findings, notCompared };
}

/** Whether `head` is significantly larger or smaller than `base`, by more than the tolerance. */
function compareRanks(base: readonly number[], head: readonly number[], tolerated: number, certain: number) {
  const beyond = (values: readonly number[]) => values.map((value) => value + tolerated);
  return {
    alarm: rankShift(beyond(base), head) > certain,
    better: rankShift(beyond(head), base) > certain,
  };
}

function latencyFinding(
  percentile: 'p50' | 'p99',
  base: readonly Blocks[],
  head: readonly Blocks[],
  tolerated: number,
  certain: number,
): Omit<CompareFinding, 'metric'> {
  const logs = (batches: readonly Blocks[]) => {
    const means = batches.map((batch) => weightedMean(batch, (block) => block[percentile]));
    return means.map((mean) => Math.log(Math.max(mean, 1e-3)));
  };
  const [early, late] = [logs(base), logs(head)];
  const test = compareRanks(early, late, Math.log(1 + tolerated), certain);
  const { estimate, low, high } = estimateShift(early, late);
  const [ratio, from, to] = [Math.exp(estimate), Math.exp(low), Math.exp(high)];
  const ms = (batches: readonly number[]) => round(Math.exp(median(batches)));
  return {
    ...test,
    undecided: !test.alarm && to > 1 + tolerated,
    ratio,
    interval: [from, to],
    actual:
      `${ms(early)} ms → ${ms(late)} ms, ${percent(ratio)} (95 %: ${percent(from)} to ${percent(to)}; ` +
      `tolerated ${percent(1 + tolerated)})`,
  };
}

function errorFinding(
  base: readonly Blocks[],
  head: readonly Blocks[],
  certain: number,
): Omit<CompareFinding, 'metric'> {
  const parts = (batches: readonly Blocks[]) =>
    batches.map((batch) => weightedMean(batch, ({ errors, requests }) => errors / Math.max(requests, 1)));
  const [early, late] = [parts(base), parts(head)];
  const test = compareRanks(early, late, ERRORS_TOLERATED, certain);
  const isMore = mean(late) > mean(early) + ERRORS_TOLERATED;
  return {
    ...test,
    alarm: test.alarm && isMore,
    undecided: !test.alarm && isMore,
    ratio: null,
    interval: null,
    actual: `${round(mean(early) * 100)} % → ${round(mean(late) * 100)} %`,
  };
}

/** A ratio as a change: `+4.0 %`. */
export function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}
