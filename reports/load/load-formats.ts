/** A load result or a search for a capacity for readers. Tables are the same on terminal, page and in Markdown. */
import { html } from '@remix-run/html-template';
import { textTable, wrap } from '../../spec/text-table.ts';
import { toldFacts } from '../facts.ts';
import { factList, markdownPage, pageShell, SIGNS, tablesHtml } from '../html/page-shell.ts';
import { tableLines } from '../html/table.ts';
import { ROW_KINDS } from '../rows.ts';
import { NO_SCREEN } from '../terminal.ts';
import type { LoadReport } from './load-report.ts';

/** For a terminal: the facts, the tables, and the verdict as the last line. */
export function renderLoadText(report: LoadReport, { columns } = NO_SCREEN): string {
  const { name, headline, problems, facts, notices, tables } = report;
  const lines = [
    name,
    ...textTable(toldFacts(facts), { indent: '  ', columns }),
    ...notices.flatMap((line) => wrap(line, { columns }, '  note: ')),
    ...tables.flatMap((table) => tableLines(table, columns)),
    '',
    ...problems.flatMap((line) => wrap(line, { columns }, '')),
    // A problem may say the same and why.
    ...(problems.some((problem) => problem.startsWith(headline)) ? [] : [headline]),
  ];
  return `${lines.join('\n')}\n`;
}

const notesOf = ({ problems, notices }: LoadReport) =>
  [...problems, ...notices].map((line) => html`<p class="inconclusive">${line}</p>`);

/** For a pull request: the facts and the tables. */
export function renderLoadMarkdown(report: LoadReport): string {
  const { name, headline, verdict, facts, tables } = report;
  const blocks = [...notesOf(report), factList(facts), ...tablesHtml(tables)];
  return markdownPage(`${SIGNS[verdict]} ${name}: ${headline}`, blocks);
}

/** One HTML file without network and script: verdict, numbers, pictures, broken contract. */
export function renderLoadPage(report: LoadReport): string {
  const { name, headline, verdict, facts, cases, tables } = report;
  const broken = cases.filter((one) => one.kind === 'contract');
  const body = html`<header><p class="quiet">${name}</p>
<h1 class="${verdict}"><span aria-hidden="true">${ROW_KINDS[verdict].sign}</span> ${headline}</h1>
${notesOf(report)}
${factList(facts)}</header>
<main>${tablesHtml(tables)}
${broken.length === 0 ? '' : html`<h2>Contract broken under load</h2>`}${broken.slice(0, 50).map(({ id, reason, facts: { Exchange: example = '' } }) => html`<details class="defect" open><summary>${id}</summary><p>${reason}</p><pre tabindex="0">${example}</pre></details>`)}
${report.pictures()}
</main>`;
  return pageShell(`${headline} (${name})`, body);
}
