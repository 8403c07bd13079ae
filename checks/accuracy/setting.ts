/** What a run of an accuracy case may use. */
import { requirements } from '../../spec/contract.ts';
import type { Permission } from '../../spec/permissions.ts';
import { PLAN_NAMES, type PlanName } from '../../spec/plans.ts';
import type { CheckRequest } from '../check-target.ts';
import { PROFILE_DEFAULTS, type ProfileKey } from '../profile/target-profile.ts';

/** The keys that a case may need; a big plan costs thousands of requests. */
const KEYS: readonly Pick<ProfileKey, 'name' | 'plan' | 'roles'>[] = [
  ...PLAN_NAMES.map((plan) => ({ name: `${plan}-1`, plan, roles: ['functional', 'exhaust'] as const })),
  { name: 'free-2', plan: 'free', roles: ['functional'] },
  { name: 'free-ban', plan: 'free', roles: ['ban'] },
];
type KeyName = `${PlanName}-1` | 'free-2' | 'free-ban';

/** A small plan, so that its day is soon spent. */
export const ENTERPRISE = { perMinute: 120, perDay: 1200 };

export interface Setting {
  readonly keys: readonly KeyName[];
  /** A key whose minute is not filled, which would take hundreds of requests. */
  readonly spares?: KeyName;
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
  return {
    keys,
    permissions: ['writes', 'exhaust', 'ban'],
    ...(isOfLimits ? {} : { spares: 'pro-1' }),
  };
}

/** What is to be checked of a server with this setting. */
export function requestOf(
  { baseUrl, keys: issued }: { baseUrl: string; keys: readonly { name: string; value: string }[] },
  { keys, permissions, spares, usedToday }: Setting,
): CheckRequest {
  const used = keys.flatMap((wanted) => KEYS.filter(({ name }) => name === wanted));
  const profileKeys = used.map(({ name, plan, roles }) => ({
    name,
    plan,
    roles: roles.filter((role) => name !== spares || role !== 'exhaust'),
    env: 'KEY',
    unusedToday: usedToday !== true,
  }));
  return {
    profile: {
      target: baseUrl,
      keys: profileKeys,
      ...PROFILE_DEFAULTS,
      plans: { enterprise: ENTERPRISE },
      permit: permissions,
    },
    values: new Map(issued.map(({ name, value }) => [name, value])),
    permissions,
  };
}
