/** The search for a capacity: which rate is tried next, and what the steps show. */

import { latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import type { CapacityFound, CapacityStep } from './capacity.ts';
import { MOST_RATE } from './capacity-books.ts';
import { SUSTAINED_SECONDS } from './judge-step.ts';
import { Knee, type StepOutcome } from './knee.ts';

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
  limits: SearchLimits,
): Promise<CapacityFound> {
  const bracket: Bracket = {};
  try {
    return await search(steps, clauses, limits, bracket);
  } catch (error) {
    const { low } = bracket;
    // A rate that broke bounds the capacity, even if it could not be tried a second time.
    const broke = steps.taken.filter(({ rate, held }) => !held && rate > (low ?? 0)).map(({ rate }) => rate);
    const high = bracket.high ?? (broke.length === 0 ? undefined : Math.min(...broke));
    const atLeast = low === undefined || high !== undefined ? {} : { atLeast: low };
    if (!(error instanceof SearchEnded)) throw error;
    if (error.outcome === 'generator-limited') {
      const held = low === undefined ? '' : `; ${round(low)}/s held`;
      const reason = `the generator was the limit: ${error.message}${held}`;
      return { outcome: 'generator-limited', reason, ...NO_NUMBER, ...atLeast };
    }
    if (low === undefined || high === undefined)
      return { outcome: 'quota-limited', reason: error.message, ...NO_NUMBER, ...atLeast };
    const found = conclude(steps, clauses, kneeOf(steps, low / AROUND_BRACKET, high * AROUND_BRACKET));
    return { ...found, outcome: 'quota-limited', reason: `${found.reason}; ${error.message}` };
  }
}

/** The highest rate that held, and the lowest that broke. */
interface Bracket {
  low?: number;
  high?: number;
}

function kneeOf({ taken }: SearchSteps, least: number, most: number): Knee {
  const knee = new Knee(least, most);
  for (const step of taken) knee.learn(step);
  return knee;
}

async function search(
  steps: SearchSteps,
  clauses: readonly SloClause[],
  { startRate = START_RATE, left, stop }: SearchLimits,
  bracket: Bracket,
): Promise<CapacityFound> {
  /** Whether a rate holds. A step that broke is repeated, since a pause of the machine may have broken it. */
  const holds = async (rate: number) => {
    stop?.throwIfAborted();
    const { held } = await steps.take(rate, BRACKET_SECONDS, 'bracket');
    return held || (await steps.take(rate, BRACKET_SECONDS, 'bracket')).held;
  };
  let rate = Math.min(startRate, MOST_RATE);
  while (bracket.low === undefined || bracket.high === undefined) {
    if (await holds(rate)) {
      bracket.low = rate;
      const reason = `nothing broke up to ${MOST_RATE}/s`;
      if (rate >= MOST_RATE) return { outcome: 'at-least', reason, ...NO_NUMBER, atLeast: MOST_RATE };
      rate = Math.min(rate * 2, MOST_RATE);
    } else {
      bracket.high = rate;
      rate /= 2;
      if (rate < LEAST_RATE)
        return { outcome: 'below', reason: 'not even 1 request/s holds it', ...NO_NUMBER };
    }
  }
  const knee = kneeOf(steps, bracket.low / AROUND_BRACKET, bracket.high * AROUND_BRACKET);
  for (let taken = 0; ; taken += 1) {
    const { low: from, capacity, high: to } = knee.estimate();
    const precision = (to - from) / 2 / capacity;
    if (taken >= LEAST_KNEE_STEPS && precision <= PRECISE) break;
    if (STEP_SECONDS + STEP_OVERHEAD_SECONDS > left()) break;
    stop?.throwIfAborted();
    try {
      knee.learn(await steps.take(knee.nextRate(), STEP_SECONDS, 'knee'));
    } catch (error) {
      // If the machine stumbles late in the search, what is known remains true.
      const hasStumbled = error instanceof SearchEnded && error.outcome === 'generator-limited';
      if (!hasStumbled || precision > USABLE) throw error;
      break;
    }
  }
  return conclude(steps, clauses, knee);
}

function conclude({ taken }: SearchSteps, clauses: readonly SloClause[], knee: Knee): CapacityFound {
  const { low: from, capacity, high: to } = knee.estimate();
  const bounds = latencyBounds(clauses);
  const resolution = bounds.length === 0 ? 0 : Math.min(...bounds) / 1000 / SUSTAINED_SECONDS;
  const interval: [number, number] = [from * (1 - resolution), to * (1 + resolution)];
  return {
    outcome: 'found',
    capacity,
    interval,
    reason: `${taken.length} steps; ${round(capacity)}/s, 95 % from ${round(interval[0])} to ${round(interval[1])}`,
  };
}
