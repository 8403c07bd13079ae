import { limitsOf } from '../../spec/plans.ts';
import type { Key } from './key.ts';
import type { ProfileKey, TargetProfile } from './target-profile.ts';

export type KeyValues =
  | { readonly ok: true; readonly values: ReadonlyMap<string, string> }
  /** They name a key and its variable, never the value. */
  | {
      readonly ok: false;
      readonly problems: readonly { readonly message: string; readonly remedy: string }[];
    };

/** Visible ASCII: what a bearer token may consist of, and some more that servers accept (RFC 6750, 2.1). */
const HEADER_SAFE = /^[\x21-\x7e]{1,4096}$/;
/** Shorter keys cannot be told from the ordinary words and numbers of a report. */
const TOLD_FROM_WORDS = /^(?!\d{1,7}$).{4,}$/;

/**
 * Takes the values of a profile's keys from the environment.
 *
 * @param isUsed whether a key has to be there; one that is not used may be
 * @returns the values by key name, or everything that is wrong with them
 */
export function keyValues(
  profile: Pick<TargetProfile, 'keys'>,
  env: Readonly<Record<string, string | undefined>>,
  isUsed: (key: ProfileKey) => boolean = () => true,
): KeyValues {
  const values = new Map<string, string>();
  const problems = profile.keys.flatMap((key) => {
    const value = env[key.env];
    if (value === undefined && !isUsed(key)) return [];
    const twin = [...values].find(([, other]) => other === value)?.[0];
    if (value !== undefined) values.set(key.name, value);
    const [problem, remedy = ''] = problemOf(value, key.env, twin);
    return problem === undefined
      ? []
      : [{ message: `${key.env}, which holds the key ${key.name}, ${problem}`, remedy }];
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values };
}

/** @param twin the name of another key with this value */
function problemOf(
  value: string | undefined,
  variable: string,
  twin: string | undefined,
): [problem?: string, remedy?: string] {
  if (value === undefined || value === '')
    return [value === '' ? 'is empty' : 'is not set', `set it: export ${variable}=…`];
  if (!HEADER_SAFE.test(value))
    return ['has a character that a header cannot carry, or more than 4,096', 'set it to the key alone'];
  if (!TOLD_FROM_WORDS.test(value))
    return [
      'has fewer than 4 characters, or fewer than 8 digits: it would look like a word or number of a report, and could not be redacted',
      'use a longer key',
    ];
  if (twin === undefined) return [];
  return [
    `has the same key as ${twin}`,
    'name a key once, with all its roles: the two would spend one quota',
  ];
}

/** The keys of a validated profile with their values and their plans' numbers. */
export function profileKeys(profile: TargetProfile, values: ReadonlyMap<string, string>): Key[] {
  return profile.keys.flatMap((key) => {
    const value = values.get(key.name);
    if (value === undefined) return [];
    const limits = limitsOf(key.plan, profile.plans);
    if (limits === undefined) throw new Error(`a key without plans.${key.plan} got past the validation`);
    return [{ ...key, value, limits }];
  });
}
