import { closestMatch } from 'leven';

/** No item has the requested name; the message suggests the nearest one. */
export class UnknownNameError extends Error {
  constructor(kind: string, name: string, known: readonly string[]) {
    const close = closestMatch(name, known, { maxDistance: 12 });
    const hint = close === undefined ? '' : `; did you mean "${close}"?`;
    super(`there is no ${kind} named "${name}"${hint}`);
    this.name = 'UnknownNameError';
  }
}

/**
 * Finds an item by its name.
 *
 * @param kind the kind of item, for the error message
 * @throws UnknownNameError if there is none
 */
export function named<T extends { readonly name: string }>(kind: string, name: string, all: readonly T[]): T {
  const found = all.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const known = all.map((candidate) => candidate.name);
  throw new UnknownNameError(kind, name, known);
}
