import type { ProfileKey, TargetProfile } from './target-profile.ts';

/** A key that cannot be used: names the key and its variable, never the value. */
export interface KeyProblem {
  readonly key: string;
  readonly variable: string;
  readonly message: string;
  readonly remedy: string;
}

export type KeyValues =
  | { readonly ok: true; readonly values: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problems: readonly KeyProblem[] };

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
  const problems: KeyProblem[] = [];
  for (const key of profile.keys) {
    const { name, env: variable } = key;
    const value = env[variable];
    if (value === undefined && !isUsed(key)) continue;
    const report = (message: string, remedy: string) =>
      problems.push({
        key: name,
        variable,
        message: `${variable}, which holds the key ${name}, ${message}`,
        remedy,
      });
    const twin = [...values].find(([, other]) => other === value)?.[0];
    if (value === undefined) report('is not set', `set it: export ${variable}=…`);
    else if (value === '') report('is empty', `set it: export ${variable}=…`);
    else if (!HEADER_SAFE.test(value)) {
      report(
        'has a space, a line break or another character that a header cannot carry',
        'set it to the key alone',
      );
    } else if (value.length > LONGEST_KEY)
      report(`is longer than ${LONGEST_KEY} characters`, 'set it to the key alone');
    else if (value.length < (/^\d+$/.test(value) ? SHORTEST_NUMBER : SHORTEST_KEY)) {
      report(
        `has fewer than ${SHORTEST_KEY} characters, or fewer than ${SHORTEST_NUMBER} and all of them digits: in a report it would look like an ordinary word or number, and could not be redacted`,
        'use a longer key',
      );
    } else if (twin !== undefined) {
      report(
        `has the same key as ${twin}`,
        'name a key once, with all its roles: the two would spend one quota',
      );
    }
    if (value !== undefined) values.set(name, value);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values };
}
