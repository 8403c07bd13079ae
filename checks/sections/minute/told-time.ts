/** When a refusal tells to come back. */

import type { TargetClock } from '../../limits/target-clock.ts';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import type { PlanLimits } from '../../profile/target-profile.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { type RateReading, type RetryAfter, rateReading, retryAfter } from '../../wire/rate-headers.ts';

/**
 * The window that a refusal is about, in milliseconds: the day's where the headers show the day's figures and nothing
 * left of them, else the minute's. Headers of the day are sent with refusals for the minute too.
 */
export function exceededWindow(
  { limit, remaining }: Pick<RateReading, 'limit' | 'remaining'>,
  { perMinute, perDay }: PlanLimits,
): number {
  return limit === perDay && limit !== perMinute && remaining === 0 ? DAY : MINUTE;
}

/** Whether a refusal tells that nothing is left of the day: it says nothing of a minute, or of a ban. */
export const tellsDay = (refusal: AnsweredExchange, limits: PlanLimits): boolean =>
  exceededWindow(rateReading(refusal), limits) === DAY;

/** How long a refusal asks to wait, a number read in the light of the window that it is about. */
export function toldWait(refusal: AnsweredExchange, limits: PlanLimits): RetryAfter {
  return retryAfter(refusal.outcome.headers, exceededWindow(rateReading(refusal), limits) / SECOND);
}

/** A probe or a trace. */
export interface Clocked {
  readonly targetClock: TargetClock;
}

/** The time that a Retry-After names, by our clock; undefined where it names none. */
export function toldTime({ targetClock }: Clocked, told: RetryAfter, receivedAt: number): number | undefined {
  if (told.kind === 'delay') return receivedAt + told.milliseconds;
  return told.kind === 'date' ? targetClock.reached(told.time) : undefined;
}

/** When Retry-After of a refusal for the minute asks to come back; undefined where it tells no time, or none to wait. */
export function toldRetry(
  clocked: Clocked,
  limits: PlanLimits,
  refusal: AnsweredExchange,
): number | undefined {
  const told = toldWait(refusal, limits);
  const isNoWait = told.kind === 'delay' && told.milliseconds <= 0;
  return isNoWait ? undefined : toldTime(clocked, told, refusal.receivedAt);
}

/** The end of a refusal that may last long: as many seconds as a day has are seconds still. */
export function toldEnd(clocked: Clocked, { outcome, receivedAt }: AnsweredExchange): number | undefined {
  return toldTime(clocked, retryAfter(outcome.headers, DAY / SECOND), receivedAt);
}

/** The latest end that several refusals tell: each request may prolong a wait. */
export function latestEnd(clocked: Clocked, refusals: readonly AnsweredExchange[]): number | undefined {
  const ends = refusals.flatMap((refusal) => toldEnd(clocked, refusal) ?? []);
  return ends.length === 0 ? undefined : Math.max(...ends);
}
