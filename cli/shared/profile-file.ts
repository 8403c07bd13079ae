import { keyValues } from '../../checks/profile/key-values.ts';
import { readProfile } from '../../checks/profile/load-profile.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { readBaseAddress } from '../../checks/wire/base-address.ts';
import { gaps } from '../../spec/contract.ts';
import { UsageError } from './exit-codes.ts';

/**
 * The profile in a file.
 *
 * @throws UsageError with a line for each mistake: where it is, and how to mend it
 */
export async function profileIn(file: string): Promise<TargetProfile> {
  const loaded = await readProfile(file, gaps);
  if (loaded.ok) return loaded.profile;
  throw new UsageError(
    ...loaded.problems.map(
      ({ line, column, message, remedy }) => `${loaded.source}:${line}:${column}: ${message}; ${remedy}`,
    ),
  );
}

/**
 * The values of a profile's keys, by name, from the environment.
 *
 * @throws UsageError for each that is not there or cannot be one
 */
export function valuesOf(profile: TargetProfile): ReadonlyMap<string, string> {
  const read = keyValues(profile, process.env);
  if (read.ok) return read.values;
  throw new UsageError(...read.problems.map(({ message, remedy }) => `${message}; ${remedy}`));
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
