/** When a refusal says to come back. */

import type { PlanLimits } from '../../spec/plans.ts';
import type { AnsweredExchange } from '../wire/exchange.ts';
import { type RateReading, type RetryAfter, rateReading, retryAfter } from '../wire/rate-headers.ts';
import { type TargetClock, wentBack } from './target-clock.ts';
import { DAY, LONGEST_OF_MINUTE, MINUTE, SECOND } from './time.ts';

/**
 * The window that a refusal is about, in milliseconds: the day if the headers show the day's figures with nothing left,
 * otherwise the minute. Headers of the day may also come with refusals for the minute.
 */
export function exceededWindow(
  { limit, remaining }: Pick<RateReading, 'limit' | 'remaining'>,
  { perMinute, perDay }: PlanLimits,
): number {
  return limit === perDay && limit !== perMinute && remaining === 0 ? DAY : MINUTE;
}

/** Whether a refusal says that the day is used up, so that it says nothing about a minute or a ban. */
export const tellsDay = (refusal: AnsweredExchange, limits: PlanLimits): boolean =>
  exceededWindow(rateReading(refusal), limits) === DAY;

/** How long a refusal asks to wait; the window that it is about helps to read its unit. */
export function toldWait(refusal: AnsweredExchange, limits: PlanLimits): RetryAfter {
  return retryAfter(refusal.outcome.headers, exceededWindow(rateReading(refusal), limits) / SECOND);
}

/** A run or a trace. */
export interface Clocked {
  readonly targetClock: TargetClock;
}

/** The time in a Retry-After, by our clock; undefined if it has none. */
export function toldTime({ targetClock }: Clocked, told: RetryAfter, receivedAt: number): number | undefined {
  if (told.kind === 'delay') return receivedAt + told.milliseconds;
  return told.kind === 'date' ? targetClock.reached(told.time) : undefined;
}

/** When Retry-After of a refusal for the minute says to come back; undefined if it is not a time to wait for. */
export function toldRetry(
  clocked: Clocked,
  limits: PlanLimits,
  refusal: AnsweredExchange,
): number | undefined {
  const told = toldWait(refusal, limits);
  const isNoWait = told.kind === 'delay' && told.milliseconds <= 0;
  return isNoWait ? undefined : toldTime(clocked, told, refusal.receivedAt);
}

/** The stated end of a refusal that may last long: even a day's number of seconds is read as seconds. */
export function toldEnd(clocked: Clocked, { outcome, receivedAt }: AnsweredExchange): number | undefined {
  return toldTime(clocked, retryAfter(outcome.headers, DAY / SECOND), receivedAt);
}

/**
 * Whether a refusal of a key that should have quota left for its minute is for its day: its headers say so, or it asks
 * for a wait that no minute explains. A number of seconds is not read as milliseconds to make it fit: it is milliseconds
 * where nothing is left of the minute, and Reset allows it.
 */
export function isForDay(clocked: Clocked, refusal: AnsweredExchange, limits: PlanLimits): boolean {
  const { outcome, receivedAt } = refusal;
  if (outcome.status !== 429) return false;
  const end = toldEnd(clocked, refusal);
  if (end === undefined) return tellsDay(refusal, limits);
  // Whatever it is for: the wait will show whether that was all.
  if (end - receivedAt <= LONGEST_OF_MINUTE) return false;
  if (tellsDay(refusal, limits)) return true;
  const inMinute = toldTime(clocked, retryAfter(outcome.headers, MINUTE / SECOND), receivedAt) ?? end;
  const { limit, remaining = 0, reset } = rateReading(refusal);
  const resetsAt =
    limit === limits.perMinute && reset !== undefined ? clocked.targetClock.reached(reset) : undefined;
  const isMilliseconds =
    inMinute - receivedAt <= LONGEST_OF_MINUTE &&
    remaining === 0 &&
    (resetsAt === undefined || inMinute <= resetsAt + 3 * SECOND);
  return !isMilliseconds;
}

/** The latest end that several refusals state: each request may prolong a wait. */
export function latestEnd(clocked: Clocked, refusals: readonly AnsweredExchange[]): number | undefined {
  const ends = refusals.flatMap((refusal) => toldEnd(clocked, refusal) ?? []);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/**
 * Why a refusal at a time that the target told proves nothing: Date and our clock must both have reached that time, and
 * where they contradict each other, any clock that is no further off.
 *
 * @param time what the target told, by its own clock; undefined where it told how long to wait
 * @returns undefined if it proves that the target did not keep its word
 */
export function clockDoubt(
  { targetClock }: Clocked,
  time: number | undefined,
  told: AnsweredExchange,
  asked: AnsweredExchange,
): string | undefined {
  if (time !== undefined && asked.sentAt < time)
    return 'the time that the target told has come by Date but not by our clock: one of the two is wrong';
  const { dispute } = targetClock;
  if (time !== undefined && dispute > 0 && asked.sentAt < targetClock.reached(time) + dispute)
    return 'Date and our clock contradict each other, and the target may go by neither';
  if (wentBack(rateReading(told), rateReading(asked)))
    return 'the Date of the target went back while the run waited';
  return targetClock.disagrees ? 'the Dates of the target disagree, as if its clock had been set' : undefined;
}

/** The date in Retry-After, if it has one. */
export function toldDate(told: RetryAfter): number | undefined {
  return told.kind === 'date' ? told.time : undefined;
}
