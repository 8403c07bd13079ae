/** Whether a step of constant rate holds an objective, and would still hold it later. */
import { linearRegression, mean, sum } from 'simple-statistics';
import { firstBroken, latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import { mergedBlocks, mergedHistogram, percentileOf, sloFigures } from '../result/figures.ts';
import type { LoadBlock, LoadResult } from '../result/load-result.ts';
import type { CapacityStep } from './capacity.ts';

export type StepJudgement = Pick<CapacityStep, 'held' | 'reason' | 'p50' | 'p99' | 'errorPart' | 'growth'>;

/** Above the capacity a queue grows without end, however slowly. A rate must hold its objective for at least this long. */
export const SUSTAINED_SECONDS = 60;
const WARM_UP_BLOCKS = 2;
const CERTAIN = 3;

/** Growth of latency over time with its standard error, both in milliseconds per second. */
function growthOf(blocks: readonly LoadBlock[]): { slope: number; error: number } {
  if (blocks.length < 4) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const start = blocks[0]?.at ?? 0;
  const pairs = blocks.map(({ at, mean }): [number, number] => [(at - start) / 1000, mean]);
  const { m, b } = linearRegression(pairs);
  const centre = mean(pairs.map(([x]) => x));
  const spread = pairs.reduce((sum, [x]) => sum + (x - centre) ** 2, 0);
  const residual = pairs.reduce((sum, [x, y]) => sum + (y - m * x - b) ** 2, 0) / (pairs.length - 2);
  return { slope: m, error: Math.sqrt(residual / spread) };
}

/** Judges a step on its steady part. */
export function judgeStep({ series, generator }: LoadResult, clauses: readonly SloClause[]): StepJudgement {
  const all = mergedBlocks(series);
  const steady = all.slice(Math.min(WARM_UP_BLOCKS, all.length - 1));
  const histogram = mergedHistogram(steady);
  const errors = sum(steady.map((block) => block.errors));
  const requests = histogram.totalCount;
  const at = (percentile: number) => percentileOf(histogram, percentile);
  // The last block is incomplete.
  const { slope, error } = growthOf(steady.slice(0, -1));
  const facts = {
    p50: at(50),
    p99: at(99),
    errorPart: requests === 0 ? 1 : errors / requests,
    growth: slope,
  };
  const broken = firstBroken(clauses, sloFigures(histogram, errors));
  if (broken !== undefined) return { ...facts, held: false, reason: `${broken.clause}: ${broken.actual}` };
  const offered = requests + generator.droppedIterations;
  if (generator.droppedIterations > offered * 0.005) {
    const reason = `${generator.droppedIterations} arrivals found every virtual user waiting`;
    return { ...facts, held: false, reason };
  }
  const bound = Math.min(...latencyBounds(clauses));
  const later = at(50) + slope * SUSTAINED_SECONDS;
  if (slope > CERTAIN * error && later > bound) {
    const reason = `latency grows by ${round(slope)} ms a second: ${round(later)} ms after ${SUSTAINED_SECONDS} s`;
    return { ...facts, held: false, reason };
  }
  return { ...facts, held: true, reason: 'held' };
}
