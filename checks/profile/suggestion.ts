import leven from 'leven';

/** No name that is known is as long; of a longer one the rest is not compared. */
const LONGEST_NAME = 100;

/** `did you mean "…"?` for the known name that is nearest, where one is near or begins likewise; else the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const written = name.slice(0, LONGEST_NAME).toLowerCase();
  const steps = new Map(known.map((candidate) => [candidate, leven(written, candidate.toLowerCase())]));
  const byDistance = [...steps].sort(([, a], [, b]) => a - b);
  const [near] =
    byDistance.find(([, distance]) => distance <= Math.max(2, written.length / 3)) ??
    byDistance.find(([candidate]) => name.length >= 4 && candidate.startsWith(name)) ??
    [];
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? 'leave it out' : `known here: ${known.join(', ')}`;
}
