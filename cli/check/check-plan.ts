import { profileKeys } from '../../checks/profile/keys-with-values.ts';
import { type Check, Unsettled } from '../../checks/run/check.ts';
import type { Clock } from '../../checks/run/clock.ts';
import { type QuotaBill, quotaBill } from '../../checks/run/quota-planner.ts';
import { Run } from '../../checks/run/run.ts';
import { runChecks } from '../../checks/run/run-checks.ts';
import type { Permission } from '../../checks/run/verdict.ts';
import { allChecks, allGapObservers } from '../../checks/sections/all-checks.ts';
import { spendingLanes } from '../../checks/sections/lanes.ts';
import { requirement } from '../../spec/contract.ts';
import type { CheckSubject } from './check-subject.ts';

/** A run as it is planned: its bill, and what it cannot verify. */
export interface CheckPlan {
  /** How many checks are asked for. */
  readonly checks: number;
  readonly bill: QuotaBill;
  /** Why requirements stay inconclusive for want of a key or a permission, by id. */
  readonly wanting: ReadonlyMap<string, string>;
}

/** What a check ends with where the plan would send its first request. */
const NOT_SENT = 'not sent: this is a plan';

/**
 * What else a check needs to be judged in full: it sends something first, or looks on, and would only miss it later.
 * The plan's test compares this with what a run leaves open.
 */
const JUDGED_IN_FULL_WITH: Readonly<Record<string, Permission>> = {
  'error-body-429': 'exhaust',
  'rate-headers-on-429': 'exhaust',
  'retry-after-present': 'exhaust',
  'rate-headers-on-201': 'writes',
  'auth-missing-key': 'writes',
  'auth-empty-key': 'writes',
  'auth-unknown-key': 'writes',
  'auth-near-miss-key': 'writes',
  'auth-other-scheme': 'writes',
};

/** Plans a run: every check is begun, and stopped at its first request. Nothing is sent, nothing waited for. */
export async function planCheck({ profile, values, permissions, only }: CheckSubject): Promise<CheckPlan> {
  const run = plannedRun(profile.target, profileKeys(profile, values), permissions);
  const checks = allChecks.filter(({ id }) => only === undefined || only.includes(id));
  const gapObservers = only === undefined ? allGapObservers : [];
  const lanes = spendingLanes(run.probe('plan'), checks).flatMap((scenes) => {
    // A lane's scenes are named by what they spend and on which key: names of keys have no colon.
    const name = scenes[0]?.id.split(':')[1];
    const key = run.keys.find((candidate) => candidate.name === name);
    return key === undefined ? [] : [{ key, scenes }];
  });
  const wants = await wanting(run, checks);
  // A check that gives up for want of something spends nothing.
  const paid = checks.filter(({ id }) => !wants.has(id) || id in JUDGED_IN_FULL_WITH);
  const plan = { keys: run.keys, permissions: run.permissions, checks: paid, gapObservers, lanes };
  return { checks: checks.length, bill: quotaBill(plan), wanting: wants };
}

function plannedRun(
  baseUrl: string,
  keys: ReturnType<typeof profileKeys>,
  permissions: CheckSubject['permissions'],
): Run {
  const now = Date.now();
  const clock: Clock = { speed: 1, now: () => now, sleepUntil: async () => {} };
  const client = { exchange: async () => Promise.reject(new Unsettled(NOT_SENT)), close: async () => {} };
  return new Run({
    baseUrl,
    runId: 'planned',
    client,
    clock,
    keys: keys.filter(({ roles }) => roles.some((role) => role !== 'load')),
    permissions: new Set(permissions),
    sampleCategoryId: undefined,
  });
}

/** The reasons of the checks that give up before they would send anything. */
async function wanting(run: Run, checks: readonly Check[]): Promise<Map<string, string>> {
  const { requirements } = await runChecks(run, { checks, gapObservers: [], lanes: () => [] });
  const provokes = new Set(
    checks.filter((check) => check.run !== undefined || check.permit !== undefined).map(({ id }) => id),
  );
  const wants = new Map<string, string>();
  for (const [id, { verdict, reason }] of requirements) {
    const needed = JUDGED_IN_FULL_WITH[id];
    if (needed !== undefined && !run.permissions.has(needed)) wants.set(id, `needs the permission ${needed}`);
    else if (verdict === 'inconclusive' && reason !== NOT_SENT && provokes.has(id)) wants.set(id, reason);
  }
  return new Map([...wants].filter(([id]) => requirement(id).excluded === undefined));
}
