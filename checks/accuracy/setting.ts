/** What a run of an accuracy case may use. */
import type { ReferenceServer } from '../../reference-server/server.ts';
import { requirements } from '../../spec/contract.ts';
import type { Permission } from '../../spec/permissions.ts';
import type { PlanName } from '../../spec/plans.ts';
import type { CheckRequest } from '../check-target.ts';
import { serverProfile } from '../profile/server-profile.ts';

/** The keys that a case may need; a big plan costs thousands of requests. */
type KeyName = `${PlanName}-1` | 'free-2' | 'free-ban';

/** A small plan, so that its day is soon spent. */
export const ENTERPRISE = { perMinute: 120, perDay: 1200 };

export interface Setting {
  readonly keys: readonly KeyName[];
  /** A key whose minute is not filled, which would take hundreds of requests. */
  readonly spares?: KeyName | undefined;
  readonly permissions: readonly Permission[];
  /** The profile does not say that its keys are unused today. */
  readonly usedToday?: true;
}

/** The least that shows whether a requirement holds; everything but days and big plans, if none is named. */
export function settingOf(id = ''): Setting {
  const asked = requirements.find((requirement) => requirement.id === id);
  const ofPlan = asked?.plan === undefined ? [] : [`${asked.plan}-1` as const];
  if (asked?.permit === 'day')
    return { keys: ofPlan.length > 0 ? ofPlan : ['free-1'], permissions: ['writes', 'exhaust', 'day'] };
  const keys = [...new Set(['free-1', 'free-2', 'free-ban', 'pro-1', ...ofPlan] as const)];
  // What is not about limits, which are the document's section 8, shows by one plan's minute as by two.
  const isOfLimits = asked === undefined || asked.section.startsWith('8');
  return { keys, permissions: ['writes', 'exhaust', 'ban'], spares: isOfLimits ? undefined : 'pro-1' };
}

/** What is to be checked of a server with this setting. */
export function requestOf(
  server: Pick<ReferenceServer, 'baseUrl' | 'keys' | 'clock'>,
  { keys, permissions, spares, usedToday }: Setting,
): CheckRequest {
  const used = keys.flatMap((wanted) => server.keys.filter(({ name }) => name === wanted));
  const profile = serverProfile({ ...server, keys: used, enterprise: ENTERPRISE }, permissions);
  const profileKeys = profile.keys.map((key) => ({
    ...key,
    // A second key is there to be another one.
    roles: key.roles.filter((role) => role !== 'exhaust' || ![spares, 'free-2'].includes(key.name)),
    unusedToday: usedToday !== true,
  }));
  const values = new Map(used.map(({ name, value }) => [name, value]));
  return { profile: { ...profile, keys: profileKeys }, values, permissions };
}
