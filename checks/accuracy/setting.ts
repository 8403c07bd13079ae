/** What a run of an accuracy case may use. */
import type { Permission } from '../../spec/permissions.ts';
import { PROFILE_DEFAULTS, type ProfileKey, type TargetProfile } from '../profile/target-profile.ts';

/** The keys that a case may need; a big plan costs thousands of requests. */
const KEYS = {
  'free-1': { plan: 'free', roles: ['functional', 'exhaust'] },
  'free-2': { plan: 'free', roles: ['functional'] },
  'free-ban': { plan: 'free', roles: ['ban'] },
  'pro-1': { plan: 'pro', roles: ['functional', 'exhaust'] },
  'business-1': { plan: 'business', roles: ['functional', 'exhaust'] },
  'enterprise-1': { plan: 'enterprise', roles: ['functional', 'exhaust'] },
} as const satisfies Record<string, Pick<ProfileKey, 'plan' | 'roles'>>;
type KeyName = keyof typeof KEYS;

/** A small plan, so that its day is soon spent. */
export const ENTERPRISE = { perMinute: 120, perDay: 1200 };

export interface Setting {
  readonly keys: readonly KeyName[];
  readonly permissions: readonly Permission[];
}

/** The least that shows whether a requirement holds; everything but days and big plans, if none is named. */
export function settingOf(requirement = ''): Setting {
  const [, window, plan = 'free'] = /^rate-(minute|day)-(\w+)$/.exec(requirement) ?? [];
  const ofPlan = [`${plan}-1`].filter((name): name is KeyName => name in KEYS);
  if (window === 'day')
    return { keys: ofPlan.length > 0 ? ofPlan : ['free-1'], permissions: ['writes', 'exhaust', 'day'] };
  const usual: readonly KeyName[] = ['free-1', 'free-2', 'free-ban', 'pro-1'];
  return { keys: [...new Set([...usual, ...ofPlan])], permissions: ['writes', 'exhaust', 'ban'] };
}

/** The profile for a target that is checked with this setting. */
export function profileOf(
  target: string,
  { keys, permissions }: Setting,
): TargetProfile & { readonly target: string } {
  return {
    target,
    keys: keys.map((name) => ({ name, ...KEYS[name], env: 'KEY', unusedToday: true })),
    ...PROFILE_DEFAULTS,
    plans: { enterprise: ENTERPRISE },
    permit: permissions,
  };
}
