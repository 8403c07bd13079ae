import type { ApiKey } from '../../api-keys.ts';
import { httpDate } from '../../headers.ts';
import { type MeterKind, quotaOf, type RateLimiter } from '../../rate-limiter.ts';
import {
  bucketBySecond,
  slidingCounter,
  slidingLog,
  slidingLogOfAll,
  tokenBucket,
  windowByClock,
} from '../meters.ts';
import type { Personality } from '../personality.ts';
import {
  admitting,
  answeringAs,
  header,
  headersAbsent,
  minuteBy,
  rewriting,
  sendingHeaders,
} from '../shapes.ts';
import { type Answer, answer } from './variant.ts';

/** Answers about windows, bans, and the headers that tell of them. */

/** Both windows begin and end by the clock. */
export const windowsByClock: Answer = answer('rate-window-kind', 'fixed', {
  recipe: () => ({ minuteMeter: windowByClock, dayMeter: windowByClock }),
});
const refilling = (kind: MeterKind) => answer('rate-window-kind', 'refilling', minuteBy(kind));
export const slidingMinute = refilling(slidingLog);
export const refusalsCounted = refilling(slidingLogOfAll);
export const countedMinute = refilling(slidingCounter);
export const countedUntilWhole = refilling((limit, windowMs) => {
  const counter = slidingCounter(limit, windowMs);
  return { ...counter, resetAt: (now) => counter.resetAt(now) + windowMs };
});
export const bucketMinute = refilling(tokenBucket);
export const bucketMinuteBySecond = refilling(bucketBySecond);

function quotaOfDay(limiter: RateLimiter, key: ApiKey, now: number) {
  const { day } = limiter.metersOf(key);
  return quotaOf(day, Math.max(0, day.left(now)), now);
}

export const headersOfTheDay: Answer = answer(
  'rate-headers-window',
  'day',
  admitting((usual, key, call, { limiter }) => ({
    ...usual(key, call),
    quota: quotaOfDay(limiter, key, call.now),
  })),
);
export const headersOfBoth: Answer = answer(
  'rate-headers-window',
  'both',
  sendingHeaders((usual, answered, call, { limiter }) => {
    const headers = usual(answered, call);
    if (call.key === null) return headers;
    const { limit, remaining, resetAt } = quotaOfDay(limiter, call.key, call.now);
    headers.push('X-RateLimit-Limit-Day', String(limit), 'X-RateLimit-Remaining-Day', String(remaining));
    headers.push('X-RateLimit-Reset-Day', String(Math.ceil(resetAt / 1000)));
    return headers;
  }),
);

const retryAfterAs = (write: (seconds: number, now: number) => string): Personality =>
  header(
    'Retry-After',
    () => true,
    (value, call) => write(Number(value), call.now),
  );

export const retryAfterDate: Answer = answer(
  'retry-after-format',
  'http-date',
  // A date has whole seconds, so the next one is taken.
  retryAfterAs((seconds, now) => httpDate(now + seconds * 1000 + 999)),
);
/** RFC 9110 has seconds here, but the document says that the unit is not shown. */
export const retryAfterMilliseconds: Answer = answer(
  'retry-after-format',
  'milliseconds',
  retryAfterAs((seconds) => String(seconds * 1000)),
);
/** As Go writes a duration: `55s`. */
export const retryAfterDuration: Answer = answer(
  'retry-after-format',
  'duration',
  retryAfterAs((seconds) => `${seconds}s`),
);

export const noBan: Answer = answer('ban-answer', 'no-ban-seen', {
  recipe: () => ({ ban: { threshold: Number.POSITIVE_INFINITY, seconds: 1 } }),
});

/** A ban with a status of its own, which says when it ends or does not. */
export function banAnsweredWith(status: 403 | 401, saysWhen: boolean): Answer {
  const isBan = (_answered: unknown, call: { refusedBy: string | null }) => call.refusedBy === 'ban';
  return answer(
    'ban-answer',
    `banned-${status}`,
    rewriting(isBan, (text) => text.replace('"status":429', `"status":${status}`)),
    answeringAs(status, isBan),
    headersAbsent((answered, call) => isBan(answered, call) && !saysWhen, 'Retry-After'),
  );
}

export function banOf(threshold: number, seconds: number): Answer {
  return answer('ban-threshold', String(threshold), {
    recipe: () => ({ ban: { threshold, seconds } }),
  });
}

/** Callers without a valid key are shown the Free plan, untouched. */
export const strangersSeeFreePlan: Answer = answer(
  'quota-without-key',
  'free-plan',
  sendingHeaders((usual, answered, call, _parts, { limitsOf }) => {
    if (call.key === null) {
      const limit = limitsOf({ name: 'stranger', plan: 'free' }).perMinute;
      call.quota = { limit, remaining: limit, resetAt: call.now + 60_000 };
    }
    return usual(answered, call);
  }),
);

/** Waits a little longer than needed: a client that waits as told is served, and one that retries sooner may be. */
export const generousRetryAfter: Answer = answer(
  'retry-after-margin',
  'two-seconds',
  retryAfterAs((seconds) => String(seconds + 2)),
);
