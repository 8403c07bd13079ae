/** What the spending of a key's day shows. */

import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { type Clocked, tellsDay, toldEnd } from '../minute/told-time.ts';

/** Admitted requests: when the first of them was sent, when the last answer was received, and how many there were. */
export type Tally = readonly [from: number, until: number, count: number];

/** What the first request of a day that was admitted was told. */
export type FirstAnswer = Pick<RateReading, 'limit' | 'remaining'>;

/** How the spending of a day ended. */
export interface DayRefusal {
  /** The refusal that was the day's, as far as can be told; undefined where none came. */
  readonly refusal?: AnsweredExchange;
  /** The answer after the day's refusal and the wait that it told: the same once more. */
  readonly refusedAgain?: AnsweredExchange;
  /** How many waits in a row, each as told, were followed by a refusal that is not surely the day's. */
  readonly waitsInVain: number;
}

export interface DayMeasurement extends DayRefusal {
  readonly key: Key;
  /** Every admitted request of the run on the key, in the order of sending. */
  readonly admitted: readonly Tally[];
  readonly first: FirstAnswer | undefined;
  /** Requests at most that may have been counted, and whose answers are not on record. */
  readonly lost: number;
}

/** Waits as told in a row that were refused all the same: further ones would be in vain too. */
export const WAITS_IN_VAIN = 3;
/** A refusal that asks for more than a minute and its rounding is not the minute's. */
const BEYOND_A_MINUTE = MINUTE + 2 * SECOND;

/** When a refusal's wait is over; one that tells none is taken for the minute's. */
export const waitEnd = (refusal: AnsweredExchange, clocked: Clocked): number =>
  toldEnd(clocked, refusal) ?? refusal.receivedAt + MINUTE;

/** Whether a refusal asks for a longer wait than one for the minute does. */
export const isLong = (refusal: AnsweredExchange, clocked: Clocked): boolean =>
  waitEnd(refusal, clocked) - refusal.receivedAt > BEYOND_A_MINUTE;

/** Whether a refusal surely is the day's: a minute that somebody else empties again and again is refused as well. */
export function isDays(
  { key, waitsInVain }: DayMeasurement,
  refusal: AnsweredExchange,
  clocked: Clocked,
): boolean {
  if (waitsInVain >= WAITS_IN_VAIN) return false;
  return tellsDay(refusal, key.limits) || (refusal.outcome.status === 429 && isLong(refusal, clocked));
}

/** How many of the admitted requests meet a condition. */
export const countAdmitted = (
  admitted: readonly Tally[],
  condition: (from: number, until: number) => boolean = () => true,
): number => admitted.reduce((sum, [from, until, of]) => (condition(from, until) ? sum + of : sum), 0);

/** Whether a refusal asks to wait for the next token of a bucket only, and not for the day. */
export const isRefilled = (refusal: AnsweredExchange, end: number, perDay: number): boolean =>
  end - refusal.receivedAt <= (2 * DAY) / perDay + MINUTE;
