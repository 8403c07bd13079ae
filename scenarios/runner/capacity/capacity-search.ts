/** The search for a capacity: which rate is tried next, and what the steps show. */

import { latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import type { CapacityFound, CapacityStep } from './capacity.ts';
import { MOST_RATE } from './capacity-books.ts';
import { SUSTAINED_SECONDS } from './judge-step.ts';
import { Knee, type StepOutcome } from './knee.ts';

/** The keys cannot pay for a step; the message says what it would take. */
export class QuotaSpent extends Error {
  override readonly name = 'QuotaSpent';
}

/** The machine that makes the load could not carry a step; the message says why. */
export class GeneratorWasLimit extends Error {
  override readonly name = 'GeneratorWasLimit';
}

/** Runs steps against a target. */
export interface SearchSteps {
  /**
   * One step.
   *
   * @throws QuotaSpent
   * @throws GeneratorWasLimit
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
/** Bisecting ends when the upper rate is at most this many times the lower one. */
const BISECTED = 1.1;
/** The search ends at this precision: half the interval, as a part of the capacity. */
const PRECISE = 0.02;
/** This precision is still an answer if the machine cannot go on. */
const USABLE = 0.05;
const LEAST_KNEE_STEPS = 6;
/** What a step takes in addition to its length. */
const STEP_OVERHEAD_SECONDS = 2.5;

/** The part of an outcome that has no number. */
export const none = { capacity: null, interval: null };

/**
 * Brackets the capacity, bisects, and repeats around the knee.
 *
 * @throws whatever a step throws, except QuotaSpent and GeneratorWasLimit, which are outcomes
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
    if (error instanceof GeneratorWasLimit) {
      const held = low === undefined ? '' : `; ${round(low)}/s held`;
      const reason = `the generator was the limit: ${error.message}${held}`;
      return { outcome: 'generator-limited', reason, ...none, ...atLeast };
    }
    if (!(error instanceof QuotaSpent)) throw error;
    if (low === undefined || high === undefined)
      return { outcome: 'quota-limited', reason: error.message, ...none, ...atLeast };
    const found = conclude(steps, clauses, kneeOf(steps, low / 1.25, high * 1.25));
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
  const holds = async (rate: number, phase: CapacityStep['phase']) => {
    stop?.throwIfAborted();
    const { held } = await steps.take(rate, BRACKET_SECONDS, phase);
    return held || (await steps.take(rate, BRACKET_SECONDS, phase)).held;
  };
  let rate = Math.min(startRate, MOST_RATE);
  while (bracket.low === undefined || bracket.high === undefined) {
    if (await holds(rate, 'bracket')) {
      bracket.low = rate;
      const reason = `nothing broke up to ${MOST_RATE}/s`;
      if (rate >= MOST_RATE) return { outcome: 'at-least', reason, ...none, atLeast: MOST_RATE };
      rate = Math.min(rate * 2, MOST_RATE);
    } else {
      bracket.high = rate;
      rate /= 2;
      if (rate < LEAST_RATE) return { outcome: 'below', reason: 'not even 1 request/s holds it', ...none };
    }
  }
  while (bracket.high / bracket.low > BISECTED) {
    const middle = Math.sqrt(bracket.low * bracket.high);
    const side = (await holds(middle, 'bisect')) ? 'low' : 'high';
    bracket[side] = middle;
  }
  // The short steps may have been wrong, so the knee is also sought outside the bracket.
  let [least, most] = [bracket.low / 1.25, bracket.high * 1.25];
  let knee = kneeOf(steps, least, most);
  for (let taken = 0; ; taken += 1) {
    const { low: from, capacity, high: to } = knee.estimate();
    const precise = (to - from) / 2 / capacity <= PRECISE;
    if ((taken >= LEAST_KNEE_STEPS && precise) || STEP_SECONDS + STEP_OVERHEAD_SECONDS > left()) break;
    stop?.throwIfAborted();
    try {
      await steps.take(knee.nextRate(), STEP_SECONDS, 'knee');
    } catch (error) {
      // If the machine stumbles late in the search, what is known remains true.
      if (!(error instanceof GeneratorWasLimit) || (to - from) / 2 / capacity > USABLE) throw error;
      break;
    }
    const { low: lower, high: upper } = kneeOf(steps, least, most).estimate();
    if (lower < least * 1.03) least /= 2;
    if (upper > most / 1.03) most *= 2;
    knee = kneeOf(steps, least, most);
  }
  return conclude(steps, clauses, knee);
}

function conclude({ taken }: SearchSteps, clauses: readonly SloClause[], knee: Knee): CapacityFound {
  const { low: from, capacity, high: to } = knee.estimate();
  const bounds = latencyBounds(clauses);
  const resolution = bounds.length === 0 ? 0 : Math.min(...bounds) / 1000 / SUSTAINED_SECONDS;
  const interval = [from * (1 - resolution), to * (1 + resolution)] as const;
  return {
    outcome: 'found',
    capacity,
    interval,
    reason: `${taken.length} steps; ${round(capacity)}/s, 95 % from ${round(interval[0])} to ${round(interval[1])}`,
  };
}
