/** Readers of the options' values. */
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { OURS } from '../../checks/profile/parse-profile.ts';
import { suggestion } from '../../checks/profile/suggestion.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { quoted } from '../../checks/wire/answer.ts';

const parser = (form: RegExp, words: string) => (from: number, to: number) => (text: string) => {
  const value = Number(text);
  if (form.test(text) && value >= from && value <= to) return value;
  throw new InvalidArgumentError(`It must be a ${words} from ${from} to ${to}.`);
};

/** In decimals: JavaScript reads 0x10 and blanks as numbers too. */
export const numberFrom = parser(/^-?\d+(\.\d+)?(e\d{1,3})?$/i, 'number');
export const wholeNumber = parser(/^\d+$/, 'whole number');

/** Seconds in a text such as 90s, 5m or 1h30m: the value of an option. */
export function durationSeconds(text: string): number {
  const [, hours = 0, minutes = 0, rest = 0] =
    /^(?:([\d.]+)h)?(?:([\d.]+)m)?(?:([\d.]+)s)?$/.exec(text) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
  if (seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Write it like 30s, 5m or 1h30m, from 1s to 24h.');
}

/**
 * A name, if it is one of those that are known.
 *
 * @throws UsageError that suggests another
 */
export function knownName<Name extends string>(what: string, name: string, known: readonly Name[]): Name {
  const found = known.find((candidate) => candidate === name);
  if (found !== undefined) return found;
  throw new UsageError(`there is no ${what} ${quoted(name)}; ${suggestion(name, known)}`);
}

type Headers = TargetProfile['headers'];

/** @throws UsageError that repeats nothing, since it may be a secret */
function namedHeader(text: string, before: Headers = []): Headers {
  const [, name = '', env = ''] = /^([\w.-]+)=([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name === '') throw new UsageError('--header: write NAME=VARIABLE; the variable holds the value');
  if (OURS.test(name)) throw new UsageError(`--header: ${name} is a header that the harness itself sends`);
  return [...before, { name, env }];
}

/** A header for one run. An option that is given again adds to the list. */
export const HEADER = new Option(
  '--header <name=variable>',
  'a header with every request, for what stands in front of the target, and the variable that holds its value',
).argParser(namedHeader);

/** The profile with these headers, each in place of one of the same name. */
export function withHeaders(profile: TargetProfile, named: Headers = []): TargetProfile {
  const isReplaced = ({ name }: Headers[number]) =>
    named.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return { ...profile, headers: [...profile.headers.filter((header) => !isReplaced(header)), ...named] };
}
