/** What the steps of a search spent of each key, and when the keys can pay for the next step. */
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import type { PlannedKey } from '../../lib/messages.ts';
import { sum } from '../../lib/statistics.ts';
import type { LoadTarget } from '../quota/load-target.ts';
import { type BudgetKey, type Demand, payFor, Unpayable } from '../quota/quota.ts';

/** No step of a search goes beyond this many requests a second. */
export const MOST_RATE = 20_000;
/** No step at the knee begins later than this. */
export const BUDGET_SECONDS = 170;
/** No search sends more than this. */
export const MOST_REQUESTS = MOST_RATE * BUDGET_SECONDS;
/** Added to a minute, since the target's clock may differ from ours. */
const ROOM_MS = 500;

/** What a step sent with a key, and when the step ended, in milliseconds since 1970. */
export interface Spent {
  readonly at: number;
  readonly name: string;
  readonly sent: number;
}

type Payers = Pick<LoadTarget, 'keys' | 'clockSpeed'>;

const minuteMs = (clockSpeed: number) => 60_000 / clockSpeed + ROOM_MS;

/** The keys with what steps left of their minutes and days, as it will be at a time, milliseconds since 1970. */
export function keysAt({ keys, clockSpeed }: Payers, spent: readonly Spent[], at: number): BudgetKey[] {
  const spentOf = (name: string, since: number) =>
    sum(spent.map((step) => (step.name === name && step.at >= since ? step.sent : 0)));
  return keys.map((key) => ({
    ...key,
    minuteLeft: key.perMinute - spentOf(key.name, at - minuteMs(clockSpeed)),
    dayLeft: key.perDay - spentOf(key.name, 0),
  }));
}

/**
 * In how many seconds the keys can pay for a step, and why not before. 0 is now; undefined is never, as no minute is
 * large enough or the day is spent.
 */
export function waitFor(
  step: Pick<Demand, 'rate' | 'seconds'>,
  payers: Payers,
  spent: readonly Spent[],
  now: number,
): { readonly waitSeconds: number | undefined; readonly reason: string } {
  const { clockSpeed } = payers;
  const over = spent.map(({ at }) => at + minuteMs(clockSpeed) + 1);
  let reason = '';
  for (const at of [now, ...over.filter((time) => time > now)]) {
    try {
      payFor({ facts: CAPACITY_STEP, ...step, clockSpeed }, keysAt(payers, spent, at));
      return { waitSeconds: (at - now) / 1000, reason };
    } catch (error) {
      if (!(error instanceof Unpayable)) throw error;
      reason = error.reason;
    }
  }
  return { waitSeconds: undefined, reason };
}

/**
 * The most that a search can spend of its keys. The number of steps and their rates depend on the target. They are
 * bounded by the time of the search and by what is left of the keys' minutes.
 *
 * @param step the bill of the first step, which names the keys
 * @param clockSpeed seconds of the target's clock in a real one
 */
export function searchBill(step: readonly PlannedKey[], clockSpeed: number): PlannedKey[] {
  const minutes = Math.ceil((BUDGET_SECONDS * clockSpeed) / 60);
  return step.map((key) => ({
    ...key,
    requests: Math.min(key.perDay, key.perMinute * minutes, MOST_REQUESTS),
    busiestMinute: Math.min(key.perMinute, key.perDay, Math.ceil((MOST_RATE * 60) / clockSpeed)),
  }));
}
