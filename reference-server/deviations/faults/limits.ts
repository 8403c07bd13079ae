import { type ApiKey, bearerToken, type IssuedKey } from '../../api-keys.ts';
import type { Call, Gate } from '../../design.ts';
import type { Plan, PlanLimits } from '../../plans.ts';
import type { MeterKind } from '../../rate-limiter.ts';
import { admitting, gating, identifying, letThrough, refusedBy } from '../admission.ts';
import { failing, heldBack } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { header, retryAfter } from '../headers.ts';
import { slidingLog, tokenBucket } from '../meters.ts';
import { always, everyTime, ofEach, on, queried } from '../when.ts';

/**
 * Admits another number of requests than the plan has, while the headers go on to show the plan's number.
 *
 * @param difference requests too many, or too few where negative
 */
const admitsOther = (plan: Plan, window: keyof PlanLimits, difference: number): Deviation => [
  ({ limitsOf }) => ({
    limitsOf(key) {
      const limits = limitsOf(key);
      return key.plan === plan ? { ...limits, [window]: limits[window] + difference } : limits;
    },
  }),
  gating((gate, key, { service }) => {
    const actual = service.limitsOf(key)[window];
    if (key.plan !== plan || gate.quota.limit !== actual) return gate;
    const shown = gate.refusal === null ? Math.max(0, gate.quota.remaining - difference) : 0;
    return { ...gate, quota: { ...gate.quota, limit: actual - difference, remaining: shown } };
  }),
];

/** Serves some requests without counting them, while X-RateLimit-Remaining falls as if they were counted, or tells it. */
export const uncounted = (when: (call: Call) => boolean, isHidden: boolean) => () => {
  const accounts = new Map<string, { quota: Call['quota']; free: number }>();
  return admitting((usual, key, call) => {
    const known = accounts.get(key.name);
    if (known !== undefined && when(call)) {
      known.free += Number(isHidden);
      const remaining = Math.max(0, known.quota.remaining - known.free);
      return { quota: { ...known.quota, remaining }, refusedBy: null, refusal: null };
    }
    const gate = usual(key, call);
    const free = known?.quota.resetAt === gate.quota.resetAt ? known.free : 0;
    accounts.set(key.name, { quota: gate.quota, free });
    return { ...gate, quota: { ...gate.quota, remaining: Math.max(0, gate.quota.remaining - free) } };
  });
};

/** Admits everything, while the headers count down to 0. */
const unlimited = (plan: Plan, window: keyof PlanLimits = 'perMinute') =>
  admitsOther(plan, window, 1_000_000_000);

/**
 * A limiter that reads the count on arrival and writes it with the answer: whoever arrives in between sees the old
 * count. Answers are held back for a moment, so that requests do meet.
 */
const racing = (races: (call: Call) => boolean) => () => {
  const underWay = ofEach((): { calls: number; gate: Gate | null } => ({ calls: 0, gate: null }));
  const counting = admitting((usual, key, call) => {
    if (!races(call)) return usual(key, call);
    const own = underWay(key.name);
    const gate = (own.calls > 0 ? own.gate : null) ?? usual(key, call);
    if (gate.refusal === null) Object.assign(own, { calls: own.calls + 1, gate });
    return gate;
  });
  const written = heldBack(
    (call) => (call.refusedBy === null && races(call) ? 3 : 0),
    ({ key }) => {
      underWay(key?.name).calls -= 1;
    },
  );
  return [counting, written];
};

/** Another limit from the second window of a key on, which may depend on whether the one before was exceeded. */
const laterWindows = (change: (limit: number, wasExceeded: boolean) => number): Deviation => ({
  minuteMeter(limit, windowMs) {
    let [endsAt, left, isExceeded] = [0, limit, false];
    const leftAt = (now: number) => (now < endsAt || endsAt === 0 ? left : change(limit, isExceeded));
    return {
      left: leftAt,
      spend(now) {
        left = leftAt(now) - 1;
        if (now >= endsAt) [endsAt, isExceeded] = [now + windowMs, false];
      },
      refused() {
        isExceeded = true;
      },
      freeAt: () => endsAt,
      resetAt: (now) => (now < endsAt ? endsAt : now + windowMs),
    };
  },
});

/** As a bucket that holds a single token. */
const atIntervals: MeterKind = (limit, windowMs) => tokenBucket(1, windowMs / limit);

/** Takes twice the time, and says when the bucket would be full if it refilled as it is to. */
const halfRefilled: MeterKind = (limit, windowMs) => {
  const bucket = tokenBucket(limit, windowMs * 2);
  return { ...bucket, resetAt: (now) => (now + bucket.resetAt(now)) / 2 };
};

/** Faults of a plan that admits another number of requests than it has, by so many. */
const offBy = (plan: Plan, window: keyof PlanLimits, ...differences: readonly number[]) =>
  Object.fromEntries(
    differences.map((difference) => {
      const by = `${Math.abs(difference)}-${difference < 0 ? 'fewer' : 'more'}`;
      const unit = window === 'perMinute' ? 'minute' : 'day';
      return [`${plan}-${by}-a-${unit}`, admitsOther(plan, window, difference)];
    }),
  );

/** Spends a request of keys that did not make it, given the key that did, if any. */
const charging = (pays: (other: IssuedKey, key: ApiKey | null, call: Call) => boolean): Deviation =>
  identifying((key, call) => {
    const { keys, limiter } = call.service;
    for (const other of keys) if (pays(other, key, call)) limiter.admit(other, call.now);
    return key;
  });

/** Sections 5 and 8: how many requests a minute and a day have, how the day is refused, whose quota a request takes. */
// biome-ignore format: a table, a line for most faults
export const LIMIT_FAULTS: DeviationTable = {
  'rate-minute-free': {
    ...offBy('free', 'perMinute', -10, -1, 1, 10),
    'free-unlimited': unlimited('free'),
    'free-minute-of-30-seconds': ({ minuteMeter }) => ({ minuteMeter: (limit) => minuteMeter(limit, 30_000) }),
    'free-get-uncounted': uncounted(on('getPet'), true),
    'free-add-uncounted': uncounted(on('createPet'), true),
    'free-small-lists-uncounted': uncounted(queried('limit=1'), true),
    'sliding-window-half-minute': { minuteMeter: (limit, windowMs) => slidingLog(limit, windowMs / 2) },
    'bucket-refills-twice-as-fast': { minuteMeter: (limit, windowMs) => tokenBucket(limit, windowMs / 2) },
    'burst-of-one': { minuteMeter: atIntervals },
  },
  'rate-minute-pro': {
    ...offBy('pro', 'perMinute', -290, -10, -1, 1, 10),
    'one-at-a-time': [{ minuteMeter: atIntervals }, retryAfter(() => '2')],
    'pro-unlimited': unlimited('pro'),
  },
  'rate-minute-business': offBy('business', 'perMinute', -10, -1, 10, -700),
  'rate-minute-enterprise': {
    ...offBy('enterprise', 'perMinute', -10, 10),
    'enterprise-unlimited': unlimited('enterprise'),
  },
  'rate-concurrent': {
    'limiter-races': racing(always),
    'limiter-races-on-lists': racing(on('listPets')),
  },
  'rate-next-window': {
    'second-window-half': laterWindows((limit) => Math.floor(limit / 2)),
    'second-window-ten-more': laterWindows((limit) => limit + 10),
    'second-window-one-less': laterWindows((limit) => limit - 1),
    'second-window-closed-after-429': laterWindows((limit, wasExceeded) => wasExceeded ? limit - 10 : limit),
    'bucket-refills-half-as-fast': { minuteMeter: halfRefilled },
  },
  'rate-day-free': {
    ...offBy('free', 'perDay', -10, -1, 1, 10),
    'free-day-unlimited': unlimited('free', 'perDay'),
    'day-of-ten-minutes': ({ dayMeter }) => ({ dayMeter: (limit) => dayMeter(limit, 600_000) }),
    'day-every-fourth-served': () => letThrough('day', everyTime(4)),
    'day-add-served': letThrough('day', on('createPet')),
    'day-open-again-after-a-minute': () => {
      const refused = ofEach(() => ({ at: 0 }));
      return letThrough('day', ({ now }, { name }) => {
        refused(name).at ||= now;
        return now >= refused(name).at + 60_000;
      });
    },
  },
  'rate-day-pro': {
    ...offBy('pro', 'perDay', -10, 10),
    'pro-day-unlimited': unlimited('pro', 'perDay'),
  },
  'rate-day-business': offBy('business', 'perDay', -10, 10),
  'rate-day-enterprise': offBy('enterprise', 'perDay', -10, 10),
  'rate-day-refusal': {
    'day-refusal-for-a-minute': retryAfter(() => '60', refusedBy('day')),
    'day-refusal-without-retry-after': retryAfter(() => null, refusedBy('day')),
    'day-refusal-for-two-days': retryAfter(() => '172800', refusedBy('day')),
    'day-refusal-at-once': retryAfter(() => '0', refusedBy('day')),
    'day-refusal-half': retryAfter((seconds) => Math.floor(seconds / 2), refusedBy('day')),
    'day-refusal-reset-in-a-minute':
      header('X-RateLimit-Reset', refusedBy('day'), (_value, call) => Math.ceil(call.now / 1000) + 60),
    'day-refusal-reset-beyond-day':
      header('X-RateLimit-Reset', refusedBy('day'), (value) => Number(value) + 172_800),
    'day-refusal-for-a-second': retryAfter(() => '1', refusedBy('day')),
    'day-refusal-403': failing(403, refusedBy('day')),
    'day-refusal-402': failing(402, refusedBy('day')),
  },
  'rate-keys-apart': {
    'free-keys-share': { accountOf: (key) => (key.plan === 'free' ? 'free' : key.name) },
    'address-shares': charging((other, key) => key !== null && other.name !== key.name),
    'all-keys-share': { accountOf: (key) => key.plan },
    'free-key-spends-pro': charging((other, key) => key?.plan === 'free' && other.plan === 'pro'),
  },
  'rate-invalid-key-free': {
    'unknown-key-spends-all':
      charging((_other, key, { authorization }) => key === null && bearerToken(authorization) !== null),
    // A request with a key that is almost right spends the quota of the key that it resembles.
    'near-miss-spends': charging(({ value }, key, { authorization }) => {
      const beginning = bearerToken(authorization)?.slice(0, 8).toLowerCase() ?? '';
      return key === null && beginning.length === 8 && value.toLowerCase().startsWith(beginning);
    }),
    // A request with a valid key in another scheme is refused and spends its quota.
    'other-scheme-spends': charging(({ value }, key, { authorization }) => {
      const sent = /(\S+)$/.exec(authorization ?? '')?.[1] ?? '';
      const isMeant = sent === value || Buffer.from(sent, 'base64').toString().includes(value);
      return key === null && isMeant;
    }),
    // A request without a key spends the quota of the key that came before it.
    'missing-key-spends': () => {
      let last = '';
      return charging(({ name }, key, { authorization }) => {
        if (key !== null) last = key.name;
        return authorization === null && name === last;
      });
    },
  },
};
