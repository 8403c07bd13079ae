import type { ApiKey } from '../../api-keys.ts';
import type { Call } from '../../design.ts';
import { httpDate } from '../../headers.ts';
import { type Quota, quotaOf } from '../../rate-limiter.ts';
import { gating, refusedBy } from '../admission.ts';
import { answering, delivering, restated } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { changedHeader, headersAbsent, type Rewrite, retryAfter, sendingHeaders } from '../headers.ts';
import * as meters from '../meters.ts';
import { always } from '../when.ts';

/** What a key's headers say of its minute, or of its day. */
function quotaIn(window: 'minute' | 'day', key: ApiKey, { now, service }: Call): Quota {
  const meter = service.limiter.metersOf(key)[window];
  return quotaOf(meter, Math.max(0, meter.left(now)), now);
}

/** Reads what is left as it answers: requests that came meanwhile are counted already. */
const remainingWhenAnswered = delivering((usual, response, answered, headers, call) => {
  const { key, now, service } = call;
  if (key === null || call.refusedBy !== null) return usual(response, answered, headers, call);
  const left = () => String(Math.max(0, service.limiter.metersOf(key).minute.left(now)));
  setTimeout(() => {
    usual(response, answered, changedHeader(headers, 'X-RateLimit-Remaining', left), call);
  }, 5);
});

/** The headers always describe one window. That the day is spent shows in the code, and in a Retry-After of hours. */
const headersOf = (window: 'minute' | 'day') =>
  gating((gate, key, call) => ({ ...gate, quota: quotaIn(window, key, call) }));
export const headersOfTheDay = headersOf('day');

const headersOfBoth = sendingHeaders((usual, answered, call) => {
  const headers = usual(answered, call);
  if (call.key === null) return headers;
  const { limit, remaining, resetAt } = quotaIn('day', call.key, call);
  headers.push('X-RateLimit-Limit-Day', String(limit), 'X-RateLimit-Remaining-Day', String(remaining));
  headers.push('X-RateLimit-Reset-Day', String(Math.ceil(resetAt / 1000)));
  return headers;
});

const retryAfterAs = (write: Rewrite<number>) => retryAfter(write, always);

/** A ban with a status of its own, which says when it ends or does not. */
const banAnsweredWith = (status: 403 | 401, saysWhen: boolean): Deviation => [
  answering(refusedBy('ban'), (answer) => restated(answer, status)),
  ...(saysWhen ? [] : [headersAbsent(refusedBy('ban'), 'Retry-After')]),
];

const banOf = (threshold: number, seconds: number): Deviation => ({ ban: { threshold, seconds } });

/** Callers without a valid key are shown the Free plan, untouched. */
const strangersSeeFreePlan = sendingHeaders((usual, answered, call) => {
  if (call.key === null) {
    const limit = call.service.limitsOf({ name: 'stranger', plan: 'free' }).perMinute;
    call.quota = { limit, remaining: limit, resetAt: call.now + 60_000 };
  }
  return usual(answered, call);
});

/** A share of the day of each key, or of the first so many, was used six hours ago, or at midnight if that is later. */
const dayUsed =
  (percent: number, most = Number.POSITIVE_INFINITY): Deviation =>
  ({ dayMeter }) => {
    let keys = 0;
    return {
      dayMeter(limit, windowMs) {
        const meter = dayMeter(limit, windowMs);
        keys += 1;
        let toSpend = keys > most ? 0 : (limit * percent) / 100;
        return {
          ...meter,
          left(now) {
            const before = Math.max(now - 6 * 3_600_000, now - (now % windowMs));
            for (; toSpend >= 1; toSpend -= 1) meter.spend(before);
            return meter.left(now);
          },
        };
      },
    };
  };

/** Windows, days, bans, and the headers that tell of them. */
// biome-ignore format: a table, a line for most answers
export const LIMIT_ANSWERS = {
  'rate-window-kind': {
    // Both windows begin and end by the clock.
    fixed: { minuteMeter: meters.windowByClock, dayMeter: meters.windowByClock },
    'refilling (log)': { minuteMeter: meters.slidingLog },
    'refilling (log of all)': { minuteMeter: meters.slidingLogOfAll },
    'refilling (slots)': { minuteMeter: meters.slidingSlots },
    'refilling (counter)': { minuteMeter: meters.slidingCounter },
    'refilling (counter, told until whole)': { minuteMeter: (limit, windowMs) => {
      const counter = meters.slidingCounter(limit, windowMs);
      return { ...counter, resetAt: (now) => counter.resetAt(now) + windowMs };
    } },
    'refilling (bucket)': { minuteMeter: meters.tokenBucket },
    'refilling (bucket by the second)': { minuteMeter: meters.bucketInSteps(1000) },
    'refilling (bucket by ten seconds)': { minuteMeter: meters.bucketInSteps(10_000) },
  },
  'day-kind': {
    utc: { dayMeter: meters.windowByClock },
    rolling: { dayMeter: meters.slidingLog },
  },
  'day-used': Object.fromEntries([50, 93, 97, 100].map((percent) => [`${percent}-percent`, dayUsed(percent)])),
  'day-used-of-one': Object.fromEntries(
    [93, 96, 97, 98, 99, 100].map((percent) => [`${percent}-percent`, dayUsed(percent, 1)]),
  ),
  'rate-remaining-moment': { answered: remainingWhenAnswered },
  'rate-headers-window': { minute: headersOf('minute'), day: headersOfTheDay, both: headersOfBoth },
  'retry-after-format': {
    // A date has whole seconds, so the next one is taken.
    'http-date': retryAfterAs((seconds, { now }) => httpDate(now + seconds * 1000 + 999)),
    // RFC 9110 has seconds here, but the document says that the unit is not shown.
    milliseconds: retryAfterAs((seconds) => seconds * 1000),
    // As Go writes a duration: 55s.
    duration: retryAfterAs((seconds) => `${seconds}s`),
  },
  // Longer than needed: a client that waits as told is served, and one that retries sooner may be.
  'retry-after-margin': { 'two-seconds': retryAfterAs((seconds) => seconds + 2) },
  'ban-answer': {
    'no-ban-seen': banOf(Number.POSITIVE_INFINITY, 1),
    'banned-401': banAnsweredWith(401, true),
    'banned-401 (until untold)': banAnsweredWith(401, false),
    'banned-403': banAnsweredWith(403, true),
    'banned-403 (until untold)': banAnsweredWith(403, false),
  },
  'ban-threshold': {
    '1 (30 s)': banOf(1, 30),
    '2 (25 s)': banOf(2, 25),
    '3 (20 s)': banOf(3, 20),
    '3 (90 s)': banOf(3, 90),
    '5 (45 s)': banOf(5, 45),
    '10 (180 s)': banOf(10, 180),
  },
  'quota-without-key': { 'free-plan': strangersSeeFreePlan },
} as const satisfies DeviationTable;
