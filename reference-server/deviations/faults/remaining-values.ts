import type { Quota } from '../../rate-limiter.ts';
import { slidingLog } from '../meters.ts';
import { together } from '../personality.ts';
import { admitting, answers, header, minuteBy, queried, type When, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { toValidKey, whenAdmitted, whenOverLimit } from './windows.ts';

const remainingShown = (when: When, change: (remaining: number, quota: Quota) => string) =>
  header('X-RateLimit-Remaining', when, (value, { quota }) => change(Number(value), quota));

/** Shows a Remaining that a rule of its own arrives at, key by key. */
const remainingBy =
  (rule: (remaining: number, last: number | undefined, requests: number) => number) => () => {
    const keys = new Map<string, { shown: number; requests: number }>();
    return header('X-RateLimit-Remaining', whenAdmitted, (value, { key }) => {
      const known = keys.get(key?.name ?? '');
      const requests = (known?.requests ?? 0) + 1;
      const shown = rule(Number(value), known?.shown, requests);
      keys.set(key?.name ?? '', { shown, requests });
      return String(shown);
    });
  };

/** Section 8: what X-RateLimit-Remaining says. */
// biome-ignore format: a table, a line or two for each fault
export const REMAINING_VALUE_FAULTS: FaultTable = {
  'rate-remaining-value': {
    'remaining-negative-on-429': ['X-RateLimit-Remaining of a 429 is -1.',
      remainingShown(whenOverLimit, () => '-1')],
    'remaining-as-text': ['X-RateLimit-Remaining is "many" above ten.',
      remainingShown(toValidKey, (left) => (left > 10 ? 'many' : String(left)))],
    'remaining-negative-at-end': ['X-RateLimit-Remaining is -1 on the last admitted request.',
      remainingShown(whenAdmitted, (left) => (left === 0 ? '-1' : String(left)))],
    'remaining-as-fraction': ['X-RateLimit-Remaining is a fraction of the limit.',
      remainingShown(toValidKey, (left, { limit }) => (left / limit).toFixed(3))],
    'remaining-above-limit': ['X-RateLimit-Remaining is the limit and a half too many.',
      admitting((usual, key, call) => {
        const { quota, ...gate } = usual(key, call);
        const more = gate.refusal === null ? Math.ceil(quota.limit / 2) : 0;
        return { ...gate, quota: { ...quota, remaining: quota.remaining + more } };
      })],
  },
  'rate-remaining-exhausted': {
    'remaining-one-on-429': ['X-RateLimit-Remaining of a 429 is 1.',
      remainingShown(whenOverLimit, () => '1')],
    'remaining-full-on-429': ['X-RateLimit-Remaining of a 429 is the limit.',
      remainingShown(whenOverLimit, (_left, { limit }) => String(limit))],
  },
  'rate-remaining-falls': {
    'remaining-constant': ['X-RateLimit-Remaining is always one below the limit.',
      remainingShown(whenAdmitted, (_left, { limit }) => String(limit - 1))],
    'remaining-one-too-few': ['X-RateLimit-Remaining is one too low.',
      remainingShown(whenAdmitted, (left) => String(Math.max(0, left - 1)))],
    'remaining-before-the-request': [
      'A minute that looks back shows in X-RateLimit-Remaining what was left before the request.',
      together(minuteBy(slidingLog), remainingShown(whenAdmitted, (left) => String(left + 1)))],
    'remaining-in-tens': ['X-RateLimit-Remaining is rounded down to a multiple of ten.',
      remainingShown(whenAdmitted, (left) => String(left - (left % 10)))],
    'remaining-stuck-at-zero': [
      'X-RateLimit-Remaining stays at 0, also after the reset, once the limit was reached.',
      remainingBy((left, last) => (last === 0 ? 0 : left))],
    'remaining-stuck-at-five': ['X-RateLimit-Remaining stays at 5 until the limit is reached.',
      remainingShown(whenAdmitted, (left) => String(Math.max(left, 5)))],
    'remaining-every-other': ['X-RateLimit-Remaining falls with every second request, by two.',
      remainingBy((left, last = left, requests) => requests % 2 === 0 && last > left ? last : left)],
    'remaining-rises': ['X-RateLimit-Remaining counts up from 0.',
      remainingShown(whenAdmitted, (left, { limit }) => String(limit - 1 - left))],
    'bucket-per-operation': ['Each operation has the whole quota for itself.',
      admitting((usual, key, call) => usual({ ...key, name: `${key.name} ${call.route.operation}` }, call))],
    'remaining-zero-on-404': ['X-RateLimit-Remaining of every 404 is 0.',
      remainingShown(where(answers(404), ({ key }) => key !== null), () => '0')],
    'long-list-costs-five': ['A list with limit=100 takes five from the quota.',
      admitting((usual, key, call) => {
        const gate = usual(key, call);
        const more = queried(call, 'limit=100') ? Math.min(4, gate.quota.remaining) : 0;
        return Array.from({ length: more }).reduce<typeof gate>(() => usual(key, call), gate);
      })],
    'remaining-same-on-400': [
      'A request that is answered with 400 shows the X-RateLimit-Remaining of one more.',
      remainingShown(where(answers(400), ({ key }) => key !== null), (left) => String(left + 1))],
    'remaining-same-on-get': ['X-RateLimit-Remaining does not fall on retrievals.', () => {
      const free = new Map<string, number>();
      return header('X-RateLimit-Remaining', whenAdmitted, (value, { key, route, quota }) => {
        const name = key?.name ?? '';
        if (Number(value) === quota.limit - 1) free.delete(name);
        if (route.operation === 'getPet') free.set(name, (free.get(name) ?? 0) + 1);
        return String(Math.min(quota.limit, Number(value) + (free.get(name) ?? 0)));
      });
    }],
    'remaining-falls-by-two-on-add': ['An addition takes two from X-RateLimit-Remaining, and from the quota.',
      admitting((usual, key, call) => {
        const gate = usual(key, call);
        const isServed = gate.refusal === null && gate.quota.remaining > 0;
        return isServed && call.route.operation === 'createPet' ? usual(key, call) : gate;
      })],
  },
};
