import type { ProfileKey, TargetProfile } from './target-profile.ts';

export type KeyValues =
  | { readonly ok: true; readonly values: ReadonlyMap<string, string> }
  /** They name a key and its variable, never the value. */
  | {
      readonly ok: false;
      readonly problems: readonly { readonly message: string; readonly remedy: string }[];
    };

/** Visible ASCII: what a bearer token may consist of, and some more that servers accept (RFC 6750, 2.1). */
const HEADER_SAFE = /^[\x21-\x7e]+$/;
const LONGEST_KEY = 4096;

/** Shorter keys cannot be told from the ordinary words and numbers of a report. */
const SHORTEST_KEY = 4;
const SHORTEST_NUMBER = 8;

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
    const [problem, remedy] = problemOf(value, key.env, twin) ?? [];
    return problem === undefined || remedy === undefined
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
): readonly [problem: string, remedy: string] | undefined {
  if (value === undefined) return ['is not set', `set it: export ${variable}=…`];
  if (value === '') return ['is empty', `set it: export ${variable}=…`];
  const keyAlone = 'set it to the key alone';
  if (!HEADER_SAFE.test(value))
    return ['has a space, a line break or another character that a header cannot carry', keyAlone];
  if (value.length > LONGEST_KEY) return [`is longer than ${LONGEST_KEY} characters`, keyAlone];
  if (value.length < (/^\d+$/.test(value) ? SHORTEST_NUMBER : SHORTEST_KEY)) {
    const problem = `has fewer than ${SHORTEST_KEY} characters, or fewer than ${SHORTEST_NUMBER} and all of them digits: in a report it would look like an ordinary word or number, and could not be redacted`;
    return [problem, 'use a longer key'];
  }
  return twin === undefined
    ? undefined
    : [`has the same key as ${twin}`, 'name a key once, with all its roles: the two would spend one quota'];
}
