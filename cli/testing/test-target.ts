/** Targets to point the command at. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type t from 'tap';
import { serverProfile, variableOf } from '../../checks/profile/server-profile.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';

type Test = Pick<typeof t, 'testdir' | 'teardown'>;

/** A reference server with a profile file. */
export interface TestTarget {
  readonly address: string;
  readonly folder: string;
  /** Path of the profile. */
  readonly profile: string;
  /** The keys' variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

export interface TestTargetOptions {
  readonly keys?: readonly string[];
  readonly permit?: TargetProfile['permit'];
  readonly gaps?: TargetProfile['gaps'];
  readonly clockSpeed?: number;
  readonly fault?: string;
  readonly variant?: string;
  readonly animals?: number;
}

/** Starts a reference server in the test's process, with some of its keys in a profile; closed with the test. */
export async function testTarget(test: Test, options: TestTargetOptions = {}): Promise<TestTarget> {
  const {
    keys: names = ['free-1', 'pro-1'],
    permit = ['writes'],
    gaps = {},
    // A minute that is waited for is a second.
    clockSpeed = 60,
    ...personality
  } = options;
  const server = await startReferenceServer({ clockSpeed, ban: { seconds: 20 }, ...personality });
  test.teardown(() => server.close());
  const keys = server.keys.filter(({ name }) => names.includes(name));
  const folder = test.testdir({});
  const profile = join(folder, 'target.yaml');
  const described = serverProfile({ ...server, keys }, permit);
  writeFileSync(profile, profileYaml({ ...described, gaps, load: { allowed: false } }));
  return {
    address: server.baseUrl,
    folder,
    profile,
    env: Object.fromEntries(keys.map(({ name, value }) => [variableOf(name), value])),
    secrets: keys.map(({ value }) => value),
  };
}
