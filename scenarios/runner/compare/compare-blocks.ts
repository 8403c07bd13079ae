/** Whether one run's latency or errors are worse than another's: a rank test over time blocks. */
import { cumulativeStdNormalProbability, mean, median, quantile, wilcoxonRankSum } from 'simple-statistics';
import { round } from '../../lib/slo.ts';
import type { LoadBlock, LoadSeries } from '../result/load-result.ts';

export interface CompareOptions {
  /** A slow-down of typical latency that nobody minds, as a part: 0.04 is 4 %. */
  readonly toleratedSlowdown: number;
}

/** One metric of one operation, base against head. */
export interface CompareFinding {
  readonly metric: string;
  /** Worse than tolerated, and that is no chance. */
  readonly alarm: boolean;
  /** Better by more than tolerated, and that is no chance. */
  readonly better: boolean;
  /** Head over base; null for errors. */
  readonly ratio: number | null;
  /** 95 % confidence interval of the ratio. */
  readonly interval: readonly [number, number] | null;
  /** How often chance alone makes so large a difference from what is tolerated. */
  readonly p: number;
  readonly actual: string;
}

export interface Comparison {
  readonly findings: readonly CompareFinding[];
  /** Why a metric could not be compared. */
  readonly notCompared: readonly string[];
}

/** Consecutive blocks depend on each other; a few long batches hardly do. */
const BATCHES = 20;
const LEAST_BATCHES = 6;
/** Over all metrics of a comparison together (Bonferroni). */
const ALARMS_BY_CHANCE = 0.02;
/** The tail varies more from run to run than the middle. */
const TAIL_FACTOR = 4;
const ERRORS_TOLERATED = 0.001;

type Blocks = readonly LoadBlock[];

/** The blocks of an operation over streams and plans, in time, without the first (warm-up) and last (cut short). */
function blocksOf(series: readonly LoadSeries[], operation: string): Blocks[] {
  const byTime = new Map<number, LoadBlock[]>();
  for (const each of series) {
    if (each.operation !== operation) continue;
    for (const block of each.blocks) byTime.set(block.at, [...(byTime.get(block.at) ?? []), block]);
  }
  const ordered = [...byTime].toSorted(([a], [b]) => a - b).map(([, blocks]) => blocks);
  const inner = ordered.length > LEAST_BATCHES + 2 ? ordered.slice(1, -1) : ordered;
  const length = Math.max(1, Math.ceil(inner.length / BATCHES));
  return Array.from({ length: Math.floor(inner.length / length) }, (_, index) =>
    inner.slice(index * length, (index + 1) * length).flat(),
  );
}

function weighted(blocks: Blocks, value: (block: LoadBlock) => number): number {
  const requests = blocks.reduce((sum, block) => sum + block.requests, 0);
  return blocks.reduce((sum, block) => sum + value(block) * block.requests, 0) / Math.max(requests, 1);
}

/** One-sided: how often chance makes `head` so much larger than `base`. */
function chanceOfLarger(base: readonly number[], head: readonly number[]): number {
  const [n, m] = [head.length, base.length];
  const rankSum = wilcoxonRankSum([...head], [...base]);
  const expected = (n * (n + m + 1)) / 2;
  const deviation = Math.sqrt((n * m * (n + m + 1)) / 12);
  return 1 - cumulativeStdNormalProbability((rankSum - expected - 0.5) / deviation);
}

/** Hodges and Lehmann's shift between two samples, with its interval from the pairwise differences. */
function shift(
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
    return [
      latencyFinding(`${operation} p50`, early, late, ({ p50 }) => p50, toleratedSlowdown, threshold),
      latencyFinding(
        `${operation} p99`,
        early,
        late,
        ({ p99 }) => p99,
        toleratedSlowdown * TAIL_FACTOR,
        threshold,
      ),
      errorFinding(`${operation} errors`, early, late, threshold),
    ];
  });
  return { findings, notCompared };
}

function latencyFinding(
  metric: string,
  base: readonly Blocks[],
  head: readonly Blocks[],
  value: (block: LoadBlock) => number,
  tolerated: number,
  threshold: number,
): CompareFinding {
  const logs = (batches: readonly Blocks[]) =>
    batches.map((batch) => Math.log(Math.max(weighted(batch, value), 1e-3)));
  const [early, late] = [logs(base), logs(head)];
  const allowed = Math.log(1 + tolerated);
  const { estimate, low, high } = shift(early, late);
  const p = chanceOfLarger(
    early.map((each) => each + allowed),
    late,
  );
  const pBetter = chanceOfLarger(
    late.map((each) => each + allowed),
    early,
  );
  const [ratio, from, to] = [Math.exp(estimate), Math.exp(low), Math.exp(high)];
  const ms = (batches: readonly number[]) => round(Math.exp(median([...batches])));
  return {
    metric,
    alarm: p < threshold,
    better: pBetter < threshold,
    ratio,
    interval: [from, to],
    p,
    actual:
      `${ms(early)} ms → ${ms(late)} ms, ${percent(ratio)} (95 %: ${percent(from)} to ${percent(to)}; ` +
      `tolerated ${percent(1 + tolerated)})`,
  };
}

function errorFinding(
  metric: string,
  base: readonly Blocks[],
  head: readonly Blocks[],
  threshold: number,
): CompareFinding {
  const parts = (batches: readonly Blocks[]) =>
    batches.map((batch) => weighted(batch, ({ errors, requests }) => errors / Math.max(requests, 1)));
  const [early, late] = [parts(base), parts(head)];
  const p = chanceOfLarger(
    early.map((part) => part + ERRORS_TOLERATED),
    late,
  );
  const pBetter = chanceOfLarger(
    late.map((part) => part + ERRORS_TOLERATED),
    early,
  );
  return {
    metric,
    alarm: p < threshold && mean(late) > mean(early) + ERRORS_TOLERATED,
    better: pBetter < threshold,
    ratio: null,
    interval: null,
    p,
    actual: `${round(mean(early) * 100)} % → ${round(mean(late) * 100)} %`,
  };
}

function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}
