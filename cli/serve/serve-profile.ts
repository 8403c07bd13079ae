import { chmodSync, writeFileSync } from 'node:fs';
import { type KeyRole, PROFILE_DEFAULTS, type ProfileKey } from '../../checks/profile/target-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import type { ReferenceServer } from '../../reference-server/server.ts';

export function variableOf(name: string): string {
  return `PETSTORE_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_KEY`;
}

// Names say what a key is for: one with "ban" in it may be banned, one with "load" in it feeds load, the others pay
// for the checks.
function rolesOf(name: string): KeyRole[] {
  if (name.includes('ban')) return ['ban'];
  return name.includes('load') ? ['load'] : ['functional', 'exhaust'];
}

/** The keys of a reference server as a profile has them: nobody used them before the run that it is started for. */
export function profileKeys(
  keys: ReferenceServer['keys'],
  rolesFor: (name: string) => readonly KeyRole[] = rolesOf,
): ProfileKey[] {
  return keys.map(({ name, plan }) => ({
    name,
    plan,
    env: variableOf(name),
    roles: rolesFor(name),
    unusedToday: true,
  }));
}

// Single quotes, so that a shell takes every other character as it is.
function exportLine(name: string, value: string): string {
  return `export ${name}='${value.replaceAll("'", "'\\''")}'\n`;
}

/**
 * Writes the profile of a running server, and beside it `FILE.env` with the keys' values for a shell to read. The
 * values are in the second file only, which nobody but its owner can read.
 *
 * @returns the path of the second file, as a shell's `.` takes it
 */
export function writeServeProfile(file: string, server: ReferenceServer): string {
  const profile = profileYaml({
    target: server.baseUrl,
    keys: profileKeys(server.keys),
    ...PROFILE_DEFAULTS,
    plans: { enterprise: server.enterprise },
    // Not the day: whole days take minutes even of a fast clock.
    permit: ['writes', 'exhaust', 'ban'],
    load: { allowed: true },
    clock: { speed: server.clock.speed },
  });
  const secrets = `${file}.env`;
  // A shell looks a bare name up in PATH.
  const sourced = secrets.includes('/') ? secrets : `./${secrets}`;
  const about =
    '# A reference server on this machine, written by "petstore-harness serve". The keys are beside it:\n';
  const hint = `#   set -a; . ${sourced}\n`;
  writeFileSync(file, `${about}${hint}${profile}`);
  const lines = server.keys.map(({ name, value }) => exportLine(variableOf(name), value));
  // An older file keeps its mode when it is written again.
  writeFileSync(secrets, '', { mode: 0o600 });
  chmodSync(secrets, 0o600);
  writeFileSync(secrets, lines.join(''));
  return sourced;
}
