/** What a step of constant rate shows, and what several steps say of the capacity. */
import { firstBroken, latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import { slopeOf, sum } from '../../lib/statistics.ts';
import { blocksOf, readingOf } from '../result/figures.ts';
import type { LoadResult } from '../result/load-result.ts';
import type { CapacityStep } from './result.ts';

/** Above the capacity a queue grows without end, however slowly. A rate must hold its objective for at least this long. */
export const SUSTAINED_SECONDS = 60;
const WARM_UP_BLOCKS = 2;
const CERTAIN = 3;
const LEAST_POINTS = 4;

/** Whether a step holds an objective, and would still hold it later, by its steady part. */
export function judgeStep({ series, generator }: LoadResult, clauses: readonly SloClause[]) {
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

/** One step: at this rate the objective was held or broken. */
export type StepOutcome = Pick<CapacityStep, 'rate' | 'held'>;

const LAPSE = 0.04;
/** Two rates of the grid differ by 0.15 %. */
const GRID = 1.0015;
/** Widths of the transition as parts of the rate, from sharp to soft. All are equally likely at first. */
const WIDTHS = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064];

/** How likely steps would come out as they did if this were the capacity, over all widths. */
function likelihood(steps: readonly StepOutcome[], logCapacity: number): number {
  const byWidth = WIDTHS.map((width) =>
    steps.reduce((product, { rate, held }) => {
      const holding = LAPSE / 2 + (1 - LAPSE) / (1 + Math.exp((Math.log(rate) - logCapacity) / width));
      return product * (held ? holding : 1 - holding);
    }, 1),
  );
  return sum(byWidth);
}

/**
 * What steps say of the capacity: the rate below which it lies, by the probability of that. At the capacity a step holds
 * its objective with a probability of one half. The estimate is Bayesian, from steps that held or broke.
 *
 * Model: a step at rate r holds with probability lapse/2 + (1 - lapse) / (1 + (r/θ)^(1/σ)). The capacity θ and the width
 * σ of the transition are unknown. A lapse is a step that came out wrong for another reason, such as a pause of the
 * machine.
 *
 * @param low a rate that is certainly below the capacity, requests per second
 * @param high one that is certainly above
 */
export function kneeOf(
  steps: readonly StepOutcome[],
  low: number,
  high: number,
): (probability: number) => number {
  const [from, step] = [Math.log(low), Math.log(GRID)];
  const length = Math.ceil(Math.log(high / low) / step) + 1;
  const logCapacities = Array.from({ length }, (_, place) => from + step * place);
  const weights = logCapacities.map((logCapacity) => likelihood(steps, logCapacity));
  const all = sum(weights);
  return (probability) => {
    let reached = 0;
    const place = weights.findIndex((weight) => {
      reached += weight / all;
      return reached >= probability;
    });
    return Math.exp(logCapacities.at(place) ?? 0);
  };
}
