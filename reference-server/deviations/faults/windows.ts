import type { ApiKey } from '../../api-keys.ts';
import type { Call, RefusedBy } from '../../call.ts';
import type { Plan } from '../../plans.ts';
import { type Personality, together } from '../personality.ts';
import { admitting, header, ofEachKey, type When } from '../shapes.ts';

/** Building blocks for faults of limits and windows. */

/** A deviation that shows from a key's second window on. A new one has begun where its end lies later than before. */
export const fromSecondWindow = (deviation: (when: When) => Personality) => () => {
  const seen = ofEachKey(() => ({ resetAt: Number.NEGATIVE_INFINITY, windows: 0 }));
  return deviation((_answer, { key, quota: { resetAt } }) => {
    if (key === null) return false;
    const known = seen(key);
    if (resetAt > known.resetAt + 1_000) Object.assign(known, { resetAt, windows: known.windows + 1 });
    return known.windows > 1;
  });
};

/** Answers to a valid key. */
export const toValidKey: When = (_answer, call) => call.key !== null;

/** Answers to a valid key that was not refused for its quota or a ban. */
export const whenAdmitted: When = (_answer, call) => call.key !== null && call.refusedBy === null;

/** Refusals for the minute's quota or the day's. */
export const whenOverLimit: When = (answer, call) =>
  answer.status === 429 && (call.refusedBy === 'minute' || call.refusedBy === 'day');

/**
 * Admits another number of requests than the plan has, while the headers go on to show the plan's number.
 *
 * @param difference requests too many, or too few where negative
 */
export const admitsOther = (plan: Plan, window: 'perMinute' | 'perDay', difference: number): Personality =>
  together(
    {
      recipe: ({ limitsOf }) => ({
        limitsOf(key) {
          const limits = limitsOf(key);
          return key.plan === plan ? { ...limits, [window]: limits[window] + difference } : limits;
        },
      }),
    },
    admitting((usual, key, call, _parts, { limitsOf }) => {
      const gate = usual(key, call);
      const actual = limitsOf(key)[window];
      if (key.plan !== plan || gate.quota.limit !== actual) return gate;
      const shown = gate.refusal === null ? Math.max(0, gate.quota.remaining - difference) : 0;
      return { ...gate, quota: { ...gate.quota, limit: actual - difference, remaining: shown } };
    }),
  );

/** Serves some requests without counting them, while X-RateLimit-Remaining falls as if they were counted. */
export const uncounted = (when: (call: Call) => boolean) => () => {
  const accounts = new Map<string, { quota: Call['quota']; free: number }>();
  return admitting((usual, key, call) => {
    const known = accounts.get(key.name);
    if (known !== undefined && when(call)) {
      known.free += 1;
      const remaining = Math.max(0, known.quota.remaining - known.free);
      return { quota: { ...known.quota, remaining }, refusedBy: null, refusal: null };
    }
    const gate = usual(key, call);
    const free = known?.quota.resetAt === gate.quota.resetAt ? known.free : 0;
    accounts.set(key.name, { quota: gate.quota, free });
    return { ...gate, quota: { ...gate.quota, remaining: Math.max(0, gate.quota.remaining - free) } };
  });
};

/** Lets requests through that a window or a ban would refuse. */
export const letThrough = (what: RefusedBy, when: (call: Call, key: ApiKey) => boolean): Personality =>
  admitting((usual, key, call) => {
    const gate = usual(key, call);
    return gate.refusedBy === what && when(call, key) ? { ...gate, refusedBy: null, refusal: null } : gate;
  });

/** Answers 429 for the requests of a minute, or of a day. */
export const byMinute: When = (answer, call) => answer.status === 429 && call.refusedBy === 'minute';
export const byDay: When = (answer, call) => answer.status === 429 && call.refusedBy === 'day';

/** Changes Retry-After; null removes it. */
export const retryAfter = (
  change: (seconds: number, now: number) => string | null,
  when: When = byMinute,
): Personality => header('Retry-After', when, (value, { now }) => change(Number(value), now));
