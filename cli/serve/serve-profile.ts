import { chmodSync, writeFileSync } from 'node:fs';
import { serverProfile, variableOf } from '../../checks/profile/server-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import type { ReferenceServer } from '../../reference-server/server.ts';

// Single quotes, so that a shell takes every other character as it is.
function exportLine(name: string, value: string): string {
  return `export ${name}='${value.replaceAll("'", "'\\''")}'\n`;
}

/**
 * Writes the profile of a running server, and beside it `FILE.env` with the keys' values for a shell. The values are only
 * in the second file, which only its owner can read.
 *
 * @returns the path of the second file, as a shell's `.` takes it
 */
export function writeServeProfile(file: string, server: ReferenceServer): string {
  // Not the day: whole days take minutes even on a fast clock.
  const profile = profileYaml(serverProfile(server, ['writes', 'exhaust', 'ban']));
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
