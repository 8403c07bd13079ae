import type { ApiKey } from '../api-keys.ts';
import type { Call, Gate, RefusedBy } from '../design.ts';
import type { Plan } from '../plans.ts';
import { type Deviation, deciding } from './deviation.ts';

export const admitting = deciding('admit');

/** Accepts more requests: those of the usual look-up, or those for which `change` finds a key. */
export const identifying = (change: (found: ApiKey | null, call: Call) => ApiKey | null) =>
  deciding('identify')((usual, call) => change(usual(call), call));

/** Changes what the gate decided of a request, or watches it. */
export const gating = (change: (gate: Gate, key: ApiKey, call: Call) => Gate) =>
  admitting((usual, key, call) => change(usual(key, call), key, call));

/** Lets requests through that a window or a ban would refuse. */
export const letThrough = (what: RefusedBy, when: (call: Call, key: ApiKey) => boolean): Deviation =>
  gating((gate, key, call) =>
    gate.refusedBy === what && when(call, key) ? { ...gate, refusedBy: null, refusal: null } : gate,
  );

/** A deviation that knows how many requests with a valid key, or without, have come. */
export const knowingRequests =
  (deviation: (requests: () => number) => Deviation): Deviation =>
  () => {
    let requests = 0;
    const counting = identifying((found) => {
      requests += 1;
      return found;
    });
    return [counting, deviation(() => requests)];
  };

export const onPlan = (plan: Plan) => (call: Call) => call.key?.plan === plan;

export const withoutKey = (call: Call): boolean => call.authorization === null;

/** Whether a request with a valid key is refused, for one of these. */
export const refusedBy =
  (...reasons: readonly RefusedBy[]) =>
  (call: Call): boolean =>
    call.refusedBy !== null && reasons.includes(call.refusedBy);
export const overLimit = refusedBy('minute', 'day');

export const withKey = ({ key }: Call): boolean => key !== null;
/** Whether a request has a valid key and is not refused for its quota or a ban. */
export const admitted = (call: Call): boolean => withKey(call) && call.refusedBy === null;
