import { httpDate } from '../conforming.ts';
import { answers, header, type When } from '../deviations.ts';
import type { Personality } from '../personality.ts';
import { type Fault, fault } from './fault.ts';
import { toValidKey, whenAdmitted, whenOverLimit, windowCounter } from './windows.ts';

const LIMIT = 'rate-limit-value';
const REMAINING = 'rate-remaining-value';
const EXHAUSTED = 'rate-remaining-exhausted';
const FALLS = 'rate-remaining-falls';
const RESET = 'rate-reset-value';
const TRUE = 'rate-reset-true';

const limitShown = (when: When, change: (limit: string) => string) =>
  header('X-RateLimit-Limit', when, change);
const remainingShown = (when: When, change: (remaining: number) => string) =>
  header('X-RateLimit-Remaining', when, (value) => change(Number(value)));
const resetShown = (when: When, change: (seconds: number, now: number) => string) =>
  header('X-RateLimit-Reset', when, (value, call) => change(Number(value), call.now));

/** A deviation that shows from a key's second window on. */
function fromSecondWindow(deviation: (when: When) => Personality): Personality {
  return {
    behaviour(usual, parts, recipe) {
      const windowOf = windowCounter();
      const later: When = (_answer, call) => windowOf(call) > 1;
      return deviation(later).behaviour?.(usual, parts, recipe) ?? {};
    },
  };
}

/** A deviation that shows once a key has been refused. */
function afterRefusal(deviation: (when: When) => Personality): Personality {
  return {
    behaviour(usual, parts, recipe) {
      const refused = new Set<string>();
      const later: When = (_answer, call) => {
        if (call.refusedBy !== null && call.key !== null) refused.add(call.key.name);
        return call.key !== null && call.refusedBy === null && refused.has(call.key.name);
      };
      return deviation(later).behaviour?.(usual, parts, recipe) ?? {};
    },
  };
}

/** Shows a Remaining that a rule of its own arrives at, key by key. */
function remainingBy(
  rule: (remaining: number, last: number | undefined, requests: number) => number,
): Personality {
  return {
    behaviour: (usual, parts, recipe) => {
      const last = new Map<string, { shown: number; requests: number }>();
      const ruled = header('X-RateLimit-Remaining', whenAdmitted, (value, { key }) => {
        const known = last.get(key?.name ?? '');
        const requests = (known?.requests ?? 0) + 1;
        const shown = rule(Number(value), known?.shown, requests);
        last.set(key?.name ?? '', { shown, requests });
        return String(shown);
      });
      return ruled.behaviour?.(usual, parts, recipe) ?? {};
    },
  };
}

const onPlan =
  (plan: string): When =>
  (_answer, call) =>
    call.key?.plan === plan;

/** Section 8: what the three headers say. */
export const RATE_VALUE_FAULTS: readonly Fault[] = [
  fault(
    'limit-shown-plus-one',
    LIMIT,
    'X-RateLimit-Limit is one above the plan.',
    limitShown(toValidKey, (limit) => String(Number(limit) + 1)),
  ),
  fault(
    'limit-shown-per-second',
    LIMIT,
    'X-RateLimit-Limit is the number per second.',
    limitShown(toValidKey, (limit) => String(Math.ceil(Number(limit) / 60))),
  ),
  fault(
    'limit-shown-of-other-plan',
    LIMIT,
    'X-RateLimit-Limit of a Pro key is that of Business.',
    limitShown(onPlan('pro'), () => '1000'),
  ),
  fault('limit-shown-as-remaining', LIMIT, 'X-RateLimit-Limit shows what is left.', {
    behaviour: (usual) => ({
      admit(key, call) {
        const gate = usual.admit(key, call);
        return { ...gate, quota: { ...gate.quota, limit: gate.quota.remaining } };
      },
    }),
  }),
  fault(
    'limit-shown-with-window',
    LIMIT,
    'X-RateLimit-Limit carries the window too, as in "60;w=60".',
    limitShown(toValidKey, (limit) => `${limit};w=60`),
  ),
  fault(
    'limit-shown-in-thousands',
    LIMIT,
    'X-RateLimit-Limit has a comma in every thousand, and ".0" below.',
    limitShown(toValidKey, (limit) =>
      Number(limit) >= 1000 ? Number(limit).toLocaleString('en') : `${limit}.0`,
    ),
  ),
  fault(
    'limit-shown-unlimited',
    LIMIT,
    'X-RateLimit-Limit says "unlimited".',
    limitShown(toValidKey, () => 'unlimited'),
  ),
  fault(
    'limit-shown-otherwise-on-add',
    LIMIT,
    'Only on additions X-RateLimit-Limit is ten times the plan.',
    limitShown(
      (_answer, call) => call.key !== null && call.route.operation === 'createPet',
      (limit) => `${limit}0`,
    ),
  ),
  fault(
    'limit-shown-otherwise-on-429',
    LIMIT,
    'Only on a 429 X-RateLimit-Limit is 0.',
    limitShown(whenOverLimit, () => '0'),
  ),
  fault(
    'limit-shown-otherwise-in-second-window',
    LIMIT,
    'From the second window on X-RateLimit-Limit is half the plan.',
    fromSecondWindow((when) => limitShown(when, (limit) => String(Math.floor(Number(limit) / 2)))),
  ),
  fault(
    'limit-shown-otherwise-after-429',
    LIMIT,
    'Once a key was refused, X-RateLimit-Limit is one below the plan.',
    afterRefusal((when) => limitShown(when, (limit) => String(Number(limit) - 1))),
  ),

  fault(
    'remaining-negative-on-429',
    REMAINING,
    'X-RateLimit-Remaining of a 429 is -1.',
    remainingShown(whenOverLimit, () => '-1'),
  ),
  fault(
    'remaining-one-on-429',
    EXHAUSTED,
    'X-RateLimit-Remaining of a 429 is 1.',
    remainingShown(whenOverLimit, () => '1'),
  ),
  fault(
    'remaining-full-on-429',
    EXHAUSTED,
    'X-RateLimit-Remaining of a 429 is the limit.',
    header('X-RateLimit-Remaining', whenOverLimit, (_value, call) => String(call.quota.limit)),
  ),
  fault('remaining-above-limit', REMAINING, 'X-RateLimit-Remaining is the limit and a half too many.', {
    behaviour: (usual) => ({
      admit(key, call) {
        const gate = usual.admit(key, call);
        const more = gate.refusal === null ? Math.ceil(gate.quota.limit / 2) : 0;
        return { ...gate, quota: { ...gate.quota, remaining: gate.quota.remaining + more } };
      },
    }),
  }),
  fault(
    'remaining-as-text',
    REMAINING,
    'X-RateLimit-Remaining is "many" above ten.',
    remainingShown(toValidKey, (left) => (left > 10 ? 'many' : String(left))),
  ),
  fault(
    'remaining-as-fraction',
    REMAINING,
    'X-RateLimit-Remaining is a fraction of the limit.',
    header('X-RateLimit-Remaining', toValidKey, (value, call) =>
      (Number(value) / call.quota.limit).toFixed(3),
    ),
  ),
  fault(
    'remaining-negative-at-end',
    REMAINING,
    'X-RateLimit-Remaining is -1 on the last admitted request.',
    remainingShown(whenAdmitted, (left) => (left === 0 ? '-1' : String(left))),
  ),

  fault(
    'remaining-constant',
    FALLS,
    'X-RateLimit-Remaining is always one below the limit.',
    header('X-RateLimit-Remaining', whenAdmitted, (_value, call) => String(call.quota.limit - 1)),
  ),
  fault('remaining-same-on-get', FALLS, 'X-RateLimit-Remaining does not fall on retrievals.', {
    behaviour: (usual, parts, recipe) => {
      const free = new Map<string, number>();
      const shown = header('X-RateLimit-Remaining', whenAdmitted, (value, { key, route, quota }) => {
        const name = key?.name ?? '';
        if (Number(value) === quota.limit - 1) free.delete(name);
        if (route.operation === 'getPet') free.set(name, (free.get(name) ?? 0) + 1);
        return String(Math.min(quota.limit, Number(value) + (free.get(name) ?? 0)));
      });
      return shown.behaviour?.(usual, parts, recipe) ?? {};
    },
  }),
  fault(
    'remaining-falls-by-two-on-add',
    FALLS,
    'An addition takes two from X-RateLimit-Remaining, and from the quota.',
    {
      behaviour: (usual) => ({
        admit(key, call) {
          const gate = usual.admit(key, call);
          if (gate.refusal !== null || call.route.operation !== 'createPet' || gate.quota.remaining === 0)
            return gate;
          return usual.admit(key, call);
        },
      }),
    },
  ),
  fault(
    'remaining-every-other',
    FALLS,
    'X-RateLimit-Remaining falls with every second request, by two.',
    remainingBy((left, last, requests) =>
      requests % 2 === 0 && last !== undefined && last > left ? last : left,
    ),
  ),
  fault(
    'remaining-in-tens',
    FALLS,
    'X-RateLimit-Remaining is rounded down to a multiple of ten.',
    remainingShown(whenAdmitted, (left) => String(left - (left % 10))),
  ),
  fault(
    'remaining-rises',
    FALLS,
    'X-RateLimit-Remaining counts up from 0.',
    header('X-RateLimit-Remaining', whenAdmitted, (value, call) =>
      String(call.quota.limit - 1 - Number(value)),
    ),
  ),
  fault(
    'remaining-same-on-400',
    FALLS,
    'A request that is answered with 400 shows the X-RateLimit-Remaining of one more.',
    remainingShown(
      (answer, call) => answers(400)(answer, call) && call.key !== null,
      (left) => String(left + 1),
    ),
  ),
  fault(
    'remaining-stuck-at-five',
    FALLS,
    'X-RateLimit-Remaining stays at 5 until the limit is reached.',
    remainingShown(whenAdmitted, (left) => String(Math.max(left, 5))),
  ),

  fault(
    'reset-in-milliseconds',
    RESET,
    'X-RateLimit-Reset is in milliseconds.',
    resetShown(toValidKey, (reset) => String(reset * 1000)),
  ),
  fault(
    'reset-in-seconds-to-go',
    RESET,
    'X-RateLimit-Reset is the number of seconds to wait.',
    resetShown(toValidKey, (reset, now) => String(Math.max(0, reset - Math.floor(now / 1000)))),
  ),
  fault(
    'reset-in-the-past',
    RESET,
    'X-RateLimit-Reset is when the window began.',
    resetShown(toValidKey, (reset) => String(reset - 60 - 30)),
  ),
  fault(
    'reset-an-hour-late',
    RESET,
    'X-RateLimit-Reset is an hour beyond the end of the minute.',
    resetShown(toValidKey, (reset) => String(reset + 3600)),
  ),
  fault(
    'reset-two-windows-ahead',
    RESET,
    'X-RateLimit-Reset is the end of the window after the current one.',
    resetShown(toValidKey, (reset) => String(reset + 60)),
  ),
  fault(
    'reset-as-date',
    RESET,
    'X-RateLimit-Reset is a date in words.',
    resetShown(toValidKey, (reset) => httpDate(reset * 1000)),
  ),
  fault(
    'reset-as-iso-date',
    RESET,
    'X-RateLimit-Reset is a date as in ISO 8601.',
    resetShown(toValidKey, (reset) => new Date(reset * 1000).toISOString()),
  ),
  fault(
    'reset-zero',
    RESET,
    'X-RateLimit-Reset is 0.',
    resetShown(toValidKey, () => '0'),
  ),
  fault(
    'reset-in-milliseconds-on-429',
    RESET,
    'Only on a 429 X-RateLimit-Reset is in milliseconds.',
    resetShown(whenOverLimit, (reset) => String(reset * 1000)),
  ),
  fault(
    'reset-of-earlier-window',
    RESET,
    'From the second window on X-RateLimit-Reset is that of two windows before.',
    fromSecondWindow((when) => resetShown(when, (reset) => String(reset - 120))),
  ),
  fault(
    'reset-in-local-time',
    RESET,
    'X-RateLimit-Reset is off by the hours of a time zone.',
    resetShown(toValidKey, (reset) => String(reset + 7 * 3600)),
  ),

  fault(
    'reset-ten-seconds-early',
    TRUE,
    'X-RateLimit-Reset is ten seconds too early.',
    resetShown(toValidKey, (reset, now) => String(Math.max(reset - 10, Math.ceil(now / 1000)))),
  ),
  fault(
    'reset-four-seconds-early',
    TRUE,
    'X-RateLimit-Reset is four seconds too early.',
    resetShown(toValidKey, (reset, now) => String(Math.max(reset - 4, Math.ceil(now / 1000)))),
  ),
  fault(
    'reset-half-way',
    TRUE,
    'X-RateLimit-Reset of a 429 is half of the time that is left.',
    resetShown(whenOverLimit, (reset, now) => String(Math.ceil((reset + now / 1000) / 2))),
  ),
  fault(
    'reset-pushed-back',
    TRUE,
    'A refused request lets the window begin anew, though the headers say otherwise.',
    penalty(),
  ),
];

/** Once a key has been refused, the end of its window moves away with every further refusal. */
function penalty(): Personality {
  return {
    behaviour: (usual, { limiter }) => {
      const closedUntil = new Map<string, number>();
      return {
        admit(key, call) {
          const until = closedUntil.get(key.name) ?? 0;
          if (call.now < until) {
            closedUntil.set(key.name, call.now + 60_000);
            const headers = [
              'Retry-After',
              String(Math.max(1, Math.ceil((limiter.freeAt(key, call.now) - call.now) / 1000))),
            ];
            const refusal = {
              status: 429,
              code: 'rate_limit_exceeded',
              message: 'Too many requests.',
              headers,
            };
            return { quota: limiter.closed(key, call.now), refusedBy: 'minute', refusal };
          }
          const gate = usual.admit(key, call);
          if (gate.refusedBy === 'minute') closedUntil.set(key.name, call.now + 60_000);
          return gate;
        },
      };
    },
  };
}
