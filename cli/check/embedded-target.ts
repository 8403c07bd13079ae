import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { PERMISSIONS } from '../../checks/run/verdict.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { profileKeys } from '../serve/serve-profile.ts';
import { affordableClockSpeed } from './embedded-clock.ts';

/** The reference server in this process, as a target that permits everything. */
export interface EmbeddedTarget {
  readonly profile: TargetProfile & { readonly target: string };
  readonly values: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** The plan that the document leaves custom, with numbers that add little to the run. */
const ENTERPRISE = { perMinute: 600, perDay: 6000 };
const BAN_SECONDS = 20;

/** Starts the reference server on a free port of the loopback interface. */
export async function startEmbeddedTarget(): Promise<EmbeddedTarget> {
  const server = await startReferenceServer({
    clockSpeed: await affordableClockSpeed(),
    enterprise: ENTERPRISE,
    ban: { seconds: BAN_SECONDS },
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
