import { closestMatch } from 'leven';

/** A list of more would fill the screen. */
const MOST_LISTED = 30;

/** `did you mean "…"?` for the known name that is nearest, where one is near or begins likewise; else the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const maxDistance = Math.max(2, Math.floor(name.length / 3));
  const near =
    closestMatch(name.toLowerCase(), known, { maxDistance }) ??
    known.find((candidate) => name.length >= 4 && candidate.startsWith(name));
  if (near !== undefined) return `did you mean "${near}"?`;
  if (known.length > MOST_LISTED) return 'see petstore-harness check --list';
  return known.length === 0 ? 'leave it out' : `known here: ${known.join(', ')}`;
}
