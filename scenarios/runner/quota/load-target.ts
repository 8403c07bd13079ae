import { randomBytes } from 'node:crypto';
import { serverProfile } from '../../../checks/profile/server-profile.ts';
import type { TargetProfile } from '../../../checks/profile/target-profile.ts';
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { type Access, DIRECT } from '../../../checks/wire/access.ts';
import { startReferenceServer } from '../../../reference-server/reference-server.ts';
import { isCustom, limitsOf, PLAN_NAMES } from '../../../spec/plans.ts';
import type { BudgetKey } from './quota.ts';

/** A target that load may go to, with its keys. */
export interface LoadTarget {
  /** Base address without a trailing slash. */
  readonly address: string;
  /** How it is reached. */
  readonly access: Access;
  readonly keys: readonly BudgetKey[];
  /** Key values by the name of their environment variable. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly permit: readonly string[];
  readonly clockSpeed: number;
  readonly categoryId?: number | undefined;
}

/**
 * The keys of a profile with the numbers of their plans.
 *
 * @throws UsageError if the profile does not mark its target for load, or k6 cannot reach the target so
 */
export function loadTarget(
  profile: TargetProfile,
  address: string,
  values: ReadonlyMap<string, string>,
  access: Access = DIRECT,
): LoadTarget {
  if (!profile.load.allowed) {
    throw new UsageError(
      'the profile does not allow load on this target; to allow it, set "load: { allowed: true }" in it',
    );
  }
  if (access.tls.servername !== undefined && access.proxy !== undefined)
    throw new UsageError(
      `k6 knows no tls.serverName behind a proxy: make ${access.tls.servername} the host of the target`,
    );
  const given = profile.keys.filter(({ name }) => values.has(name));
  const keys = given.flatMap(({ name, plan, env, roles }): BudgetKey[] => {
    const limits = limitsOf(plan, profile.plans);
    // A profile without them is not valid.
    return limits === undefined ? [] : [{ name, plan, env, roles, ...limits }];
  });
  const secrets = Object.fromEntries(given.map(({ name, env }) => [env, values.get(name) ?? '']));
  return {
    address,
    access,
    keys,
    secrets,
    permit: profile.permit,
    clockSpeed: profile.clock.speed,
    categoryId: profile.samples.categoryId,
  };
}

/** No measurement comes to these numbers. */
export const BOUNDLESS = { perMinute: 100_000_000, perDay: 1_000_000_000 };

const NUMBERED_PLANS = PLAN_NAMES.filter((plan) => !isCustom(plan));

/** A key's last word is its role, as a server's profile reads it. */
const EMBEDDED_KEYS = [
  ...NUMBERED_PLANS.map((plan) => ({ name: `${plan}-edge`, plan })),
  { name: 'free-ban', plan: 'free' },
  ...NUMBERED_PLANS.map((plan) => ({ name: `${plan}-load`, plan })),
  ...[1, 2, 3].map((each) => ({ name: `enterprise-load-${each}`, plan: 'enterprise' as const })),
] as const;

/**
 * Starts the reference server on loopback as a target, with keys that are new in every run. It has every permission, and
 * Enterprise keys that nothing exhausts.
 */
export async function startEmbeddedTarget(
  options: { readonly clockSpeed?: number; readonly fault?: string } = {},
): Promise<LoadTarget & { close(): Promise<void> }> {
  const keys = EMBEDDED_KEYS.map((key) => ({
    ...key,
    value: randomBytes(24).toString('base64url'),
  }));
  const server = await startReferenceServer({ keys, enterprise: BOUNDLESS, ...options });
  const values = new Map(keys.map(({ name, value }) => [name, value]));
  return { ...loadTarget(serverProfile(server), server.baseUrl, values), close: () => server.close() };
}
