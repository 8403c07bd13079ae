import leven from 'leven';

/** No name that is known is as long; of a longer one the rest is not compared. */
const LONGEST_NAME = 100;
/** A list of more would fill the screen. */
const MOST_LISTED = 30;

/** `did you mean "…"?` for the known name that is nearest, where one is near or begins likewise; else the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const written = name.slice(0, LONGEST_NAME).toLowerCase();
  const steps = (candidate: string) => leven(written, candidate.toLowerCase());
  const [nearest] = known.toSorted((a, b) => steps(a) - steps(b));
  const near =
    nearest !== undefined && steps(nearest) <= Math.max(2, written.length / 3)
      ? nearest
      : known.find((candidate) => name.length >= 4 && candidate.startsWith(name));
  if (near !== undefined) return `did you mean "${near}"?`;
  if (known.length > MOST_LISTED) return 'see petstore-harness check --list';
  return known.length === 0 ? 'leave it out' : `known here: ${known.join(', ')}`;
}
