/** Reads the spending of a key's daily quota. */

import type { PlanLimits } from '../../../spec/plans.ts';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { type Clocked, tellsDay, toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';

/** Admitted requests: when the first of them was sent, when the last answer was received, and how many there were. */
export type Tally = readonly [from: number, until: number, count: number];

/** How the spending of a daily quota ended. */
export interface DayRefusal {
  /** The refusal that, as far as can be told, was for the day; undefined if none came. */
  readonly refusal?: AnsweredExchange;
  /** The refusal that followed the day's refusal and the wait that it asked for. */
  readonly refusedAgain?: AnsweredExchange;
  /** How many waits in a row, each as long as asked, ended in a refusal that may not be the day's. */
  readonly waitsInVain: number;
}

export interface DayMeasurement extends DayRefusal {
  readonly key: Key;
  /** Every admitted request of the run on the key, in the order of sending. */
  readonly admitted: readonly Tally[];
  /** At most this many requests may have been counted without an answer on record. */
  readonly lost: number;
}

/** After this many waits in a row that ended in a refusal, another one would be in vain. */
export const WAITS_IN_VAIN = 3;
/** A refusal that asks for more than a minute, plus rounding, is not for the minute. */
const BEYOND_A_MINUTE = MINUTE + 2 * SECOND;

/** When a refusal's wait is over; a refusal without one is taken to be for the minute. */
export const waitEnd = (refusal: AnsweredExchange, clocked: Clocked): number =>
  toldEnd(clocked, refusal) ?? refusal.receivedAt + MINUTE;

/** Whether a refusal asks for a longer wait than the minute would. */
export const isLong = (refusal: AnsweredExchange, clocked: Clocked): boolean =>
  waitEnd(refusal, clocked) - refusal.receivedAt > BEYOND_A_MINUTE;

/** Whether a refusal's headers say that it is for the day: they show it with nothing left, or a minute with something. */
export function saysDay(refusal: AnsweredExchange, limits: PlanLimits): boolean {
  const { limit, remaining = 0 } = rateReading(refusal);
  return tellsDay(refusal, limits) || (limit === limits.perMinute && remaining > 0);
}

/**
 * Whether a refusal is certainly for the day: as many were admitted as the day has, or it says so. Before that another
 * client may also empty the minute again and again.
 */
export function isDays(
  { key: { limits }, admitted, waitsInVain }: DayMeasurement,
  refusal: AnsweredExchange,
  clocked: Clocked,
): boolean {
  if (countAdmitted(admitted) >= limits.perDay) return true;
  if (waitsInVain >= WAITS_IN_VAIN) return false;
  return saysDay(refusal, limits) || (refusal.outcome.status === 429 && isLong(refusal, clocked));
}

/** Counts the admitted requests that meet a condition. */
export const countAdmitted = (
  admitted: readonly Tally[],
  condition: (from: number, until: number) => boolean = () => true,
): number => admitted.reduce((sum, [from, until, of]) => (condition(from, until) ? sum + of : sum), 0);

/** Whether a refusal asks to wait only for the next token of a bucket, not for the end of the day. */
export const isRefilled = (refusal: AnsweredExchange, end: number, perDay: number): boolean =>
  end - refusal.receivedAt <= (2 * DAY) / perDay + MINUTE;
