/** The search for a capacity: which rate is tried next, and what the steps show. */
import { latencyBounds, round, type SloClause } from '../../lib/slo.ts';
import { kneeOf, type StepOutcome, SUSTAINED_SECONDS } from './judge-steps.ts';
import type { CapacityFound } from './result.ts';

/** Why no further step could be taken: the keys cannot pay, or the machine that makes the load could not carry it. */
export interface SearchEnd {
  readonly outcome: 'quota-limited' | 'generator-limited';
  readonly reason: string;
}

/** A search, and its steps so far. */
export interface Search {
  /** Takes a step and adds it to those taken, or says why it cannot. */
  take(rate: number, seconds: number): Promise<SearchEnd | undefined>;
  readonly taken: readonly StepOutcome[];
  /** A first guess, requests per second. */
  readonly startRate?: number | undefined;
  /** Seconds that the search may still take. */
  readonly left: () => number;
}

const START_RATE = 20;
const LEAST_RATE = 0.5;
/** No step of a search goes beyond this many requests a second. */
export const MOST_RATE = 20_000;
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
 */
export async function searchCapacity(search: Search, clauses: readonly SloClause[]): Promise<CapacityFound> {
  const { taken, startRate = START_RATE, left } = search;
  for (;;) {
    const rates = taken.map(({ rate }) => rate);
    const knee = kneeOf(taken, Math.min(...rates) / 2, Math.max(...rates) * 2);
    const held = Math.max(0, ...taken.flatMap((step) => (step.held ? step.rate : [])));
    // One broke that is not far below the highest that held.
    const isBounded = held > 0 && taken.some((step) => !step.held && step.rate * NEAR > held);
    if (held >= MOST_RATE) {
      const reason = `nothing broke up to ${MOST_RATE}/s`;
      return { outcome: 'at-least', reason, ...NO_NUMBER, atLeast: MOST_RATE };
    }
    const isLate = STEP_SECONDS + STEP_OVERHEAD_SECONDS > left();
    if (isBounded && (isLate || precisionOf(knee) <= PRECISE)) return found(taken, clauses, knee);
    const next = held > 0 ? held * 2 : Math.min(startRate * 2, ...rates) / 2;
    const rate = isBounded ? knee(TRIED[taken.length % TRIED.length] ?? 0.5) : Math.min(next, MOST_RATE);
    if (rate < LEAST_RATE) return { outcome: 'below', reason: 'not even 1 request/s holds it', ...NO_NUMBER };
    const end = await search.take(rate, isBounded ? STEP_SECONDS : CLIMB_SECONDS);
    if (end === undefined) continue;
    const isWeak = end.outcome === 'generator-limited';
    // If the machine stumbles late in the search, what is known remains true.
    if (isBounded && (!isWeak || precisionOf(knee) <= USABLE)) {
      const answer = found(taken, clauses, knee);
      return isWeak ? answer : { ...answer, ...end, reason: `${answer.reason}; ${end.reason}` };
    }
    const atLeast = held === 0 || isBounded ? {} : { atLeast: held };
    const so = held === 0 ? '' : `; ${round(held)}/s held`;
    const reason = isWeak ? `the generator was the limit: ${end.reason}${so}` : end.reason;
    return { outcome: end.outcome, reason, ...NO_NUMBER, ...atLeast };
  }
}

type Knee = ReturnType<typeof kneeOf>;

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
