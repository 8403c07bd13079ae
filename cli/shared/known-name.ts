import { suggestion } from '../../checks/profile/suggestion.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { quoted } from '../../checks/wire/answer.ts';

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
