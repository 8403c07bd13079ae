/** The search for a capacity: which rate is tried next, and what the steps show. */

import { latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import type { CapacityFound } from './capacity.ts';
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

/** A search, and its steps so far. */
export interface Search {
  /**
   * Takes a step.
   *
   * @throws SearchEnded
   */
  take(rate: number, seconds: number): Promise<StepOutcome>;
  readonly taken: readonly StepOutcome[];
  /** A first guess, requests per second. */
  readonly startRate?: number | undefined;
  /** Seconds that the search may still take. */
  readonly left: () => number;
  readonly stop?: AbortSignal | undefined;
}

const START_RATE = 20;
const LEAST_RATE = 0.5;
/** Length of a step, in seconds. */
const STEP_SECONDS = 5;
/** Length of a step where nothing broke yet: the keys can pay for a higher rate. */
const CLIMB_SECONDS = 3;
/** The next steps are taken where the capacity lies below with these probabilities, in turn. */
const TRIED = [0.5, 0.25, 0.75];
/** The search ends at this precision: half the interval, as a part of the capacity. */
const PRECISE = 0.02;
/** This precision is still an answer if the machine cannot go on. */
const USABLE = 0.05;
/** A rate that broke, and then held at more than this many times as much, broke for another reason. */
const NEAR = 1.25;
/** What a step takes in addition to its length. */
const STEP_OVERHEAD_SECONDS = 2.5;

/** The part of an outcome that has no number. */
export const NO_NUMBER = { capacity: null, interval: null };

/**
 * Doubles the rate until it breaks, or halves it until it holds, and then takes each step where the capacity may lie by
 * those before it.
 *
 * @throws whatever a step throws, except SearchEnded, which is an outcome
 */
export async function searchCapacity(search: Search, clauses: readonly SloClause[]): Promise<CapacityFound> {
  const { taken, startRate = START_RATE, left, stop } = search;
  try {
    for (let count = 0; ; count += 1) {
      const { knee, held, isBounded } = knownFrom(taken);
      if (held >= MOST_RATE) {
        const reason = `nothing broke up to ${MOST_RATE}/s`;
        return { outcome: 'at-least', reason, ...NO_NUMBER, atLeast: MOST_RATE };
      }
      const isLate = STEP_SECONDS + STEP_OVERHEAD_SECONDS > left();
      if (isBounded && (isLate || precisionOf(knee) <= PRECISE)) return found(taken, clauses, knee);
      const next = held > 0 ? held * 2 : Math.min(startRate * 2, ...taken.map(({ rate }) => rate)) / 2;
      const rate = isBounded ? knee(TRIED[count % TRIED.length] ?? 0.5) : Math.min(next, MOST_RATE);
      if (rate < LEAST_RATE)
        return { outcome: 'below', reason: 'not even 1 request/s holds it', ...NO_NUMBER };
      stop?.throwIfAborted();
      await search.take(rate, isBounded ? STEP_SECONDS : CLIMB_SECONDS);
    }
  } catch (error) {
    if (!(error instanceof SearchEnded)) throw error;
    const { knee, held, isBounded } = knownFrom(taken);
    const isWeak = error.outcome === 'generator-limited';
    // If the machine stumbles late in the search, what is known remains true.
    if (isBounded && (!isWeak || precisionOf(knee) <= USABLE)) {
      const answer = found(taken, clauses, knee);
      const { outcome, message } = error;
      return isWeak ? answer : { ...answer, outcome, reason: `${answer.reason}; ${message}` };
    }
    const atLeast = held === 0 || isBounded ? {} : { atLeast: held };
    const so = held === 0 ? '' : `; ${round(held)}/s held`;
    const reason = isWeak ? `the generator was the limit: ${error.message}${so}` : error.message;
    return { outcome: error.outcome, reason, ...NO_NUMBER, ...atLeast };
  }
}

type Knee = ReturnType<typeof kneeOf>;

/** Where the knee lies by the steps, the highest rate that held, and whether one broke that is not far below it. */
function knownFrom(taken: readonly StepOutcome[]): { knee: Knee; held: number; isBounded: boolean } {
  const held = Math.max(0, ...taken.flatMap((step) => (step.held ? step.rate : [])));
  const isBounded = held > 0 && taken.some((step) => !step.held && step.rate * NEAR > held);
  const rates = taken.map(({ rate }) => rate);
  return { knee: kneeOf(taken, Math.min(...rates) / 2, Math.max(...rates) * 2), held, isBounded };
}

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
