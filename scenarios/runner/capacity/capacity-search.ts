/** The search for a capacity: which rate is tried next, and what the steps show. */

import { latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import type { CapacityFound, CapacityStep } from './capacity.ts';
import { MOST_RATE } from './capacity-books.ts';
import { SUSTAINED_SECONDS } from './judge-step.ts';
import { kneeOf, type StepOutcome } from './knee.ts';

/** A step could not be taken: the keys cannot pay for it, or the machine that makes the load could not carry it. */
export class SearchEnded extends Error {
  override readonly name = 'SearchEnded';
  readonly outcome: 'quota-limited' | 'generator-limited';

  constructor(outcome: SearchEnded['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** Runs steps against a target. */
export interface SearchSteps {
  /**
   * One step.
   *
   * @throws SearchEnded
   */
  take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<StepOutcome>;
  readonly taken: readonly StepOutcome[];
}

export interface SearchLimits {
  /** A first guess, requests per second. */
  readonly startRate?: number | undefined;
  /** Seconds that the search may still take. */
  readonly left: () => number;
  readonly stop?: AbortSignal | undefined;
}

const START_RATE = 20;
const LEAST_RATE = 0.5;
/** Length of a step around the knee, in seconds. */
const STEP_SECONDS = 5;
/** Length of an earlier step. */
const BRACKET_SECONDS = 3;
/** The knee is sought up to this factor outside the bracket, since its short steps may have been wrong. */
const AROUND_BRACKET = 1.5;
/** The next steps are taken where the capacity lies below with these probabilities, in turn. */
const TRIED = [0.5, 0.25, 0.75];
/** The search ends at this precision: half the interval, as a part of the capacity. */
const PRECISE = 0.02;
/** This precision is still an answer if the machine cannot go on. */
const USABLE = 0.05;
const LEAST_KNEE_STEPS = 6;
/** What a step takes in addition to its length. */
const STEP_OVERHEAD_SECONDS = 2.5;

/** The part of an outcome that has no number. */
export const NO_NUMBER = { capacity: null, interval: null };

/**
 * Brackets the capacity, and repeats around the knee.
 *
 * @throws whatever a step throws, except SearchEnded, which is an outcome
 */
export async function searchCapacity(
  steps: SearchSteps,
  clauses: readonly SloClause[],
  { startRate = START_RATE, left, stop }: SearchLimits,
): Promise<CapacityFound> {
  const { taken } = steps;
  /** The highest rate that held, and the lowest that broke. */
  let low: number | undefined;
  let high: number | undefined;
  /** Whether a rate holds. A step that broke is repeated, since a pause of the machine may have broken it. */
  const holds = async (rate: number) => {
    stop?.throwIfAborted();
    const { held } = await steps.take(rate, BRACKET_SECONDS, 'bracket');
    return held || (await steps.take(rate, BRACKET_SECONDS, 'bracket')).held;
  };
  try {
    let rate = Math.min(startRate, MOST_RATE);
    while (low === undefined || high === undefined) {
      if (await holds(rate)) {
        low = rate;
        const reason = `nothing broke up to ${MOST_RATE}/s`;
        if (rate >= MOST_RATE) return { outcome: 'at-least', reason, ...NO_NUMBER, atLeast: MOST_RATE };
        rate = Math.min(rate * 2, MOST_RATE);
      } else {
        high = rate;
        rate /= 2;
        if (rate < LEAST_RATE)
          return { outcome: 'below', reason: 'not even 1 request/s holds it', ...NO_NUMBER };
      }
    }
    for (let count = 0; ; count += 1) {
      const knee = kneeBetween(taken, low, high);
      const isPrecise = count >= LEAST_KNEE_STEPS && precisionOf(knee) <= PRECISE;
      if (isPrecise || STEP_SECONDS + STEP_OVERHEAD_SECONDS > left()) return found(taken, clauses, knee);
      stop?.throwIfAborted();
      await steps.take(knee(TRIED[count % TRIED.length] ?? 0.5), STEP_SECONDS, 'knee');
    }
  } catch (error) {
    if (!(error instanceof SearchEnded)) throw error;
    const isWeak = error.outcome === 'generator-limited';
    // A rate that broke bounds the capacity, even if it could not be tried a second time.
    const broke = taken.filter(({ rate, held }) => !held && rate > (low ?? 0)).map(({ rate }) => rate);
    if (high === undefined && broke.length > 0) high = Math.min(...broke);
    const bounds = low === undefined || high === undefined ? undefined : kneeBetween(taken, low, high);
    // If the machine stumbles late in the search, what is known remains true.
    if (bounds !== undefined && (!isWeak || precisionOf(bounds) <= USABLE)) {
      const answer = found(taken, clauses, bounds);
      const { outcome, message } = error;
      return isWeak ? answer : { ...answer, outcome, reason: `${answer.reason}; ${message}` };
    }
    const atLeast = low === undefined || high !== undefined ? {} : { atLeast: low };
    const held = low === undefined ? '' : `; ${round(low)}/s held`;
    const reason = isWeak ? `the generator was the limit: ${error.message}${held}` : error.message;
    return { outcome: error.outcome, reason, ...NO_NUMBER, ...atLeast };
  }
}

type Knee = ReturnType<typeof kneeOf>;

const kneeBetween = (taken: readonly StepOutcome[], low: number, high: number): Knee =>
  kneeOf(taken, low / AROUND_BRACKET, high * AROUND_BRACKET);

const precisionOf = (knee: Knee): number => (knee(0.975) - knee(0.025)) / 2 / knee(0.5);

function found(taken: readonly StepOutcome[], clauses: readonly SloClause[], knee: Knee): CapacityFound {
  const capacity = knee(0.5);
  const bounds = latencyBounds(clauses);
  const resolution = bounds.length === 0 ? 0 : Math.min(...bounds) / 1000 / SUSTAINED_SECONDS;
  const interval: [number, number] = [knee(0.025) * (1 - resolution), knee(0.975) * (1 + resolution)];
  return {
    outcome: 'found',
    capacity,
    interval,
    reason: `${taken.length} steps; ${round(capacity)}/s, 95 % from ${round(interval[0])} to ${round(interval[1])}`,
  };
}
