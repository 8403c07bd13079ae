/**
 * Targets choose much of what a report shows. Here their text loses what acts on a terminal, a page or a reader's eye
 * (control, format and bidirectional characters, lone surrogates) and unbounded length, before any format escapes it.
 */

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;

/** How a character that cannot be seen is written: `⟨U+202E⟩`. */
export function codePointName(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The text with every character that cannot be seen written out; line feeds and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : codePointName(character),
  );
}

/** The text on one line: runs of white space become a space, every other character that cannot be seen is written out. */
export function visibleLine(text: string): string {
  return text
    .replace(/[ \t\r\n\f\v]+/g, ' ')
    .trim()
    .replace(UNSEEN, codePointName);
}

/**
 * At most `most` characters of the text, cut between code points, and how many there were.
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

/** Cut first, because text may be megabytes, and again, because each unseen character grows to eight. */
function shortened(text: string, most: number, visible: (text: string) => string): string {
  const whole = visible(start(text, most));
  if (text.length <= most && whole.length <= most * 2) return whole;
  // A name of an unseen character that the cut went through is left out.
  return `${start(whole, most * 2)
    .replace(/⟨[^⟩]*$/, '')
    .trimEnd()}${lengthNote(text)}`;
}
