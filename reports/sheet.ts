/** Sheets: facts and tables for readers. They are the same on terminal, page and in Markdown. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { textTable, wrap } from '../spec/text-table.ts';
import { toldFacts } from './facts.ts';
import { factList, markdownPage, pageShell } from './html/page-shell.ts';
import { type Table, tableHtml, tableLines } from './html/table.ts';
import { ROW_KINDS } from './rows.ts';
import { NO_SCREEN } from './terminal.ts';
import type { TestRun } from './test-run.ts';

/** What a load, a search for a capacity or a comparison of reports came to. Every text is safe to escape and show. */
export interface Sheet extends Pick<TestRun, 'name' | 'headline' | 'problems' | 'facts'> {
  /** Where there is one. */
  readonly verdict?: TestRun['verdict'];
  /** What a reader must not miss, beside the verdict. */
  readonly notices: readonly string[];
  /** In the order of every format; what was judged comes first. */
  readonly tables: readonly Table[];
  /** What only a page has room for, such as pictures. */
  onPage?(): SafeHtml;
}

/** For a terminal or a log: the facts, the tables, and the verdict as the last line. */
export function renderSheetText(sheet: Sheet, { columns } = NO_SCREEN): string {
  const { name, headline, problems, facts, notices, tables } = sheet;
  const lines = [
    name,
    ...textTable(toldFacts(facts), { indent: '  ', columns }),
    ...notices.flatMap((line) => wrap(line, { columns }, '  note: ')),
    ...tables.flatMap((table) => tableLines(table, columns)),
    '',
    ...problems.flatMap((line) => wrap(line, { columns }, '')),
    // A problem may say the same and why.
    ...(problems.some((problem) => problem.startsWith(headline)) ? [] : wrap(headline, { columns }, '')),
  ];
  return `${lines.join('\n')}\n`;
}

const notesOf = ({ problems, notices }: Sheet) =>
  [...problems, ...notices].map((line) => html`<p class="inconclusive">${line}</p>`);

const tablesOf = ({ tables }: Sheet) =>
  tables.map((table) => html`<h2>${table.title}</h2>${tableHtml(table)}`);

/** For a pull request: the facts and the tables. */
export const renderSheetMarkdown = (sheet: Sheet): string =>
  markdownPage(sheet.verdict, `${sheet.name}: ${sheet.headline}`, [
    ...notesOf(sheet),
    factList(sheet.facts),
    ...tablesOf(sheet),
  ]);

/** One HTML file without network and script: verdict, facts, tables, pictures. */
export function renderSheetPage(sheet: Sheet): string {
  const { name, headline, verdict, facts } = sheet;
  const sign = verdict && html`<span aria-hidden="true">${ROW_KINDS[verdict].sign}</span> `;
  const body = html`<header><p class="quiet">${name}</p>
<h1 class="${verdict ?? 'quiet'}">${sign}${headline}</h1>
${notesOf(sheet)}
${factList(facts)}</header>
<main>${tablesOf(sheet)}
${sheet.onPage?.()}
</main>`;
  return pageShell(`${headline} (${name})`, body);
}
