import type { ApiKey } from './api-keys.ts';
import type { PlanLimits } from './plans.ts';

export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** The contents of the three rate headers. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since 1970. The header rounds up to the second, so that the limit has reset by then. */
  readonly resetAt: number;
}

/** The rate headers of every caller without a valid key, so that a flood of wrong keys leaves nothing behind. */
export function noQuota(now: number): Quota {
  return { limit: 0, remaining: 0, resetAt: Math.floor(now / MINUTE) * MINUTE + MINUTE };
}

/** Counts one key's requests against one limit. All times are milliseconds since 1970 by the server's clock. */
export interface Meter {
  left(now: number): number;
  /** Spends one request; called only while one is left. */
  spend(now: number): void;
  /** Called for a refused request, if refusals count too. */
  refused?(now: number): void;
  /** When a request is admitted again; called only while none is left. */
  freeAt(now: number): number;
  resetAt(now: number): number;
}

/** Makes the meter of one limit. */
export type MeterKind = (limit: number, windowMs: number) => Meter;

/** Windows that open with the first request, and close when they say. */
export const windowUntil =
  (endOf: (now: number, windowMs: number) => number): MeterKind =>
  (limit, windowMs) => {
    let endsAt = 0;
    let used = 0;
    const left = (now: number) => (now < endsAt ? limit - used : limit);
    return {
      left,
      spend(now) {
        if (now >= endsAt) [endsAt, used] = [endOf(now, windowMs), 0];
        used += 1;
      },
      freeAt: () => endsAt,
      resetAt: (now) => (now < endsAt ? endsAt : endOf(now, windowMs)),
    };
  };

/** A window that opens with the first request and closes after its whole length. */
export const windowFromFirst = windowUntil((now, windowMs) => now + windowMs);

/** How a limiter counts, and for whom. */
export interface LimiterPolicy {
  limitsOf(key: ApiKey): PlanLimits;
  /** The account that pays for a key; usually each key has its own. */
  accountOf(key: ApiKey): string;
  readonly minuteMeter: MeterKind;
  readonly dayMeter: MeterKind;
}

/** A key's meter, with the number that its headers show. */
interface LimitMeter extends Meter {
  readonly limit: number;
}

/** The headers that describe one meter. */
export const quotaOf = (meter: LimitMeter, remaining: number, now: number): Quota => ({
  limit: meter.limit,
  remaining,
  resetAt: meter.resetAt(now),
});

/**
 * Section 8: requests per minute and per day, counted for each key. A refused request spends nothing.
 *
 * The headers describe the minute until the day leaves fewer requests than the minute. From then on the day is the
 * tighter limit, and they describe the day.
 */
export class RateLimiter {
  readonly #policy: LimiterPolicy;
  // Only issued keys ever get here, so there are as many as keys.
  readonly #meters = new Map<string, Readonly<Record<'minute' | 'day', LimitMeter>>>();

  constructor(policy: LimiterPolicy) {
    this.#policy = policy;
  }

  /** Spends a request of the key, or says which window has none left. */
  admit(key: ApiKey, now: number): { readonly quota: Quota; readonly refusedBy: 'minute' | 'day' | null } {
    const { minute, day } = this.metersOf(key);
    const leftOfDay = day.left(now);
    const leftOfMinute = minute.left(now);
    if (leftOfDay <= 0) return { quota: quotaOf(day, 0, now), refusedBy: 'day' };
    if (leftOfMinute <= 0) {
      minute.refused?.(now);
      return { quota: quotaOf(minute, 0, now), refusedBy: 'minute' };
    }
    minute.spend(now);
    day.spend(now);
    const byDay = leftOfDay < leftOfMinute;
    const quota = byDay ? quotaOf(day, leftOfDay - 1, now) : quotaOf(minute, leftOfMinute - 1, now);
    return { quota, refusedBy: null };
  }

  /** When both windows have a request left for the key. */
  freeAt(key: ApiKey, now: number): number {
    const { minute, day } = this.metersOf(key);
    return Math.max(...[minute, day].map((meter) => (meter.left(now) > 0 ? now : meter.freeAt(now))));
  }

  metersOf(key: ApiKey): Readonly<Record<'minute' | 'day', LimitMeter>> {
    const account = this.#policy.accountOf(key);
    const limits = this.#policy.limitsOf(key);
    const meters = this.#meters.get(account) ?? {
      minute: { limit: limits.perMinute, ...this.#policy.minuteMeter(limits.perMinute, MINUTE) },
      day: { limit: limits.perDay, ...this.#policy.dayMeter(limits.perDay, DAY) },
    };
    this.#meters.set(account, meters);
    return meters;
  }
}
