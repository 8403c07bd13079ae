/** Whether one run's latency or errors are worse than another's: a rank test over time blocks. */
import {
  cumulativeStdNormalProbability,
  interquartileRange,
  mean,
  median,
  quantile,
  sum,
  wilcoxonRankSum,
} from 'simple-statistics';
import { round } from '../../lib/slo.ts';
import { mergedBlocks } from '../result/figures.ts';
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
  /** The p-value: how often chance alone makes a difference this large. */
  readonly p: number;
  readonly actual: string;
  /** Says how the time blocks scatter differently around the same median, if they do. */
  readonly spread?: string;
}

export interface Comparison {
  readonly findings: readonly CompareFinding[];
  readonly notCompared: readonly string[];
}

/** Consecutive blocks depend on each other; long batches of them hardly do. */
const BATCHES = 20;
const LEAST_BATCHES = 6;
/** The chance of a false alarm, over all metrics of a comparison together (Bonferroni). */
const ALARMS_BY_CHANCE = 0.02;
/** The tail varies more from run to run than the middle. */
const TAIL_FACTOR = 4;
const ERRORS_TOLERATED = 0.001;
/** The p-value for a note on scatter. It is strict because consecutive blocks depend on each other. */
const SPREAD_BY_CHANCE = 0.001;

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

/** One-sided Wilcoxon test: how often chance makes `head` this much larger than `base`. */
function chanceOfLarger(base: readonly number[], head: readonly number[]): number {
  const [n, m] = [head.length, base.length];
  const rankSum = wilcoxonRankSum([...head], [...base]);
  const expected = (n * (n + m + 1)) / 2;
  const deviation = Math.sqrt((n * m * (n + m + 1)) / 12);
  return 1 - cumulativeStdNormalProbability((rankSum - expected - 0.5) / deviation);
}

/** The Hodges–Lehmann shift between two samples, with a 95 % interval from the pairwise differences. */
function estimateShift(
  base: readonly number[],
  head: readonly number[],
): { estimate: number; low: number; high: number } {
  const differences = head.flatMap((late) => base.map((early) => late - early));
  const [n, m] = [head.length, base.length];
  const reach = (1.96 * Math.sqrt((n * m * (n + m + 1)) / 12)) / (n * m);
  return {
    estimate: median(differences),
    low: quantile(differences, Math.max(0, 0.5 - reach)),
    high: quantile(differences, Math.min(1, 0.5 + reach)),
  };
}

/** How often chance makes two distributions differ this much (Kolmogorov–Smirnov test, asymptotic). */
export function chanceOfDifference(base: readonly number[], head: readonly number[]): number {
  const below = (sample: readonly number[], limit: number) =>
    sample.filter((value) => value <= limit).length / sample.length;
  const distance = Math.max(...[...base, ...head].map((at) => Math.abs(below(base, at) - below(head, at))));
  const size = Math.sqrt((base.length * head.length) / (base.length + head.length));
  const lambda = size * distance;
  const terms = Array.from({ length: 20 }, (_, index) => {
    const k = index + 1;
    return (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * (k * lambda) ** 2);
  });
  // Below this limit the series converges slowly, and to 1.
  return lambda < 0.3 ? 1 : Math.min(1, sum(terms));
}

/** Describes a spread that changed although the median did not; undefined if it did not change. */
function spreadChange(base: readonly Blocks[], head: readonly Blocks[]): string | undefined {
  const medians = (batches: readonly Blocks[]) => batches.flat().map(({ p50 }) => p50);
  const [early, late] = [medians(base), medians(head)];
  const around = (values: readonly number[]) => {
    const middle = median([...values]);
    return values.map((value) => value / middle);
  };
  if (chanceOfDifference(around(early), around(late)) > SPREAD_BY_CHANCE) return undefined;
  const [before, after] = [early, late].map((values) => interquartileRange([...values]));
  if (before === undefined || after === undefined) return undefined;
  return `the same median, but its time blocks ${after > before ? 'scatter more' : 'scatter less'}: half of them within ${round(before)} ms → ${round(after)} ms`;
}

/** Compares the series of two runs, operation by operation. */
export function compareBlocks(
  base: readonly LoadSeries[],
  head: readonly LoadSeries[],
  { toleratedSlowdown }: CompareOptions,
): Comparison {
  const notCompared: string[] = [];
  const operations = [...new Set(base.map(({ operation }) => operation))].filter((operation) =>
    head.some((each) => each.operation === operation),
  );
  if (operations.length === 0) notCompared.push('the two have no operation in common');
  const threshold = ALARMS_BY_CHANCE / Math.max(1, operations.length * 3);
  const findings = operations.flatMap((operation) => {
    const [early, late] = [blocksOf(base, operation), blocksOf(head, operation)];
    if (Math.min(early.length, late.length) < LEAST_BATCHES) {
      notCompared.push(
        `${operation}: ${early.length} and ${late.length} time blocks, ${LEAST_BATCHES} are needed`,
      );
      return [];
    }
    const latency = (percentile: 'p50' | 'p99', tolerated: number) => ({
      metric: `${operation} ${percentile}`,
      ...latencyFinding(percentile, early, late, tolerated, threshold),
    });
    const middle = latency('p50', toleratedSlowdown);
    const spread = middle.alarm || middle.better ? undefined : spreadChange(early, late);
    return [
      { ...middle, ...(spread === undefined ? {} : { spread }) },
      latency('p99', toleratedSlowdown * TAIL_FACTOR),
      { metric: `${operation} errors`, ...errorFinding(early, late, threshold) },
    ];
  });
  return { findings, notCompared };
}

/** Whether `head` is significantly larger or smaller than `base`, by more than the tolerance. */
function compareRanks(
  base: readonly number[],
  head: readonly number[],
  tolerated: number,
  threshold: number,
) {
  const beyond = (values: readonly number[]) => values.map((value) => value + tolerated);
  const p = chanceOfLarger(beyond(base), head);
  return { p, alarm: p < threshold, better: chanceOfLarger(beyond(head), base) < threshold };
}

function latencyFinding(
  percentile: 'p50' | 'p99',
  base: readonly Blocks[],
  head: readonly Blocks[],
  tolerated: number,
  threshold: number,
): Omit<CompareFinding, 'metric'> {
  const logs = (batches: readonly Blocks[]) =>
    batches.map((batch) =>
      Math.log(
        Math.max(
          weightedMean(batch, (block) => block[percentile]),
          1e-3,
        ),
      ),
    );
  const [early, late] = [logs(base), logs(head)];
  const test = compareRanks(early, late, Math.log(1 + tolerated), threshold);
  const { estimate, low, high } = estimateShift(early, late);
  const [ratio, from, to] = [Math.exp(estimate), Math.exp(low), Math.exp(high)];
  const ms = (batches: readonly number[]) => round(Math.exp(median([...batches])));
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
  threshold: number,
): Omit<CompareFinding, 'metric'> {
  const parts = (batches: readonly Blocks[]) =>
    batches.map((batch) => weightedMean(batch, ({ errors, requests }) => errors / Math.max(requests, 1)));
  const [early, late] = [parts(base), parts(head)];
  const test = compareRanks(early, late, ERRORS_TOLERATED, threshold);
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

function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}
