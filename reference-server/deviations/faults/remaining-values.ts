import type { Personality } from '../personality.ts';
import { answers, header, type When } from '../shapes.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';
import { toValidKey, whenAdmitted, whenOverLimit } from './windows.ts';

const REMAINING = 'rate-remaining-value';
const FALLS = 'rate-remaining-falls';

const remainingShown = (when: When, change: (remaining: number) => string) =>
  header('X-RateLimit-Remaining', when, (value) => change(Number(value)));

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

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'rate-remaining-value': {
    'remaining-negative-on-429': ['X-RateLimit-Remaining of a 429 is -1.',
      remainingShown(whenOverLimit, () => '-1')],
    'remaining-as-text': ['X-RateLimit-Remaining is "many" above ten.',
      remainingShown(toValidKey, (left) => (left > 10 ? 'many' : String(left)))],
    'remaining-negative-at-end': ['X-RateLimit-Remaining is -1 on the last admitted request.',
      remainingShown(whenAdmitted, (left) => (left === 0 ? '-1' : String(left)))],
  },
  'rate-remaining-exhausted': {
    'remaining-one-on-429': ['X-RateLimit-Remaining of a 429 is 1.',
      remainingShown(whenOverLimit, () => '1')],
    'remaining-full-on-429': ['X-RateLimit-Remaining of a 429 is the limit.',
      header('X-RateLimit-Remaining', whenOverLimit, (_value, call) => String(call.quota.limit))],
  },
  'rate-remaining-falls': {
    'remaining-constant': ['X-RateLimit-Remaining is always one below the limit.',
      header('X-RateLimit-Remaining', whenAdmitted, (_value, call) => String(call.quota.limit - 1))],
    'remaining-in-tens': ['X-RateLimit-Remaining is rounded down to a multiple of ten.',
      remainingShown(whenAdmitted, (left) => String(left - (left % 10)))],
    'remaining-stuck-at-zero': [
      'X-RateLimit-Remaining stays at 0, also after the reset, once the limit was reached.',
      remainingBy((left, last) => (last === 0 ? 0 : left))],
    'remaining-stuck-at-five': ['X-RateLimit-Remaining stays at 5 until the limit is reached.',
      remainingShown(whenAdmitted, (left) => String(Math.max(left, 5)))],
  },
};

/** Section 8: what X-RateLimit-Remaining says. */
export const REMAINING_VALUE_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
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
    'remaining-as-fraction',
    REMAINING,
    'X-RateLimit-Remaining is a fraction of the limit.',
    header('X-RateLimit-Remaining', toValidKey, (value, call) =>
      (Number(value) / call.quota.limit).toFixed(3),
    ),
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
];
