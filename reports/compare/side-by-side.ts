import { html } from '@remix-run/html-template';
import { wrap } from '../../spec/text-table.ts';
import { markdownPage, pageShell, tablesHtml } from '../html/page-shell.ts';
import { type Table, tableLines } from '../html/table.ts';
import { NO_SCREEN } from '../terminal.ts';

/** Several runs side by side. Every text is safe to escape and show. */
export interface SideBySide {
  readonly headline: string;
  /** Which runs they are. */
  readonly about: string;
  readonly table: Table;
}

/** For a terminal or a log. */
export function sideBySideText({ headline, about, table }: SideBySide, { columns } = NO_SCREEN): string {
  const lines = [headline, about].flatMap((line) => wrap(line, { columns }, ''));
  return `${[...lines, ...(table.rows.length > 0 ? tableLines(table, columns) : [])].join('\n')}\n`;
}

/** One HTML file without network and script. */
export const sideBySidePage = ({ headline, about, table }: SideBySide): string =>
  pageShell(
    headline,
    html`<header><h1>${headline}</h1><p class="quiet">${about}</p></header><main>${tablesHtml([table])}</main>`,
  );

/** For a pull request. */
export const sideBySideMarkdown = ({ headline, table }: SideBySide): string =>
  markdownPage(headline, tablesHtml([table]));
