import { profileKeys } from '../../checks/profile/keys-with-values.ts';
import { type QuotaBill, quotaBill, skippedFor } from '../../checks/run/plan.ts';
import { allChecks, allGapObservers } from '../../checks/sections/all-checks.ts';
import type { CheckSubject } from './check-subject.ts';

/** A run as it is planned: its bill, and what it leaves out. */
export interface CheckPlan {
  /** How many checks are asked for. */
  readonly checks: number;
  readonly bill: QuotaBill;
  /** Why requirements are skipped, for want of a key or a permission, by id. */
  readonly skipped: ReadonlyMap<string, string>;
}

/** Plans a run: what its scenes declare, and what its permissions and keys leave out. Nothing is sent. */
export function planCheck({
  profile,
  values,
  permissions,
  only,
}: Pick<CheckSubject, 'profile' | 'values' | 'permissions' | 'only'>): CheckPlan {
  const keys = profileKeys(profile, values).filter(({ roles }) => roles.some((role) => role !== 'load'));
  const checks = allChecks.filter(({ id }) => only === undefined || only.includes(id));
  const planned = {
    keys,
    permissions: new Set(permissions),
    checks,
    gapObservers: only === undefined ? allGapObservers : [],
  };
  const skipped = checks.flatMap((check) => {
    const reason = skippedFor(check, planned);
    return reason === undefined ? [] : [[check.id, reason] as const];
  });
  return { checks: checks.length, bill: quotaBill(planned), skipped: new Map(skipped) };
}
