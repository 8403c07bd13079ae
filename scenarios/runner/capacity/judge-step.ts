/** Whether a step of constant rate holds an objective, and would still hold it later. */
import { firstBroken, latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import { slopeOf } from '../../lib/statistics.ts';
import { blocksOf, type LoadBlock, readingOf } from '../result/figures.ts';
import type { LoadResult } from '../result/load-result.ts';
import type { CapacityStep } from './capacity.ts';

export type StepJudgement = Pick<CapacityStep, 'held' | 'reason' | 'p50' | 'p99' | 'errorPart' | 'growth'>;

/** Above the capacity a queue grows without end, however slowly. A rate must hold its objective for at least this long. */
export const SUSTAINED_SECONDS = 60;
const WARM_UP_BLOCKS = 2;
const CERTAIN = 3;

/** Growth of latency over time with its standard error, both in milliseconds per second. */
function growthOf(blocks: readonly LoadBlock[]): { slope: number; error: number } {
  if (blocks.length < 4) return { slope: 0, error: Number.POSITIVE_INFINITY };
  return slopeOf(blocks.map(({ at, mean }) => [at / 1000, mean]));
}

/** Judges a step on its steady part. */
export function judgeStep({ series, generator }: LoadResult, clauses: readonly SloClause[]): StepJudgement {
  const all = blocksOf(series);
  const steady = all.slice(Math.min(WARM_UP_BLOCKS, all.length - 1));
  const figures = readingOf(steady);
  const { requests, errors, latency: at } = figures;
  // The last block is incomplete.
  const { slope, error } = growthOf(steady.slice(0, -1));
  const facts = {
    p50: at(50),
    p99: at(99),
    errorPart: requests === 0 ? 1 : errors / requests,
    growth: slope,
  };
  const broken = firstBroken(clauses, figures);
  if (broken !== undefined) return { ...facts, held: false, reason: `${broken.name}: ${broken.actual}` };
  const offered = requests + generator.droppedIterations;
  if (generator.droppedIterations > offered * 0.005) {
    const reason = `${generator.droppedIterations} of ${offered} arrivals found every virtual user waiting`;
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
