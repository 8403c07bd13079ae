import type { Call } from '../../call.ts';
import type { Plan } from '../../plans.ts';
import { type MeterKind, windowFromFirst } from '../../rate-limiter.ts';
import { slidingLog, tokenBucket } from '../meters.ts';
import { type Personality, together } from '../personality.ts';
import { admitting, everyTime, failing, header, heldBack, minuteBy, queried } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { admitsOther, byDay, letThrough, retryAfter, uncounted } from './windows.ts';

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

/** Another limit from the second window of a key on, which may depend on whether the one before was exceeded. */
const laterWindows = (change: (limit: number, wasExceeded: boolean) => number): Personality =>
  minuteBy((limit, windowMs) => {
    const window = windowFromFirst(limit, windowMs);
    let [endsAt, more, isExceeded] = [0, 0, false];
    const moreAt = (now: number) => (now < endsAt || endsAt === 0 ? more : change(limit, isExceeded) - limit);
    const left = (now: number) => window.left(now) + moreAt(now);
    return {
      ...window,
      left,
      spend(now) {
        if (now >= endsAt) [more, isExceeded] = [moreAt(now), false];
        window.spend(now);
        endsAt = window.resetAt(now);
      },
      refused() {
        isExceeded = true;
      },
      freeAt: (now) => (left(now) > 0 ? now : window.resetAt(now)),
    };
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
      const by = `${Math.abs(difference)}-${difference < 0 ? 'fewer' : 'more'}`;
      const unit = window === 'perMinute' ? 'minute' : 'day';
      return [`${plan}-${by}-a-${unit}`, admitsOther(plan, window, difference)];
    }),
  );

/** Section 8: how many requests a minute and a day have, and how the day is refused. */
// biome-ignore format: a table, a line for most faults
export const LIMIT_FAULTS: FaultTable = {
  'rate-minute-free': {
    ...offBy('free', 'perMinute', -10, -1, 1, 10),
    'free-unlimited': unlimited('free'),
    'free-minute-of-30-seconds': windowOf(30),
    'free-get-uncounted': uncounted((call) => call.route.operation === 'getPet'),
    'free-add-uncounted': uncounted((call) => call.route.operation === 'createPet'),
    'free-small-lists-uncounted': uncounted((call) => queried(call, 'limit=1')),
    'sliding-window-half-minute': minuteBy((limit, windowMs) => slidingLog(limit, windowMs / 2)),
    'bucket-refills-twice-as-fast': minuteBy((limit, windowMs) => tokenBucket(limit, windowMs / 2)),
    'burst-of-one': minuteBy(atIntervals),
  },
  'rate-minute-pro': {
    ...offBy('pro', 'perMinute', -290, -10, -1, 1, 10),
    'one-at-a-time': [minuteBy(atIntervals), retryAfter(() => '2')],
    'pro-unlimited': unlimited('pro'),
  },
  'rate-minute-business': {
    ...offBy('business', 'perMinute', -10, -1, 10, -700),
  },
  'rate-minute-enterprise': {
    ...offBy('enterprise', 'perMinute', -10, 10),
    'enterprise-unlimited': unlimited('enterprise'),
  },
  'rate-concurrent': {
    'limiter-races': racing(() => true),
    'limiter-races-on-lists': racing(({ route }) => route.operation === 'listPets'),
  },
  'rate-next-window': {
    'second-window-half': laterWindows((limit) => Math.floor(limit / 2)),
    'second-window-ten-more': laterWindows((limit) => limit + 10),
    'second-window-one-less': laterWindows((limit) => limit - 1),
    'second-window-closed-after-429': laterWindows((limit, wasExceeded) => wasExceeded ? limit - 10 : limit),
    'bucket-refills-half-as-fast': minuteBy(halfRefilled),
  },
  'rate-day-free': {
    ...offBy('free', 'perDay', -10, -1, 1, 10),
    'free-day-unlimited': unlimited('free', 'perDay'),
    'day-of-ten-minutes': { recipe: ({ dayMeter }) => ({ dayMeter: (limit) => dayMeter(limit, 600_000) }) },
    'day-every-fourth-served': () => letThrough('day', everyTime(4)),
    'day-add-served': letThrough('day', ({ route }) => route.operation === 'createPet'),
    // A minute after the end of its day a key is served again.
    'day-open-again-after-a-minute': () => {
      const ended = new Map<string, number>();
      return letThrough('day', ({ now }, { name }) => {
        ended.set(name, ended.get(name) ?? now);
        return now >= (ended.get(name) ?? now) + 60_000;
      });
    },
  },
  'rate-day-pro': {
    ...offBy('pro', 'perDay', -10, 10),
    'pro-day-unlimited': unlimited('pro', 'perDay'),
  },
  'rate-day-business': {
    ...offBy('business', 'perDay', -10, 10),
  },
  'rate-day-enterprise': {
    ...offBy('enterprise', 'perDay', -10, 10),
  },
  'rate-day-refusal': {
    'day-refusal-for-a-minute': retryAfter(() => '60', byDay),
    'day-refusal-without-retry-after': retryAfter(() => null, byDay),
    'day-refusal-for-two-days': retryAfter(() => '172800', byDay),
    'day-refusal-at-once': retryAfter(() => '0', byDay),
    'day-refusal-half': retryAfter((seconds) => String(Math.floor(seconds / 2)), byDay),
    'day-refusal-reset-in-a-minute':
      header('X-RateLimit-Reset', byDay, (_value, call) => String(Math.ceil(call.now / 1000) + 60)),
    'day-refusal-reset-beyond-day':
      header('X-RateLimit-Reset', byDay, (value) => String(Number(value) + 172_800)),
    'day-refusal-for-a-second': retryAfter(() => '1', byDay),
    'day-refusal-403': failing(403, byDay),
    'day-refusal-402': failing(402, byDay),
  },
};
