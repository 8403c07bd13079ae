import { parseEnv } from 'node:util';
import { fileText } from '../../checks/profile/file-text.ts';
import { keyValues } from '../../checks/profile/key-values.ts';
import { readProfile } from '../../checks/profile/load-profile.ts';
import type { LoadedProfile } from '../../checks/profile/parse-profile.ts';
import type { ProfileKey, TargetProfile } from '../../checks/profile/target-profile.ts';
import type { FileProblem } from '../../checks/profile/yaml-file.ts';
import { readBaseAddress } from '../../checks/wire/base-address.ts';
import { UsageError } from './exit-codes.ts';

/**
 * The profile in a file.
 *
 * @throws UsageError with a line for each mistake: where it is, and how to correct it
 */
export async function profileIn(file: string): Promise<TargetProfile> {
  return validProfile(await readProfile(file));
}

/** The profile, if it is valid. @throws UsageError with a line for each mistake */
export function validProfile(loaded: LoadedProfile): TargetProfile {
  if (loaded.ok) return loaded.profile;
  throw mistakesIn(loaded.source, loaded.problems);
}

/** The error for the mistakes in a YAML file, with a line for each. */
export const mistakesIn = (file: string, problems: readonly FileProblem[]): UsageError =>
  new UsageError(
    ...problems.map(
      ({ line, column, message, remedy }) => `${file}:${line}:${column}: ${message}; ${remedy}`,
    ),
  );

/**
 * The values of a profile's keys, by name.
 *
 * @param env has them by the names of their variables
 * @param isUsed whether the command uses a key; the others need not be there
 * @throws UsageError for each key that is missing or invalid
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

/** Placeholders for the values if nothing is sent: for a plan, and for a stored run that is rejudged. */
export const unsentValues = (
  { keys }: Pick<TargetProfile, 'keys'>,
  env: Readonly<Record<string, string | undefined>> = {},
): ReadonlyMap<string, string> =>
  new Map(keys.map(({ name, env: variable }) => [name, env[variable] ?? `not-sent-${name}`]));

/**
 * The variables of this process and those of a file with lines such as NAME=value or export NAME=value.
 *
 * @throws UsageError if the file cannot be read
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
 * @throws UsageError if the text is not an address
 */
export function addressOf(text: string): string {
  const read = readBaseAddress(text);
  if (read.ok) return read.address;
  throw new UsageError(`--target: ${read.message}; ${read.remedy}`);
}
