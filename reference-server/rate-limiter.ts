import type { ApiKey } from './api-keys.ts';
import type { PlanLimits } from './plans.ts';
import type { Meter, MeterKind } from './rate-meter.ts';

export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** The contents of the three rate headers. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since 1970. The header rounds up to the second, so that the limit has reset by then. */
  readonly resetAt: number;
}

/** The result of a request: admitted and paid for, or refused by a window. */
export interface Admission {
  readonly quota: Quota;
  readonly refusedBy: 'minute' | 'day' | null;
  /** When the key is admitted again; meaningful only after a refusal. */
  readonly retryAt: number;
}

/** The meters of one account. */
export interface Meters {
  readonly minute: Meter;
  readonly day: Meter;
}

/** How a limiter counts, and for whom. */
export interface LimiterPolicy {
  limitsOf(key: ApiKey): PlanLimits;
  /** The account that pays for a key; usually each key has its own. */
  accountOf(key: ApiKey): string;
  readonly minuteMeter: MeterKind;
  readonly dayMeter: MeterKind;
}

/** The headers that describe one meter. */
export function quotaOf(meter: Meter, remaining: number, now: number): Quota {
  return { limit: meter.limit, remaining, resetAt: meter.resetAt(now) };
}

/**
 * Section 8: requests per minute and per day, counted for each key. A refused request spends nothing.
 *
 * The headers describe the minute until the day leaves fewer requests than the minute. From then on the day is the
 * tighter limit, and they describe the day.
 */
export class RateLimiter {
  readonly #policy: LimiterPolicy;
  // Only issued keys ever get here, so its size is bounded by configuration.
  readonly #meters = new Map<string, Meters>();

  constructor(policy: LimiterPolicy) {
    this.#policy = policy;
  }

  admit(key: ApiKey, now: number): Admission {
    const { minute, day } = this.metersOf(key);
    const leftOfDay = day.left(now);
    const leftOfMinute = minute.left(now);
    if (leftOfDay <= 0) return { quota: quotaOf(day, 0, now), refusedBy: 'day', retryAt: day.freeAt(now) };
    if (leftOfMinute <= 0) {
      minute.refused?.(now);
      return { quota: quotaOf(minute, 0, now), refusedBy: 'minute', retryAt: minute.freeAt(now) };
    }
    minute.spend(now);
    day.spend(now);
    const byDay = leftOfDay < leftOfMinute;
    const quota = byDay ? quotaOf(day, leftOfDay - 1, now) : quotaOf(minute, leftOfMinute - 1, now);
    return { quota, refusedBy: null, retryAt: now };
  }

  /** The quota of a banned key: nothing is spent, and nothing of the minute can be used. */
  closed(key: ApiKey, now: number): Quota {
    return quotaOf(this.metersOf(key).minute, 0, now);
  }

  /** When both windows have a request left for the key. */
  freeAt(key: ApiKey, now: number): number {
    const { minute, day } = this.metersOf(key);
    return Math.max(minute.freeAt(now), day.freeAt(now));
  }

  metersOf(key: ApiKey): Meters {
    const account = this.#policy.accountOf(key);
    const known = this.#meters.get(account);
    if (known !== undefined) return known;
    const limits = this.#policy.limitsOf(key);
    const meters = {
      minute: this.#policy.minuteMeter(limits.perMinute, MINUTE),
      day: this.#policy.dayMeter(limits.perDay, DAY),
    };
    this.#meters.set(account, meters);
    return meters;
  }
}
