import { closestMatch } from 'leven';

/** Nothing has the name that was asked for; the message says what comes closest. */
export class UnknownNameError extends Error {
  constructor(kind: string, name: string, known: readonly string[]) {
    const close = closestMatch(name, known, { maxDistance: 12 });
    const hint = close === undefined ? '' : `; did you mean "${close}"?`;
    super(`there is no ${kind} named "${name}"${hint}`);
    this.name = 'UnknownNameError';
  }
}

/**
 * The one of a list that has a name.
 *
 * @param kind what is looked for, for the error message
 * @throws UnknownNameError where none has it
 */
export function named<T extends { readonly name: string }>(kind: string, name: string, all: readonly T[]): T {
  const found = all.find((candidate) => candidate.name === name);
  if (found === undefined)
    throw new UnknownNameError(
      kind,
      name,
      all.map((candidate) => candidate.name),
    );
  return found;
}
