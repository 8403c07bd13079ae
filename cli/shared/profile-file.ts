import { parseEnv } from 'node:util';
import { fileText } from '../../checks/profile/file-text.ts';
import type { ProfileKey, TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { readBaseAddress } from '../../checks/wire/base-address.ts';
import { isCustom, PLAN_NAMES } from '../../spec/plans.ts';

/** Without a profile the keys come from these variables, as far as they are set. */
const USUAL_KEYS: readonly ProfileKey[] = [
  ...PLAN_NAMES.filter((plan) => !isCustom(plan)).map(
    (plan): ProfileKey => ({
      name: `${plan}-1`,
      plan,
      env: `PETSTORE_${plan.toUpperCase()}_KEY`,
      roles: ['functional', 'exhaust'],
      unusedToday: false,
    }),
  ),
  { name: 'free-ban', plan: 'free', env: 'PETSTORE_BAN_KEY', roles: ['ban'], unusedToday: false },
];

/** The names of those variables, for help and errors. */
export const USUAL_VARIABLES = USUAL_KEYS.map(({ env }) => env).join(', ');

/** The keys whose usual variables are set. @throws UsageError if none is */
export function usualKeys(env: Readonly<Record<string, string | undefined>>): readonly ProfileKey[] {
  const keys = USUAL_KEYS.filter((key) => env[key.env] !== undefined);
  if (keys.length > 0) return keys;
  throw new UsageError(
    `no key is given: set at least one of ${USUAL_VARIABLES} to a key of its plan, or write a profile with petstore-harness init --key`,
  );
}

/** Placeholders for the values if nothing is sent: for a plan, and for a stored run that is rejudged. */
export const unsentValues = ({ keys }: Pick<TargetProfile, 'keys'>): ReadonlyMap<string, string> =>
  new Map(keys.map(({ name }) => [name, `not-sent-${name}`]));

/**
 * The variables of this process and those of a file with lines such as NAME=value or export NAME=value.
 *
 * @throws UsageError if the file cannot be read
 */
export const environment = (file: string | undefined): Readonly<Record<string, string | undefined>> =>
  file === undefined ? process.env : { ...parseEnv(fileText(file)), ...process.env };

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

/**
 * The address of the target: the one that was asked for, else the profile's.
 *
 * @throws UsageError if there is none
 */
export function addressIn(profile: TargetProfile, asked: string | undefined): string {
  const target = asked === undefined ? profile.target : addressOf(asked);
  if (target !== undefined) return target;
  throw new UsageError('no target is given: add target: to the profile, or --target URL');
}
