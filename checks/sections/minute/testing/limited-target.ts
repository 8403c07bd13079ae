/** A run against a target with an empty store whose limit is one of the models, on the run's own clock. */

import { fixedWindow, type SimulatedLimit } from '../../../limits/testing/simulated-limits.ts';
import { SECOND } from '../../../limits/time.ts';
import type { Key } from '../../../profile/key.ts';
import type { RunOptions } from '../../../run/run.ts';
import { NOTHING_TRIED } from '../../../run/scene.ts';
import { NOON, payer, type TestRun, testRun } from '../../../run/testing/test-run.ts';
import type { ClientRequest } from '../../../wire/client.ts';
import type { FailureOutcome } from '../../../wire/exchange.ts';
import { exhaustKey, type Told, telling } from './measured.ts';

/** A request as it comes to the limit. */
export interface Arrival {
  readonly request: ClientRequest;
  /** Of all requests of the run, from 1. */
  readonly number: number;
  /** Since noon. */
  readonly seconds: number;
  readonly admitted: boolean;
  readonly remaining: number;
}

export interface LimitedTarget {
  readonly keys?: readonly Key[];
  readonly limit?: SimulatedLimit;
  /** How many requests the limit admits; by default the plan's number. */
  readonly admits?: number;
  /** What is answered otherwise than the limit would have it; nothing leaves it as it is. */
  readonly tells?: (arrival: Arrival) => Told | FailureOutcome | undefined;
  /** Milliseconds that pass before the request arrives. */
  readonly takes?: (number: number, now: number) => number;
  readonly options?: Partial<RunOptions>;
}

/** Whole seconds of that time since noon, as a server writes them that rounds up. */
const whole = (time: number) => Math.ceil((time - NOON) / SECOND);

export function limitedRun(target: LimitedTarget = {}): TestRun {
  const { keys = [exhaustKey()], limit = fixedWindow, takes, tells } = target;
  const limits = new Map(keys.map(({ name, limits }) => [name, limit(target.admits ?? limits.perMinute)]));
  const test: TestRun = testRun(
    (request, number) => {
      test.clock.pass(takes?.(number, test.clock.now()) ?? 0);
      const now = test.clock.now();
      const key = keys.find(({ name }) => name === payer(request));
      const said = limits.get(payer(request) ?? '')?.(now);
      if (key === undefined || said === undefined) return telling({ status: 401 });
      const { admitted, remaining, reset } = said;
      const otherwise = tells?.({ request, number, seconds: (now - NOON) / SECOND, admitted, remaining });
      if (otherwise !== undefined && 'kind' in otherwise) return otherwise;
      return telling({
        status: admitted ? 200 : 429,
        limit: key.limits.perMinute,
        remaining,
        reset: whole(reset),
        retryAfter: admitted ? undefined : whole(reset) - whole(now - SECOND),
        date: whole(now - SECOND),
        ...otherwise,
      });
    },
    { keys, permissions: new Set(['exhaust'] as const), sampleCategoryId: 1n, ...target.options },
  );
  test.run.settle('store-sample', undefined);
  test.run.settle('retrievals', NOTHING_TRIED);
  return test;
}

/** Nothing came back. */
export const reset: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'connection reset' };
