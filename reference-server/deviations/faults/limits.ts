import type { Call } from '../../call.ts';
import { refused } from '../../conforming.ts';
import type { Plan } from '../../plans.ts';
import { type MeterKind, windowFromFirst } from '../../rate-limiter.ts';
import { slidingLog, tokenBucket } from '../meters.ts';
import { type Personality, together } from '../personality.ts';
import { admitting, failing, header, heldBack, minuteBy, queried } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import {
  admitsOther,
  byDay,
  everyTime,
  letThrough,
  retryAfter,
  uncounted,
  windowCounter,
} from './windows.ts';

/** A minute of another length. */
const windowOf = (seconds: number): Personality => ({
  recipe: ({ minuteMeter }) => ({ minuteMeter: (limit) => minuteMeter(limit, seconds * 1000) }),
});

/** Admits everything, while the headers count down to 0. */
const unlimited = (plan: Plan, window: 'perMinute' | 'perDay' = 'perMinute') =>
  admitsOther(plan, window, 1_000_000_000);

/**
 * A limiter that reads the count on arrival and writes it with the answer: whoever arrives in between sees the old
 * count. Answers are held back for a moment, so that requests do meet.
 */
const racing = (races: (call: Call) => boolean) => () => {
  const underWay = new Map<string, { calls: number; quota: Call['quota'] }>();
  const counting = admitting((usual, key, call) => {
    const other = underWay.get(key.name);
    if (other !== undefined && other.calls > 0 && races(call)) {
      other.calls += 1;
      return { quota: other.quota, refusedBy: null, refusal: null };
    }
    const gate = usual(key, call);
    if (gate.refusal === null && races(call)) underWay.set(key.name, { calls: 1, quota: gate.quota });
    return gate;
  });
  const written = heldBack(
    (_answer, call) => (call.refusedBy === null && races(call) ? 3 : 0),
    ({ key }) => {
      const own = underWay.get(key?.name ?? '');
      if (own !== undefined) own.calls -= 1;
    },
  );
  return together(counting, written);
};

/** Another limit from the second window of a key on. */
const laterWindows = (change: (limit: number) => number): Personality => ({
  recipe: () => ({
    minuteMeter(limit, windowMs) {
      const first = windowFromFirst(limit, windowMs);
      const later = windowFromFirst(change(limit), windowMs);
      let firstEnds = Number.POSITIVE_INFINITY;
      const current = (now: number) => (now >= firstEnds ? later : first);
      return {
        limit,
        left: (now) => current(now).left(now),
        spend(now) {
          current(now).spend(now);
          if (firstEnds === Number.POSITIVE_INFINITY) firstEnds = first.resetAt(now);
        },
        freeAt: (now) => current(now).freeAt(now),
        resetAt: (now) => current(now).resetAt(now),
      };
    },
  }),
});

/** As a bucket that holds a single token. */
const atIntervals: MeterKind = (limit, windowMs) => ({ ...tokenBucket(1, windowMs / limit), limit });

/** Takes twice the time, and says when the bucket would be full if it refilled as it is to. */
const halfRefilled: MeterKind = (limit, windowMs) => {
  const bucket = tokenBucket(limit, windowMs * 2);
  return { ...bucket, resetAt: (now) => (now + bucket.resetAt(now)) / 2 };
};

/** Faults of a plan that admits another number of requests than it has, by so many. */
const offBy = (
  plan: Plan,
  window: 'perMinute' | 'perDay',
  ...differences: readonly number[]
): FaultTable[string] =>
  Object.fromEntries(
    differences.map((difference) => {
      const by = `${Math.abs(difference)} ${difference < 0 ? 'fewer' : 'more'}`;
      const unit = window === 'perMinute' ? 'minute' : 'day';
      const name = `${plan}-${by.replace(' ', '-')}-a-${unit}`;
      return [
        name,
        [`A ${plan} key has ${by} requests a ${unit} than its plan.`, admitsOther(plan, window, difference)],
      ];
    }),
  );

/** Section 8: how many requests a minute and a day have, and how the day is refused. */
// biome-ignore format: a table, a line or two for each fault
export const LIMIT_FAULTS: FaultTable = {
  'rate-minute-free': {
    ...offBy('free', 'perMinute', -10, -1, 1, 10),
    'free-unlimited': ['A Free key is never refused for its minute.', unlimited('free')],
    'free-minute-of-30-seconds': ['The minute of every key is over after 30 seconds.', windowOf(30)],
    'free-get-uncounted': ['Retrievals are not counted.',
      uncounted((call) => call.route.operation === 'getPet')],
    'free-add-uncounted': ['Additions are not counted.',
      uncounted((call) => call.route.operation === 'createPet')],
    'free-small-lists-uncounted': ['Lists with limit=1 are not counted.',
      uncounted((call) => queried(call, 'limit=1'))],
    'sliding-window-half-minute': ['A sliding window looks back for half a minute only.',
      minuteBy((limit, windowMs) => slidingLog(limit, windowMs / 2))],
    'bucket-refills-twice-as-fast': ['A bucket of the right size refills in half a minute.',
      minuteBy((limit, windowMs) => tokenBucket(limit, windowMs / 2))],
    'burst-of-one': ['Requests are admitted one by one, at even intervals.', minuteBy(atIntervals)],
  },
  'rate-minute-pro': {
    ...offBy('pro', 'perMinute', -290, -10, -1, 1, 10),
    'one-at-a-time': ['Requests are admitted one by one, at even intervals, and others are told to wait two seconds.',
      minuteBy(atIntervals), retryAfter(() => '2')],
    'pro-unlimited': ['A Pro key is never refused for its minute.', unlimited('pro')],
  },
  'rate-minute-business': {
    ...offBy('business', 'perMinute', -10, -1, 10, -700),
  },
  'rate-minute-enterprise': {
    ...offBy('enterprise', 'perMinute', -10, 10),
    'enterprise-unlimited': ['An Enterprise key is never refused for its minute.', unlimited('enterprise')],
  },
  'rate-concurrent': {
    'limiter-races': ['Requests that are under way at the same moment count as one.', racing(() => true)],
    'limiter-races-on-lists': ['Lists that are under way at the same moment count as one.',
      racing(({ route }) => route.operation === 'listPets')],
  },
  'rate-next-window': {
    'second-window-half': ['From its second window on, a key has half of its requests.',
      laterWindows((limit) => Math.floor(limit / 2))],
    'second-window-ten-more': ['From its second window on, a key has ten requests more.',
      laterWindows((limit) => limit + 10)],
    'second-window-one-less': ['From its second window on, a key has one request less.',
      laterWindows((limit) => limit - 1)],
    'second-window-closed-after-429': ['The window after a refusal has ten requests fewer.',
      ({ limiter }) => {
        const windows = windowCounter();
        const used = new Map<
          string, { window: number; admitted: number; refused: boolean; short: boolean }>();
        return admitting((usual, key, call) => {
          const before = used.get(key.name);
          const quota = limiter.closed(key, call.now);
          const window = windows({ ...call, key, quota });
          const current = before?.window === window
            ? before
            : { window, admitted: 0, refused: false, short: before?.refused ?? false };
          used.set(key.name, current);
          if (current.short && current.admitted >= quota.limit - 10)
            return { quota, refusedBy: 'minute', refusal: refused('minute', quota.resetAt, call.now) };
          const gate = usual(key, call);
          if (gate.refusal === null) current.admitted += 1;
          else current.refused = true;
          return gate;
        });
      }],
    'bucket-refills-half-as-fast': ['A bucket of the right size takes two minutes to refill.',
      minuteBy(halfRefilled)],
  },
  'rate-day-free': {
    ...offBy('free', 'perDay', -10, -1, 1, 10),
    'free-day-unlimited': ['A Free key has no limit per day.', unlimited('free', 'perDay')],
    'day-of-ten-minutes': ['The day of every key is over after ten minutes.',
      { recipe: ({ dayMeter }) => ({ dayMeter: (limit) => dayMeter(limit, 600_000) }) }],
    'day-every-fourth-served': ['After the end of its day every fourth request is served.',
      () => letThrough('day', everyTime(4))],
    'day-add-served': ['After the end of its day additions are served.',
      letThrough('day', ({ route }) => route.operation === 'createPet')],
    'day-open-again-after-a-minute': ['A minute after the end of its day a key is served again.', () => {
      const ended = new Map<string, number>();
      return letThrough('day', ({ now }, { name }) => {
        ended.set(name, ended.get(name) ?? now);
        return now >= (ended.get(name) ?? now) + 60_000;
      });
    }],
  },
  'rate-day-pro': {
    ...offBy('pro', 'perDay', -10, 10),
    'pro-day-unlimited': ['A Pro key has no limit per day.', unlimited('pro', 'perDay')],
  },
  'rate-day-business': {
    ...offBy('business', 'perDay', -10, 10),
  },
  'rate-day-enterprise': {
    ...offBy('enterprise', 'perDay', -10, 10),
  },
  'rate-day-refusal': {
    'day-refusal-for-a-minute': ["The day's refusal says to retry after a minute.", retryAfter(() => '60', byDay)],
    'day-refusal-without-retry-after': ["The day's refusal has no Retry-After.", retryAfter(() => null, byDay)],
    'day-refusal-for-two-days': ["The day's refusal says to retry after two days.",
      retryAfter(() => '172800', byDay)],
    'day-refusal-at-once': ["The day's refusal says to retry after 0 seconds.", retryAfter(() => '0', byDay)],
    'day-refusal-half': ["The day's refusal says to retry after half of what is left of the day.",
      retryAfter((seconds) => String(Math.floor(seconds / 2)), byDay)],
    'day-refusal-reset-in-a-minute': ["X-RateLimit-Reset of the day's refusal is a minute ahead.",
      header('X-RateLimit-Reset', byDay, (_value, call) => String(Math.ceil(call.now / 1000) + 60))],
    'day-refusal-reset-beyond-day': ["X-RateLimit-Reset of the day's refusal is two days later.",
      header('X-RateLimit-Reset', byDay, (value) => String(Number(value) + 172_800))],
    'day-refusal-for-a-second': ["The day's refusal says to retry after a second.",
      retryAfter(() => '1', byDay)],
    'day-refusal-403': ["The day's refusal is a 403.", failing(403, byDay)],
    'day-refusal-402': ["The day's refusal is a 402.", failing(402, byDay)],
  },
};
