import type { Personality } from '../personality.ts';
import { header, type When } from '../shapes.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';
import { fromSecondWindow, toValidKey, whenOverLimit } from './windows.ts';

const LIMIT = 'rate-limit-value';

const limitShown = (when: When, change: (limit: string) => string) =>
  header('X-RateLimit-Limit', when, change);

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

const onPlan =
  (plan: string): When =>
  (_answer, call) =>
    call.key?.plan === plan;

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'rate-limit-value': {
    'limit-shown-plus-one': ['X-RateLimit-Limit is one above the plan.',
      limitShown(toValidKey, (limit) => String(Number(limit) + 1))],
    'limit-shown-per-second': ['X-RateLimit-Limit is the number per second.',
      limitShown(toValidKey, (limit) => String(Math.ceil(Number(limit) / 60)))],
    'limit-shown-of-other-plan': ['X-RateLimit-Limit of a Pro key is that of Business.',
      limitShown(onPlan('pro'), () => '1000')],
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
  },
};

/** Section 8: what X-RateLimit-Limit says. */
export const LIMIT_VALUE_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
  fault('limit-shown-as-remaining', LIMIT, 'X-RateLimit-Limit shows what is left.', {
    behaviour: (usual) => ({
      admit(key, call) {
        const gate = usual.admit(key, call);
        return { ...gate, quota: { ...gate.quota, limit: gate.quota.remaining } };
      },
    }),
  }),
  fault(
    'limit-shown-in-thousands',
    LIMIT,
    'X-RateLimit-Limit has a comma in every thousand, and ".0" below.',
    limitShown(toValidKey, (limit) =>
      Number(limit) >= 1000 ? Number(limit).toLocaleString('en') : `${limit}.0`,
    ),
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
];
