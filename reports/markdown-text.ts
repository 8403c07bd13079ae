import { type Table, used } from './html/table.ts';
import { shownLine } from './visible-text.ts';

/** What a reader sees of a verdict first. */
export const SIGNS = { pass: '✅', fail: '❌', inconclusive: '⚠️' } as const;

/** If everything is broken, the first rows say enough. */
export const MOST_ROWS = 40;

/** Text without any markup, link or end of a table cell. */
export function prose(text: string, most = 240): string {
  return shownLine(text, most)
    .replace(/[&<>"'`*_~[\]|\\@#$]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll('://', '&#58;//')
    .replaceAll('www.', 'www&#46;');
}

/** Text that a target chose, as inline code: there GitHub also finds no mention, issue number or emoji. */
export function code(text: string, most?: number): string {
  const inert = prose(text, most);
  return inert === '' ? '' : `<code>${inert}</code>`;
}

/** A table in GitHub's dialect, with at most `most` rows and the number of the others. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  most = MOST_ROWS,
): string {
  const shown = rows.slice(0, most).map((cells) => `| ${cells.join(' | ')} |`);
  const more = rows.length > most ? `\n\n_and ${rows.length - most} more, see report.html_` : '';
  return [`| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...shown].join('\n') + more;
}

/** A table of any format in Markdown. */
export function tableMarkdown(whole: Table, most?: number): string {
  const { head, rows } = used(whole);
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? prose(cell) : `**${prose(cell.wrong)}**`)),
  );
  return table(
    head.map((name) => prose(name)),
    cells,
    most,
  );
}

/** A part that is folded at first. */
export function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}
