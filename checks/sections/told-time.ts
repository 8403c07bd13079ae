/** When a refusal tells to come back. */
import type { AnsweredExchange } from '../harness/exchange.ts';
import { DAY, SECOND } from '../harness/key-pool.ts';
import type { Probe } from '../harness/probe.ts';
import { type RetryAfter, retryAfter } from '../harness/rate-headers.ts';

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
