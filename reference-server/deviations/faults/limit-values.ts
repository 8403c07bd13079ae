import type { Personality } from '../personality.ts';
import { admitting, header, onPlan, type When, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { fromSecondWindow, toValidKey, whenOverLimit } from './windows.ts';

const limitShown = (when: When, change: (limit: string) => string) =>
  header('X-RateLimit-Limit', when, change);

/** A deviation that shows once a key has been refused. */
const afterRefusal = (deviation: (when: When) => Personality) => () => {
  const refused = new Set<string>();
  return deviation((_answer, { key, refusedBy }) => {
    if (refusedBy !== null && key !== null) refused.add(key.name);
    return key !== null && refusedBy === null && refused.has(key.name);
  });
};

/** Section 8: what X-RateLimit-Limit says. */
// biome-ignore format: a table, a line or two for each fault
export const LIMIT_VALUE_FAULTS: FaultTable = {
  'rate-limit-value': {
    'limit-shown-plus-one': ['X-RateLimit-Limit is one above the plan.',
      limitShown(toValidKey, (limit) => String(Number(limit) + 1))],
    'limit-shown-per-second': ['X-RateLimit-Limit is the number per second.',
      limitShown(toValidKey, (limit) => String(Math.ceil(Number(limit) / 60)))],
    'limit-shown-of-other-plan': ['X-RateLimit-Limit of a Pro key is that of Business.',
      limitShown(where(toValidKey, onPlan('pro')), () => '1000')],
    'limit-shown-with-window': ['X-RateLimit-Limit carries the window too, as in "60;w=60".',
      limitShown(toValidKey, (limit) => `${limit};w=60`)],
    'limit-shown-unlimited': ['X-RateLimit-Limit says "unlimited".',
      limitShown(toValidKey, () => 'unlimited')],
    'limit-shown-otherwise-on-429': ['Only on a 429 X-RateLimit-Limit is 0.',
      limitShown(whenOverLimit, () => '0')],
    'limit-shown-otherwise-in-second-window': [
      'From the second window on X-RateLimit-Limit is half the plan.',
      fromSecondWindow((when) => limitShown(when, (limit) => String(Math.floor(Number(limit) / 2))))],
    'limit-shown-otherwise-after-429': ['Once a key was refused, X-RateLimit-Limit is one below the plan.',
      afterRefusal((when) => limitShown(when, (limit) => String(Number(limit) - 1)))],
    'limit-shown-as-remaining': ['X-RateLimit-Limit shows what is left.',
      admitting((usual, key, call) => {
        const { quota, ...gate } = usual(key, call);
        return { ...gate, quota: { ...quota, limit: quota.remaining } };
      })],
    'limit-shown-in-thousands': ['X-RateLimit-Limit has a comma in every thousand, and ".0" below.',
      limitShown(toValidKey, (limit) =>
        Number(limit) < 1000 ? `${limit}.0` : Number(limit).toLocaleString('en'))],
    'limit-shown-otherwise-on-add': ['Only on additions X-RateLimit-Limit is ten times the plan.',
      limitShown(where(toValidKey, (call) => call.route.operation === 'createPet'), (limit) => `${limit}0`)],
  },
};
