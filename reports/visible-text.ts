/**
 * Targets choose much of the text in a report. Before any format escapes it, this file limits its length and makes
 * visible what could act on a terminal or a page or mislead a reader: control, format and bidirectional characters, and
 * lone surrogates.
 */

/** All of these but the ends of lines and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;

/** The text with every invisible character written out as `⟨U+202E⟩`, except the ends of lines and tabs. */
export const visibleLines = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, (one) => `⟨U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`);

/** The same on one line: white space becomes a space. */
export const visibleLine = (text: string): string =>
  visibleLines(text.replace(/[ \t\r\n\f\v]+/g, ' ').trim());

/**
 * At most `most` characters of the text, cut between code points, and its length if it was cut.
 *
 * @param most in UTF-16 units, before the note
 */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${start(text, most)}${lengthNote(text)}`;
}

function start(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff && text.length > most ? most - 1 : most);
}

function lengthNote(text: string): string {
  return `… (${text.length.toLocaleString('en')} characters in all)`;
}

/** One line of at most `most` characters of the text, safe to show anywhere that escapes its own syntax. */
export function shownLine(text: string, most = 600): string {
  return shortened(text, most, visibleLine);
}

/** At most `most` characters of the text, its lines kept, safe to show anywhere that escapes its own syntax. */
export function shownLines(text: string, most = 2_000): string {
  return shortened(text, most, visibleLines);
}

/** Fields whose lines are kept; every other text is one line. */
const WITH_LINES = new Set(['body', 'curl', 'command', 'resume']);
const MOST_OF_BODY = 64 * 1024;

/**
 * A copy of data with every text in it, names of fields included, safe to show anywhere that escapes its own syntax.
 *
 * @param most how many characters of a text are kept, bodies apart
 */
export function harmless<T>(data: T, most?: number): T;
export function harmless(data: unknown, most = 4_000, field = ''): unknown {
  if (typeof data === 'string')
    return WITH_LINES.has(field) ? shownLines(data, MOST_OF_BODY) : shownLine(data, most);
  if (Array.isArray(data)) return data.map((item) => harmlessIn(item, most, field));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [shownLine(name, 200), harmlessIn(value, most, name)]),
  );
}
const harmlessIn: (data: unknown, most: number, field: string) => unknown = harmless;

/** Cuts first, as a text may have megabytes, and again afterwards, as each invisible character becomes eight. */
function shortened(text: string, most: number, visible: (text: string) => string): string {
  const whole = visible(start(text, most));
  if (text.length <= most && whole.length <= most * 2) return whole;
  // If the cut went through the name of an invisible character, the name is left out.
  return `${start(whole, most * 2)
    .replace(/⟨[^⟩]*$/, '')
    .trimEnd()}${lengthNote(text)}`;
}
