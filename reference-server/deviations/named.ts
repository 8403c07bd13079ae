import { closestMatch } from 'leven';

/**
 * Finds an item by its name.
 *
 * @param kind the kind of item, for the error message
 * @throws UnknownNameError if there is none; its message suggests the nearest one
 */
export function named<T extends { readonly name: string }>(kind: string, name: string, all: readonly T[]): T {
  const found = all.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const known = all.map((candidate) => candidate.name);
  const close = closestMatch(name, known, { maxDistance: 12 });
  const hint = close === undefined ? '' : `; did you mean "${close}"?`;
  throw Object.assign(new Error(`there is no ${kind} named "${name}"${hint}`), { name: 'UnknownNameError' });
}
