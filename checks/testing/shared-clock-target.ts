/** A reference server that shares a clock with the run: minutes and bans are over as soon as both wait. */
import type { Test } from 'tap';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import type { ReferenceServer } from '../../reference-server/server.ts';
import type { Permission } from '../../spec/permissions.ts';
import { type CheckedTarget, type CheckRequest, checkTarget } from '../check-target.ts';
import { type KeyRole, PROFILE_DEFAULTS } from '../profile/target-profile.ts';
import { sharedClock } from '../run/clock.ts';

const ROLES: Readonly<Record<string, readonly KeyRole[]>> = {
  'free-1': ['functional', 'exhaust'],
  'free-2': ['functional'],
  'free-ban': ['ban'],
  'pro-1': ['functional', 'exhaust'],
  'business-1': ['functional', 'exhaust'],
};

/** How long these targets ban. */
export const BAN_SECONDS = 20;

export interface SharedClockTarget {
  readonly server: ReferenceServer;
  readonly request: CheckRequest;
}

/** Starts a server, closed with the test, and says what is to be checked of it with some of its keys. */
export async function sharedClockTarget(
  test: Pick<Test, 'teardown'>,
  personality: { readonly variant?: string; readonly animals?: number },
  names: readonly string[],
  permissions: readonly Permission[],
): Promise<SharedClockTarget> {
  const clock = sharedClock();
  const server = await startReferenceServer({ clock, ban: { seconds: BAN_SECONDS }, ...personality });
  test.teardown(() => server.close());
  const keys = server.keys.filter(({ name }) => names.includes(name));
  const profile = {
    target: server.baseUrl,
    keys: keys.map(({ name, plan }) => ({
      name,
      plan,
      roles: ROLES[name] ?? [],
      env: 'PETSTORE_KEY',
      unusedToday: true,
    })),
    ...PROFILE_DEFAULTS,
    permit: permissions,
  };
  const values = new Map(keys.map(({ name, value }) => [name, value]));
  return { server, request: { clock, profile, values, permissions } };
}

/** Checks a target that can be judged. */
export async function checked(request: CheckRequest): Promise<CheckedTarget> {
  const result = await checkTarget(request);
  if (result.nothingToJudge !== undefined) throw new Error(result.nothingToJudge);
  return result;
}
