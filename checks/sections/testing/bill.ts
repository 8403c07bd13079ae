/** What is on the bill for one check or observer. */

import type { Permission } from '../../profile/permissions.ts';
import type { Check, GapObserver } from '../../run/check.ts';
import { quotaBill } from '../../run/plan.ts';
import { testKey } from '../../run/testing/test-run.ts';

/** What a run of nothing else has on its bill, without the request by which every run begins. */
export interface Billed {
  readonly requests: number;
  readonly animals: number;
}

function billed(
  row: { readonly checks: readonly Check[] } | { readonly gapObservers: readonly GapObserver[] },
  permissions: readonly Permission[],
): Billed {
  const { keys, animals } = quotaBill({
    keys: [testKey()],
    permissions: new Set(permissions),
    checks: [],
    gapObservers: [],
    ...row,
  });
  return { requests: (keys[0]?.requests ?? 0) - 1, animals };
}

/** What is billed for a check to a run on one key, with these permissions. */
export const billOfCheck = (check: Check, ...permissions: readonly Permission[]): Billed =>
  billed({ checks: [check] }, permissions);

/** The same for an observer. */
export const billOfGap = (observer: GapObserver, ...permissions: readonly Permission[]): Billed =>
  billed({ gapObservers: [observer] }, permissions);
