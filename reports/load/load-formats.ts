/** A load result or a search for a capacity in every format. Tables are the same on terminal, page and in Markdown. */
import { html, type SafeHtml } from '@remix-run/html-template';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { textTable } from '../../spec/text-table.ts';
import { count } from '../facts.ts';
import { CASE_FORMATS, type FormatName } from '../formats.ts';
import { statusHtml } from '../html/exchange.ts';
import { factList } from '../html/html.ts';
import { pageShell } from '../html/page-shell.ts';
import { type Cell, type Table, tableHtml } from '../html/table.ts';
import { markUnseen, shown } from '../html/visible-html.ts';
import * as markdown from '../markdown-text.ts';
import { ROW_KINDS } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { capacityCharts } from './capacity-chart.ts';
import { latencyChart } from './latency-chart.ts';
import { capacityOutcome, inOrder, type LoadOutcome, loadOutcome, seriesNames } from './load-outcome.ts';
import { timeChart } from './time-chart.ts';

/** What is rendered: the outcome, and the pictures of the page. */
export interface LoadReport {
  readonly outcome: LoadOutcome;
  pictures(): SafeHtml;
}

export const loadReport = (result: LoadResult): LoadReport => ({
  outcome: loadOutcome(result),
  pictures() {
    const series = inOrder(result.series);
    return html`<section><h2>Latency by operation and plan</h2>${latencyChart(series, seriesNames(series))}</section>
<section><h2>Over time</h2>${timeChart(series)}</section>
${violations(result)}`;
  },
});

export const capacityReport = (result: CapacityResult): LoadReport => ({
  outcome: capacityOutcome(result),
  pictures: () => html`<section><h2>Rate against latency</h2>${capacityCharts(result)}</section>`,
});

/** The renderers. The files have the same names as those of a check. */
export const LOAD_FORMATS: Readonly<Record<FormatName, (report: LoadReport) => string>> = {
  html: renderPage,
  terminal: ({ outcome }) => renderText(outcome),
  markdown: ({ outcome }) => renderMarkdown(outcome),
  junit: ({ outcome }) => CASE_FORMATS.junit.render(outcome),
  tap: ({ outcome }) => CASE_FORMATS.tap.render(outcome),
  sarif: ({ outcome }) => CASE_FORMATS.sarif.render(outcome),
  github: ({ outcome }) => CASE_FORMATS.github.render(outcome),
  badge: ({ outcome }) => CASE_FORMATS.badge.render(outcome),
};

const KINDS = { held: 'pass', broken: 'fail', open: 'inconclusive' } as const;
const SIGNS = { held: '✅', broken: '❌', open: '⚠️' } as const;

/** A table without the columns in which nothing is. */
function used({ title, head, rows }: Table): Table {
  const columns = head.flatMap((_, index) => (rows.every((row) => (row[index] ?? '') === '') ? [] : [index]));
  const pick = <Item>(all: readonly Item[]) => columns.flatMap((index) => all[index] ?? []);
  return { title, head: pick(head), rows: rows.map(pick) };
}

const words = (cell: Cell) => (typeof cell === 'string' ? cell : cell.wrong);

/** For a terminal: the facts, the tables, and the verdict as the last line. */
function renderText({ name, headline, problems, facts, notices, ...rest }: LoadOutcome): string {
  const { thresholds, tables } = rest;
  const shownTables = [...(thresholds === undefined ? [] : [thresholds]), ...tables].map(used);
  const lines = [
    name,
    ...textTable(facts, Number.POSITIVE_INFINITY, '  '),
    ...notices.map((line) => `  note: ${line}`),
    ...shownTables.flatMap(({ title, head, rows }) => [
      '',
      title,
      ...textTable([head, ...rows.map((row) => row.map(words))], Number.POSITIVE_INFINITY, '  '),
    ]),
    '',
    ...problems,
    // A problem may say the same and why.
    ...(problems.some((problem) => problem.startsWith(headline)) ? [] : [headline]),
  ];
  return `${lines.join('\n')}\n`;
}

function renderMarkdown(outcome: LoadOutcome): string {
  const { name, headline, verdict, problems, facts, notices, thresholds, tables } = outcome;
  const { code, fold, prose, table } = markdown;
  const cells = ({ head, rows }: Table) =>
    table(
      head,
      rows.map((row) =>
        row.map((cell) => (typeof cell === 'string' ? prose(cell) : `**${prose(cell.wrong)}**`)),
      ),
    );
  const blocks = [
    `## ${SIGNS[verdict]} ${prose(name)}: ${prose(headline)}`,
    ...[...problems, ...notices].map((line) => prose(line, 400)),
    facts
      .map(([label, text]) => `${label}: ${label === 'Target' ? code(text, 400) : prose(text, 400)}`)
      .join('<br>\n'),
    ...(thresholds === undefined ? [] : [cells(used(thresholds))]),
    ...tables.map(used).map((one) => fold(`${one.title} (${one.rows.length})`, cells(one))),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** One HTML file without network and script: verdict, what was judged, pictures, numbers. */
function renderPage({ outcome, pictures }: LoadReport): string {
  const { name, headline, verdict, problems, facts, notices, thresholds, tables } = outcome;
  const kind = KINDS[verdict];
  const section = (table: Table) => html`<section><h2>${table.title}</h2>${tableHtml(table)}</section>`;
  const body = html`<main>
<header class="verdict k-${kind}"><p class="quiet">${name}</p>
<h1><span aria-hidden="true">${ROW_KINDS[kind].sign}</span> ${headline}</h1>
${[...problems, ...notices].map((line) => html`<p class="notice">${markUnseen(line)}</p>`)}
${factList(facts)}</header>
${thresholds === undefined ? '' : section(thresholds)}${pictures()}${tables.map(section)}
</main>`;
  return pageShell(`${headline} (${name})`, body, false);
}

function violations({ violations: all }: LoadResult): SafeHtml | string {
  if (all.length === 0) return '';
  const parts = all.slice(0, 50).map(({ requirement, reported, example }) => {
    const { detail, key, method, path, status, headers, body } = example;
    const lines = Object.entries(headers)
      .slice(0, 40)
      .map(([name, value]) => html`<i class="h">${shown(name, 80)}</i>: ${shown(value, 300)}\n`);
    return html`<details class="req k-fail" open><summary><span class="chip">Broken</span> <span class="title">${shown(detail, 200)}</span> <code>${shownLine(requirement, 80)}</code></summary>
<div class="body"><p>At least ${count(reported, 'time')}; for example, with the key ${shownLine(key, 60)}:</p><pre tabindex="0">${shownLine(method, 20)} ${shown(path, 300)}
${statusHtml(status)}
${lines}
${shown(body, 1_500)}</pre></div></details>`;
  });
  return html`<section><h2>Contract broken under load</h2>${parts}</section>`;
}
