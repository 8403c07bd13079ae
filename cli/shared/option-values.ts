/** Parsers of the options' values. */
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { OURS } from '../../checks/profile/parse-profile.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';

/** In decimals: JavaScript reads 0x10 and blanks as numbers too. */
const DECIMAL = /^-?\d+(\.\d+)?(e\d{1,3})?$/i;

const parser = (form: RegExp, isMeant: (value: number) => boolean, words: string) => (text: string) => {
  if (form.test(text) && isMeant(Number(text))) return Number(text);
  throw new InvalidArgumentError(`It must be a ${words}.`);
};

export const numberFrom = (from: number, to: number) =>
  parser(DECIMAL, (value) => value >= from && value <= to, `number from ${from} to ${to}`);

export const wholeNumber = (from: number, to: number) =>
  parser(/^\d+$/, (value) => value >= from && value <= to, `whole number from ${from} to ${to}`);

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const LONGEST_SECONDS = 86_400;

/** Seconds in a text such as 90s, 1h30m or 500ms: the value of an option. */
export function durationSeconds(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const seconds = parts.reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_SECONDS[unit] ?? 0),
    0,
  );
  const whole = parts.map(([part]) => part).join('') === text;
  if (whole && seconds >= 1 && seconds <= LONGEST_SECONDS) return seconds;
  throw new InvalidArgumentError('Write it like 30s, 5m or 1h30m, from 1s to 24h.');
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
