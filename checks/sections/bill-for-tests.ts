/** What is on the bill of one check or observer. */
import type { Check, GapObserver } from '../harness/check.ts';
import { quotaBill } from '../harness/quota-planner.ts';
import { testKey } from '../harness/run-for-tests.ts';
import type { Permission } from '../harness/verdict.ts';

export interface Billed {
  readonly requests: number;
  readonly animals: number;
}

/** A run of nothing else, on one key; without the request by which every run begins. */
function billed(
  row: { readonly checks: readonly Check[] } | { readonly gapObservers: readonly GapObserver[] },
  permissions: readonly Permission[],
): Billed {
  const { keys, animals } = quotaBill({
    keys: [testKey()],
    permissions: new Set(permissions),
    checks: [],
    gapObservers: [],
    lanes: [],
    ...row,
  });
  return { requests: (keys[0]?.requests ?? 0) - 1, animals };
}

export const billOfCheck = (check: Check, ...permissions: readonly Permission[]): Billed =>
  billed({ checks: [check] }, permissions);

export const billOfGap = (observer: GapObserver, ...permissions: readonly Permission[]): Billed =>
  billed({ gapObservers: [observer] }, permissions);
