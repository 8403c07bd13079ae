import type { TargetProfile } from '../checks/harness/target-profile.ts';
import { PERMISSIONS } from '../checks/harness/verdict.ts';
import { startReferenceServer } from '../reference-server/reference-server.ts';
import { profileKeys } from './serve-profile.ts';

/** The reference server in this process, as a target that permits everything. */
export interface EmbeddedTarget {
  readonly profile: TargetProfile & { readonly target: string };
  readonly values: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/**
 * A simulated minute is a real second: long enough for a thousand requests on a small machine, short enough that a
 * whole day at a plan's own pace is a matter of minutes.
 */
export const EMBEDDED_CLOCK_SPEED = 60;
/** The plan that the document leaves custom, with numbers that add little to the run. */
const ENTERPRISE = { perMinute: 600, perDay: 6000 };
const BAN_SECONDS = 20;

/** Starts the reference server on a free port of the loopback interface. */
export async function startEmbeddedTarget(
  personality: { readonly fault?: string; readonly variant?: string; readonly clockSpeed?: number } = {},
): Promise<EmbeddedTarget> {
  const server = await startReferenceServer({
    clockSpeed: EMBEDDED_CLOCK_SPEED,
    enterprise: ENTERPRISE,
    ban: { seconds: BAN_SECONDS },
    ...personality,
  });
  const keys = server.keys.filter(({ name }) => !name.includes('load'));
  return {
    profile: {
      target: server.baseUrl,
      keys: profileKeys(keys),
      plans: { enterprise: server.enterprise },
      permit: PERMISSIONS,
      load: { allowed: true },
      gaps: {},
      clock: { speed: server.clock.speed },
      samples: {},
    },
    values: new Map(keys.map(({ name, value }) => [name, value])),
    close: () => server.close(),
  };
}
