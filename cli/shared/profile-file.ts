import { parseEnv } from 'node:util';
import { fileText } from '../../checks/profile/file-text.ts';
import { keyValues } from '../../checks/profile/key-values.ts';
import { readProfile } from '../../checks/profile/load-profile.ts';
import type { LoadedProfile } from '../../checks/profile/parse-profile.ts';
import type { ProfileKey, TargetProfile } from '../../checks/profile/target-profile.ts';
import { readBaseAddress } from '../../checks/wire/base-address.ts';
import { UsageError } from './exit-codes.ts';

/**
 * The profile in a file.
 *
 * @throws UsageError with a line for each mistake: where it is, and how to mend it
 */
export async function profileIn(file: string): Promise<TargetProfile> {
  return validProfile(await readProfile(file));
}

/** @throws UsageError likewise */
export function validProfile(loaded: LoadedProfile): TargetProfile {
  if (loaded.ok) return loaded.profile;
  throw new UsageError(
    ...loaded.problems.map(
      ({ line, column, message, remedy }) => `${loaded.source}:${line}:${column}: ${message}; ${remedy}`,
    ),
  );
}

/**
 * The values of a profile's keys, by name.
 *
 * @param env has them by the names of their variables
 * @param isUsed whether the command uses a key: one that it does not use need not be there
 * @throws UsageError for each that is not there or cannot be one
 */
export function valuesOf(
  profile: TargetProfile,
  env: Readonly<Record<string, string | undefined>>,
  isUsed: (key: ProfileKey) => boolean,
): ReadonlyMap<string, string> {
  const read = keyValues(profile, env, isUsed);
  if (read.ok) return read.values;
  throw new UsageError(...read.problems.map(({ message, remedy }) => `${message}; ${remedy}`));
}

/** In place of the values where nothing is sent: a plan, and a stored run that is judged again. */
export const unsentValues = (
  { keys }: Pick<TargetProfile, 'keys'>,
  env: Readonly<Record<string, string | undefined>> = {},
): ReadonlyMap<string, string> =>
  new Map(keys.map(({ name, env: variable }) => [name, env[variable] ?? `not-sent-${name}`]));

/**
 * The variables of this process, and of a file those that it sets with lines such as NAME=value, `export` before them
 * or not.
 *
 * @throws UsageError where the file cannot be read
 */
export function environment(file: string | undefined): Readonly<Record<string, string | undefined>> {
  if (file === undefined) return process.env;
  try {
    return { ...parseEnv(fileText(file)), ...process.env };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--env-file: ${file} cannot be read: ${why}`);
  }
}

/**
 * A base address without a trailing slash.
 *
 * @throws UsageError where the text is none
 */
export function addressOf(text: string): string {
  const read = readBaseAddress(text);
  if (read.ok) return read.address;
  throw new UsageError(`--target: ${read.message}; ${read.remedy}`);
}
