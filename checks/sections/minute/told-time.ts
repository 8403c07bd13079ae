/** When a refusal tells to come back. */

import type { PlanLimits } from '../../profile/target-profile.ts';
import { DAY, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
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

/** The time that a Retry-After names, by our clock; undefined where it names none. */
export function toldTime(
  { targetClock }: Pick<Probe, 'targetClock'>,
  told: RetryAfter,
  receivedAt: number,
): number | undefined {
  if (told.kind === 'delay') return receivedAt + told.milliseconds;
  return told.kind === 'date' ? targetClock.reached(told.time) : undefined;
}

/** The end of a refusal that may last long: as many seconds as a day has are seconds still. */
export function toldEnd(probe: Probe, { outcome, receivedAt }: AnsweredExchange): number | undefined {
  return toldTime(probe, retryAfter(outcome.headers, DAY / SECOND), receivedAt);
}

/** The latest end that several refusals tell: each request may prolong a wait. */
export function latestEnd(probe: Probe, refusals: readonly AnsweredExchange[]): number | undefined {
  const ends = refusals.flatMap((refusal) => toldEnd(probe, refusal) ?? []);
  return ends.length === 0 ? undefined : Math.max(...ends);
}
