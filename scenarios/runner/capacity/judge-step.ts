/** Whether a step of constant rate holds an objective, and would still hold it later. */
import { firstBroken, latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import { slopeOf } from '../../lib/statistics.ts';
import { blocksOf, readingOf } from '../result/figures.ts';
import type { LoadResult } from '../result/load-result.ts';
import type { CapacityStep } from './capacity.ts';

export type StepJudgement = Pick<CapacityStep, 'held' | 'reason' | 'p50' | 'p99' | 'errorPart' | 'growth'>;

/** Above the capacity a queue grows without end, however slowly. A rate must hold its objective for at least this long. */
export const SUSTAINED_SECONDS = 60;
const WARM_UP_BLOCKS = 2;
const CERTAIN = 3;
const LEAST_POINTS = 4;

/** Judges a step on its steady part. */
export function judgeStep({ series, generator }: LoadResult, clauses: readonly SloClause[]): StepJudgement {
  const all = blocksOf(series);
  const steady = all.slice(Math.min(WARM_UP_BLOCKS, all.length - 1));
  const figures = readingOf(steady);
  const { requests, errors, latency: at } = figures;
  // The last block is incomplete.
  const points = steady.slice(0, -1).map(({ at, mean }) => [at / 1000, mean] as const);
  // Of latency, in milliseconds per second.
  const { slope, error } =
    points.length < LEAST_POINTS ? { slope: 0, error: Number.POSITIVE_INFINITY } : slopeOf(points);
  const broken = firstBroken(clauses, figures);
  const { droppedIterations: dropped } = generator;
  const offered = requests + dropped;
  const bound = Math.min(...latencyBounds(clauses));
  const later = at(50) + slope * SUSTAINED_SECONDS;
  const reason = [
    broken && `${broken.name}: ${broken.actual}`,
    dropped > offered * 0.005 && `${dropped} of ${offered} arrivals found every virtual user waiting`,
    slope > CERTAIN * error &&
      later > bound &&
      `latency grows by ${round(slope)} ms a second: ${round(later)} ms after ${SUSTAINED_SECONDS} s`,
  ].find((one) => typeof one === 'string');
  const errorPart = requests === 0 ? 1 : errors / requests;
  const judgement = { held: reason === undefined, reason: reason ?? 'held' };
  return { ...judgement, p50: at(50), p99: at(99), errorPart, growth: slope };
}
