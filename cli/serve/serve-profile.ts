import { rmSync, writeFileSync } from 'node:fs';
import { serverProfile } from '../../checks/profile/server-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { quote, shellWord } from '../../checks/wire/curl.ts';
import { DOCUMENTED_PLANS } from '../../reference-server/plans.ts';
import type { ReferenceServer } from '../../reference-server/server.ts';

/** Requests that a run sends to this machine in a real second, even where it is busy with other things. */
const REQUESTS_PER_SECOND = 500;

/** The profile of a server; a key is there to be refused only where a run fills its minute before the server's clock ends it. */
function exhaustibleProfile(server: ReferenceServer) {
  // Not the day: whole days take minutes even on a fast clock.
  const profile = serverProfile(server, ['writes', 'exhaust', 'ban']);
  const perMinute = { ...DOCUMENTED_PLANS, enterprise: server.enterprise };
  const isInTime = (plan: keyof typeof perMinute) =>
    (perMinute[plan].perMinute / 60) * server.clock.speed <= REQUESTS_PER_SECOND;
  const keys = profile.keys.map((key) => ({
    ...key,
    roles: key.roles.filter((role) => isInTime(key.plan) || (role !== 'exhaust' && role !== 'ban')),
  }));
  return { ...profile, keys: keys.filter(({ roles }) => roles.length > 0) };
}

/**
 * Writes the profile of a running server, and beside it `FILE.env` with the keys' values for a shell. The values are only
 * in the second file, which only its owner can read.
 *
 * @returns the path of the second file, as a shell's `.` takes it
 */
export function writeServeProfile(file: string, server: ReferenceServer): string {
  const profile = exhaustibleProfile(server);
  const secrets = `${file}.env`;
  // A shell looks a bare name up in PATH.
  const sourced = shellWord(secrets.includes('/') ? secrets : `./${secrets}`);
  const about =
    '# A reference server on this machine, written by "petstore-harness serve". The keys are beside it:\n';
  const hint = `#   set -a; . ${sourced}\n`;
  writeFileSync(file, `${about}${hint}${profileYaml(profile, file)}`);
  const values = new Map(server.keys.map(({ name, value }) => [name, value]));
  const lines = profile.keys.map(({ name, env }) => `export ${env}=${quote(values.get(name) ?? '')}\n`);
  // An older file would keep its mode.
  rmSync(secrets, { force: true });
  writeFileSync(secrets, lines.join(''), { mode: 0o600 });
  return sourced;
}
