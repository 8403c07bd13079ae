/** Whether a step of constant rate holds an objective, and would go on to. */
import { linearRegression, mean } from 'simple-statistics';
import { judgeClause, round, type SloClause } from '../../lib/slo.ts';
import { histogramFrom, newHistogram, percentileOf } from '../result/figures.ts';
import type { LoadResult, LoadSeries } from '../result/load-result.ts';

export interface StepJudgement {
  readonly held: boolean;
  /** What broke, or how it was held. */
  readonly reason: string;
  /** Milliseconds; of the steady part, without the warm-up. */
  readonly p50: number;
  readonly p99: number;
  readonly errorPart: number;
  /** Milliseconds per second by which latency grew within the step. */
  readonly growth: number;
}

/** Over capacity a queue grows without end, however slowly; what a rate holds, it must hold for at least this long. */
export const SUSTAINED_SECONDS = 60;
const WARM_UP_BLOCKS = 2;
const CERTAIN = 3;

interface Point {
  readonly at: number;
  readonly latency: number;
}

/** Growth of latency over time with its standard error, both in milliseconds per second. */
function growthOf(points: readonly Point[]): { slope: number; error: number } {
  if (points.length < 4) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const start = points[0]?.at ?? 0;
  const pairs = points.map(({ at, latency }): [number, number] => [(at - start) / 1000, latency]);
  const { m, b } = linearRegression(pairs);
  const centre = mean(pairs.map(([x]) => x));
  const spread = pairs.reduce((sum, [x]) => sum + (x - centre) ** 2, 0);
  const residual = pairs.reduce((sum, [x, y]) => sum + (y - m * x - b) ** 2, 0) / (pairs.length - 2);
  return { slope: m, error: Math.sqrt(residual / spread) };
}

/** The steady part of a step: its series without the first blocks and the last, which is cut short. */
function steady(series: readonly LoadSeries[]) {
  const times = [...new Set(series.flatMap(({ blocks }) => blocks.map(({ at }) => at)))].toSorted(
    (a, b) => a - b,
  );
  const from = times[Math.min(WARM_UP_BLOCKS, times.length - 1)] ?? 0;
  const histogram = newHistogram();
  const means = new Map<number, { sum: number; requests: number }>();
  let errors = 0;
  for (const { blocks } of series) {
    for (const block of blocks) {
      if (block.at < from) continue;
      histogram.add(histogramFrom(block.histogram));
      errors += block.errors;
      const before = means.get(block.at) ?? { sum: 0, requests: 0 };
      means.set(block.at, {
        sum: before.sum + block.mean * block.requests,
        requests: before.requests + block.requests,
      });
    }
  }
  const last = times.at(-1) ?? 0;
  const points = [...means]
    .filter(([at]) => at < last)
    .map(([at, { sum, requests }]) => ({ at, latency: sum / requests }));
  return { histogram, errors, points: points.toSorted((a, b) => a.at - b.at) };
}

/** Judges a step on its steady part. */
export function judgeStep({ series, generator }: LoadResult, clauses: readonly SloClause[]): StepJudgement {
  const { histogram, errors, points } = steady(series);
  const requests = histogram.totalCount;
  const at = (percentile: number) => percentileOf(histogram, percentile);
  const { slope, error } = growthOf(points);
  const figures = { requests, errors, violations: 0, latency: at };
  const facts = {
    p50: at(50),
    p99: at(99),
    errorPart: requests === 0 ? 1 : errors / requests,
    growth: slope,
  };
  const broken = clauses.map((clause) => judgeClause(clause, figures)).find(({ held }) => !held);
  if (broken !== undefined) return { ...facts, held: false, reason: `${broken.clause}: ${broken.actual}` };
  const offered = requests + generator.droppedIterations;
  if (generator.droppedIterations > offered * 0.005) {
    return {
      ...facts,
      held: false,
      reason: `${generator.droppedIterations} arrivals found every virtual user waiting`,
    };
  }
  const bound = Math.min(
    ...clauses.filter(({ metric }) => metric.kind === 'latency').map(({ bound }) => bound),
  );
  const later = at(50) + slope * SUSTAINED_SECONDS;
  if (slope > CERTAIN * error && later > bound) {
    const reason = `latency grows by ${round(slope)} ms a second: ${round(later)} ms after ${SUSTAINED_SECONDS} s`;
    return { ...facts, held: false, reason };
  }
  return { ...facts, held: true, reason: 'held' };
}
