import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import {
  type KeyRole,
  type PlanLimits,
  type PlanName,
  PROFILE_DEFAULTS,
  type TargetProfile,
} from './target-profile.ts';

/** A reference server, as far as a profile describes it. */
interface DescribedServer {
  readonly baseUrl: string;
  readonly keys: readonly { readonly name: string; readonly plan: PlanName }[];
  readonly enterprise: PlanLimits;
  readonly clock: { readonly speed: number };
}

/** The environment variable that holds the value of a key with this name. */
export function variableOf(name: string): string {
  return `PETSTORE_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_KEY`;
}

/** The name of a key says what it is for: `ban` may be banned, `load` feeds load, the others pay for the checks. */
function rolesOf(name: string): readonly KeyRole[] {
  if (name.includes('ban')) return ['ban'];
  return name.includes('load') ? ['load'] : ['functional', 'exhaust'];
}

/** The profile of a reference server. Its keys are new: nobody has used them today. */
export function serverProfile(
  { baseUrl, keys, enterprise, clock: { speed } }: DescribedServer,
  permit: readonly Permission[] = PERMISSIONS,
): TargetProfile & { readonly target: string } {
  return {
    ...PROFILE_DEFAULTS,
    target: baseUrl,
    keys: keys.map(({ name, plan }) => ({
      name,
      plan,
      env: variableOf(name),
      roles: rolesOf(name),
      unusedToday: true,
    })),
    plans: { enterprise },
    permit,
    load: { allowed: true },
    clock: { speed },
  };
}
