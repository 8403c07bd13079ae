import { profileKeys } from '../../checks/profile/keys-with-values.ts';
import { PERMISSIONS } from '../../checks/profile/permissions.ts';
import { type QuotaBill, quotaBill, skippedFor } from '../../checks/run/plan.ts';
import { allChecks, allGapObservers } from '../../checks/sections/all-checks.ts';
import type { CheckSubject } from './check-subject.ts';

/** A run as it is planned: its bill, and what it leaves out. */
export interface CheckPlan {
  readonly checks: number;
  readonly bill: QuotaBill;
  /** Why requirements are skipped (no key, no permission), by id. */
  readonly skipped: ReadonlyMap<string, string>;
}

/** What a plan depends on. */
export type PlanSubject = Pick<CheckSubject, 'profile' | 'values' | 'permissions' | 'only'>;

/** Plans a run: what it spends, and what its permissions and keys leave out. Nothing is sent. */
export function planCheck({ profile, values, permissions, only }: PlanSubject): CheckPlan {
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

/** All requests of a bill. */
export const requestsOf = ({ keys, anonymous }: QuotaBill): number =>
  keys.reduce((sum, { requests }) => sum + requests, anonymous);

/** What a run would cost in addition with all permissions; undefined if that changes nothing. */
export function costOfSkipped(subject: PlanSubject): { requests: number; seconds: number } | undefined {
  const asked = planCheck(subject).bill;
  const all = planCheck({ ...subject, permissions: PERMISSIONS }).bill;
  const requests = requestsOf(all) - requestsOf(asked);
  return requests > 0
    ? { requests, seconds: Math.max(0, Math.round((all.total - asked.total) / 1000)) }
    : undefined;
}
