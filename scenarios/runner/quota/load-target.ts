import { randomBytes } from 'node:crypto';
import type { TargetProfile } from '../../../checks/profile/target-profile.ts';
import { startReferenceServer } from '../../../reference-server/reference-server.ts';
import { contract } from '../../../spec/contract.ts';
import type { BudgetKey } from './quota.ts';

/** A target that load may go to, with its keys. */
export interface LoadTarget {
  /** Base address without a trailing slash. */
  readonly address: string;
  readonly keys: readonly BudgetKey[];
  /** Key values by the name of their environment variable. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly permit: readonly string[];
  readonly clockSpeed: number;
  readonly categoryId: bigint | undefined;
}

/** A target that load may not go to; the message is for a person. */
export class LoadRefused extends Error {
  override readonly name = 'LoadRefused';
}

/**
 * The keys of a profile with the numbers of their plans.
 *
 * @throws LoadRefused where the profile does not mark its target for load, or lacks the numbers of Enterprise
 */
export function loadTarget(
  profile: TargetProfile,
  address: string,
  values: ReadonlyMap<string, string>,
): LoadTarget {
  if (!profile.load.allowed) {
    throw new LoadRefused(
      'the profile does not allow load on this target; to allow it, set "load: { allowed: true }" in it',
    );
  }
  const given = profile.keys.filter(({ name }) => values.has(name));
  const keys = given.map(({ name, plan, env, roles }): BudgetKey => {
    const limits = plan === 'enterprise' ? profile.plans.enterprise : contract.plans[plan];
    if (limits === undefined) {
      throw new LoadRefused(
        `key ${name} is on Enterprise, whose numbers the profile must give: plans: { enterprise: … }`,
      );
    }
    return { name, plan, env, roles, perMinute: limits.perMinute, perDay: limits.perDay };
  });
  const secrets = Object.fromEntries(given.map(({ name, env }) => [env, values.get(name) ?? '']));
  return {
    address,
    keys,
    secrets,
    permit: profile.permit,
    clockSpeed: profile.clock.speed,
    categoryId: profile.samples.categoryId,
  };
}

/** How the embedded target is started. */
export interface EmbeddedOptions {
  readonly clockSpeed?: number;
  readonly fault?: string;
}

/** The embedded reference server as a target: every permission, and Enterprise keys whose plan nothing exhausts. */
export interface EmbeddedTarget extends LoadTarget {
  close(): Promise<void>;
}

const BOUNDLESS = { perMinute: 100_000_000, perDay: 1_000_000_000 };

const EMBEDDED_KEYS: readonly { name: string; plan: BudgetKey['plan']; roles: readonly string[] }[] = [
  { name: 'free-edge', plan: 'free', roles: ['exhaust'] },
  { name: 'pro-edge', plan: 'pro', roles: ['exhaust'] },
  { name: 'business-edge', plan: 'business', roles: ['exhaust'] },
  { name: 'free-ban', plan: 'free', roles: ['ban'] },
  { name: 'free-load', plan: 'free', roles: ['load'] },
  { name: 'pro-load', plan: 'pro', roles: ['load'] },
  { name: 'business-load', plan: 'business', roles: ['load'] },
  { name: 'enterprise-load-1', plan: 'enterprise', roles: ['load'] },
  { name: 'enterprise-load-2', plan: 'enterprise', roles: ['load'] },
  { name: 'enterprise-load-3', plan: 'enterprise', roles: ['load'] },
];

/** Starts the reference server on loopback with keys that are new in every run. */
export async function startEmbeddedTarget(options: EmbeddedOptions = {}): Promise<EmbeddedTarget> {
  const issued = EMBEDDED_KEYS.map((key) => ({
    ...key,
    ...(key.plan === 'enterprise' ? BOUNDLESS : contract.plans[key.plan]),
    env: `PETSTORE_${key.name.toUpperCase().replaceAll('-', '_')}`,
    value: randomBytes(24).toString('base64url'),
  }));
  const server = await startReferenceServer({ keys: issued, enterprise: BOUNDLESS, ...options });
  return {
    address: server.baseUrl,
    keys: issued.map(({ value: _, ...key }) => key),
    secrets: Object.fromEntries(issued.map(({ env, value }) => [env, value])),
    permit: ['writes', 'exhaust', 'ban', 'day'],
    clockSpeed: options.clockSpeed ?? 1,
    categoryId: undefined,
    close: () => server.close(),
  };
}
