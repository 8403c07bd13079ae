import { OURS } from '../../checks/profile/parse-profile.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';

/**
 * A header for one run: `NAME=VARIABLE`. An option that is given again adds to the list.
 *
 * @throws UsageError that repeats nothing, since it may be a secret
 */
export function namedHeader(text: string, before: Headers = []): Headers {
  const [, name = '', env = ''] = /^([\w.-]+)=([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name === '') throw new UsageError('--header: write NAME=VARIABLE; the variable holds the value');
  if (OURS.test(name)) throw new UsageError(`--header: ${name} is a header that the harness itself sends`);
  return [...before, { name, env }];
}

type Headers = TargetProfile['headers'];

/** The profile with these headers, each in place of one of the same name. */
export function withHeaders(profile: TargetProfile, named: Headers = []): TargetProfile {
  const isReplaced = ({ name }: Headers[number]) =>
    named.some((one) => one.name.toLowerCase() === name.toLowerCase());
  return { ...profile, headers: [...profile.headers.filter((header) => !isReplaced(header)), ...named] };
}
