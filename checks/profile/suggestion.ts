import leven from 'leven';

const LONGEST_QUOTE = 40;

/** No name that is known is as long; of a longer one the rest is not compared. */
const LONGEST_NAME = 100;

/** Fewer letters begin too many names. */
const SHORTEST_BEGINNING = 4;

/** What a message repeats of a file: short, and nothing that a terminal would obey. */
export function quoted(text: string): string {
  const short = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return `"${printable(short)}"`;
}

/** The text without characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\uFFFD');
}

/** `did you mean "…"?` for the known name that is nearest, where one is near or begins likewise; else the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const compared = name.slice(0, LONGEST_NAME);
  const byDistance = known
    .map((candidate) => ({
      candidate,
      steps: leven(compared.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.steps - b.steps);
  const near =
    byDistance.find(({ steps }) => steps <= Math.max(2, compared.length / 3)) ??
    byDistance.find(({ candidate }) => name.length >= SHORTEST_BEGINNING && candidate.startsWith(name));
  if (near !== undefined) return `did you mean "${near.candidate}"?`;
  return known.length === 0 ? 'leave it out' : `known here: ${known.join(', ')}`;
}
