/**
 * Targets choose much of the text in a report. Before any format escapes it, this file limits its length and makes
 * visible what could act on a terminal or a page or mislead a reader: control, format and bidirectional characters, and
 * lone surrogates.
 */

/** All of these but the ends of lines and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;
const nameOf = (one: string) => `⟨U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** How long a text is, or was before it was cut. */
export const lengthOf = (text: string): string =>
  /… \(([\d,]+) characters in all\)$/.exec(text)?.[1] ?? text.length.toLocaleString('en');

/**
 * At most `most` characters of the text, cut between code points, and its length if it was cut.
 *
 * @param most in UTF-16 units, before the note
 */
export const clip = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}… (${lengthOf(text)} characters in all)`;

/**
 * At most `most` characters of the text, its lines kept, safe to show anywhere that escapes its own syntax. An invisible
 * character is written out as `⟨U+202E⟩`.
 */
export const shownLines = (text: string, most: number): string =>
  clip(text, most).replaceAll('\r\n', '\n').replace(UNSEEN, nameOf);

/** The same on one line: white space becomes a space. */
export const shownLine = (text: string, most = MOST_OF_TEXT): string =>
  shownLines(text.replace(/[ \t\r\n\f\v]+/g, ' ').trim(), most);

/** Fields whose lines are kept; every other text is one line. */
const WITH_LINES = new Set(['body', 'curl', 'command', 'resume']);
const MOST_OF_BODY = 64 * 1024;
const MOST_OF_TEXT = 600;

/** A copy of data with every text in it, names of fields included, safe to show anywhere that escapes its own syntax. */
export function harmless<T>(data: T): T;
export function harmless(data: unknown, field = ''): unknown {
  const inside: (item: unknown, name: string) => unknown = harmless;
  if (typeof data === 'string')
    return WITH_LINES.has(field) ? shownLines(data, MOST_OF_BODY) : shownLine(data);
  if (Array.isArray(data)) return data.map((item) => inside(item, field));
  if (typeof data !== 'object' || data === null) return data;
  const fields = Object.entries(data).map(([name, value]) => [shownLine(name, 200), inside(value, name)]);
  return Object.fromEntries(fields);
}
