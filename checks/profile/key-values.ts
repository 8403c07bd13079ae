import { limitsOf } from '../../spec/plans.ts';
import type { Key } from './key.ts';
import type { TargetProfile } from './target-profile.ts';
import { UsageError } from './usage-error.ts';

/** Visible ASCII: what a bearer token may consist of, and some more that servers accept (RFC 6750, 2.1). */
const HEADER_SAFE = /^[\x21-\x7e]{1,4096}$/;
/** Shorter keys cannot be told from the ordinary words and numbers of a report. */
export const TOLD_FROM_WORDS = /^(?!\d{1,7}$).{4,}$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with what a variable holds, and how to correct it; the value itself is not told. */
export function problemOf(
  env: Environment,
  variable: string,
  what: string,
  form = HEADER_SAFE,
): string | undefined {
  const value = env[variable];
  const isWrong = (how: string) => `${variable}, which holds the ${what}, ${how}`;
  if (value === undefined || value === '')
    return isWrong(`is ${value === '' ? 'empty' : 'not set'}; set it: export ${variable}=…`);
  if (!form.test(value))
    return isWrong(
      'has a character that a header cannot carry, or more than 4,096; set it to the value alone',
    );
  if (!TOLD_FROM_WORDS.test(value))
    return isWrong(
      'has fewer than 4 characters, or fewer than 8 digits: it would look like a word or number of a report, and could not be redacted; choose a longer value',
    );
  return undefined;
}

/**
 * Takes the values of a profile's keys from the environment, as far as they are there.
 *
 * @returns the values by key name
 * @throws UsageError for each key that is invalid: it names the key and its variable, no value
 */
export function keyValues(
  { keys }: Pick<TargetProfile, 'keys'>,
  env: Environment,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const problems = keys.flatMap((key) => {
    const value = env[key.env];
    if (value === undefined) return [];
    const [twin] = [...values].find(([, other]) => other === value) ?? [];
    values.set(key.name, value);
    const twice = `${key.env}, which holds the key ${key.name}, has the same key as ${twin}; name a key once, with all its roles: the two would spend one quota`;
    return problemOf(env, key.env, `key ${key.name}`) ?? (twin === undefined ? [] : twice);
  });
  if (problems.length > 0) throw new UsageError(...problems);
  return values;
}

/** The keys of a validated profile that are no load keys alone, with their values and their plans' numbers. */
export function profileKeys(profile: TargetProfile, values: ReadonlyMap<string, string>): Key[] {
  return profile.keys.flatMap((key) => {
    const value = values.get(key.name);
    if (value === undefined || key.roles.every((role) => role === 'load')) return [];
    const limits = limitsOf(key.plan, profile.plans);
    if (limits === undefined) throw new Error(`a key without plans.${key.plan} got past the validation`);
    return [{ ...key, value, limits }];
  });
}
