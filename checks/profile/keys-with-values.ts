import { contract } from '../../spec/contract.ts';
import type { Key } from './key.ts';
import type { PlanLimits, TargetProfile } from './target-profile.ts';

/** The numbers of a plan: the document's, or for Enterprise the profile's. */
function limitsOf(profile: TargetProfile, plan: Key['plan']): PlanLimits {
  if (plan !== 'enterprise') return contract.plans[plan];
  const { enterprise } = profile.plans;
  if (enterprise === undefined)
    throw new Error('an Enterprise key without plans.enterprise got past the validation');
  return enterprise;
}

/** The keys of a validated profile with their values and their plans' numbers. */
export function profileKeys(profile: TargetProfile, values: ReadonlyMap<string, string>): Key[] {
  return profile.keys.flatMap((key) => {
    const value = values.get(key.name);
    return value === undefined ? [] : [{ ...key, value, limits: limitsOf(profile, key.plan) }];
  });
}
