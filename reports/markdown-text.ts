import { shownLine } from './visible-text.ts';

/** A failing suite can break everything; the first rows say enough. */
export const MOST_ROWS = 40;

/** Text of which no character is markup, a link or the end of a table cell. */
export function prose(text: string, most = 240): string {
  return shownLine(text, most)
    .replace(/[&<>"'`*_~[\]|\\@#$]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll('://', '&#58;//')
    .replaceAll('www.', 'www&#46;');
}

/** The same as inline code, where GitHub looks for no mention, issue number or emoji either: for what a target chose. */
export function code(text: string, most?: number): string {
  const inert = prose(text, most);
  return inert === '' ? '' : `<code>${inert}</code>`;
}

/** A table of GitHub's dialect; of more rows than `most` the first ones, and how many are left out. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  most = MOST_ROWS,
): string {
  const shown = rows.slice(0, most).map((cells) => `| ${cells.join(' | ')} |`);
  const more = rows.length > most ? `\n\n_and ${rows.length - most} more, see report.html_` : '';
  return [`| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...shown].join('\n') + more;
}

/** A part that a reader unfolds. */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}
