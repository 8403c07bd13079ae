import { html, type SafeHtml } from '@remix-run/html-template';
import { moment } from '../facts.ts';
import { pageShell } from '../html/page-shell.ts';
import { shown } from '../html/visible-html.ts';
import { count, outcome, verdictWords } from '../outcome.ts';
import type { RequirementResult } from '../report.ts';
import { ROW_KINDS, rowKind, VERDICT_KINDS, verdictSign } from '../row-kinds.ts';
import { bySection } from '../sections.ts';
import { shownLine, visibleLines } from '../visible-text.ts';
import {
  type MatrixAnswers,
  type MatrixColumn,
  type MatrixRow,
  matrixAnswers,
  matrixRows,
} from './matrix.ts';

/** How many failures of an implementation are explained; its own report has all. */
const MOST_TOLD = 40;
/** A longer command is in the implementation's own report. */
const MOST_CURL = 600;

/** Implementations × requirements as one HTML file, without script and without network. */
export function renderMatrixHtml(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const answers = matrixAnswers(columns);
  const same = [...rows, ...answers].filter(({ alike }) => alike).length;
  const absent = rows.some(({ cells }) => cells.includes(undefined));
  const heads = columns.map(columnHead);
  const body = html`<main class="matrix-page">
<header class="verdict"><p class="quiet">Pet Store Service Interface, conformance</p>
<h1>${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}</h1></header>
<p class="legend">${Object.entries(ROW_KINDS).map(([kind, { sign, words }]) => html`<span><b class="k-${kind}">${sign}</b> ${words}</span>`)}${absent ? html`<span><b class="quiet">·</b> Not in its run</span>` : ''}</p>
<p><input type="checkbox" id="differ"> <label for="differ">Only where implementations differ (hides ${count(same, 'row')})</label></p>
<div class="scroll" tabindex="0" role="group" aria-label="Implementations and requirements"><table class="matrix">
<thead><tr><th scope="col">Requirement</th>${heads}</tr></thead>
${bySection(rows).map(
  ({ name, rows: group }) =>
    html`<tbody><tr class="matrix-section"><th colspan="${columns.length + 1}" scope="colgroup"><span>${name}</span></th></tr>${group.map((row) => matrixRow(row, columns))}</tbody>`,
)}
</table></div>
${brokenParts(columns)}
${answers.length === 0 ? '' : answerTable(answers, heads)}
</main>`;
  return pageShell(`Pet Store Service Interface: ${count(columns.length, 'implementation')}`, body, false);
}

function columnHead({ name, report }: MatrixColumn): SafeHtml {
  const { passed, broken } = outcome(report);
  return html`<th scope="col"><span class="name">${shownLine(name, 60)}</span><span class="chip k-${VERDICT_KINDS[report.verdict]}"><span aria-hidden="true">${verdictSign(report.verdict)}</span> <span class="word">${verdictWords(report)}</span></span><span class="counts">${passed.length} verified, ${broken.length} broken<br>${moment(report.run.startedAt).slice(0, 10)}</span></th>`;
}

const anchorOf = (column: number, id: string) => `b-${column}-${id}`;

/** The failures of an implementation that are explained. */
function listFailures({ report }: MatrixColumn): readonly RequirementResult[] {
  const { broken, known } = outcome(report);
  return [...broken, ...known].slice(0, MOST_TOLD);
}

function matrixRow(row: MatrixRow, columns: readonly MatrixColumn[]): SafeHtml {
  return html`<tr class="${row.alike ? 'alike' : 'differs'}"><th scope="row">${shownLine(row.title, 160)}${row.level === 'MAY' ? html` <span class="level">MAY</span>` : ''}<br><code class="quiet">${row.id}</code></th>${row.cells.map(
    (cell, index) => {
      if (cell === undefined)
        return html`<td class="quiet"><span aria-hidden="true">·</span><span class="sr">not in its run</span></td>`;
      const kind = rowKind(cell);
      const column = columns[index];
      const sign = html`<span aria-hidden="true">${ROW_KINDS[kind].sign}</span><span class="sr">${ROW_KINDS[kind].words}</span>`;
      const isExplained = column !== undefined && listFailures(column).some(({ id }) => id === row.id);
      return html`<td class="k-${kind}" title="${shownLine(column?.name ?? '', 60)}: ${shownLine(cell.reason, 240)}">${isExplained ? html`<a href="#${anchorOf(index, row.id)}">${sign}</a>` : sign}</td>`;
    },
  )}</tr>`;
}

/** What each implementation breaks, in words and with the command that repeats it. */
function brokenParts(columns: readonly MatrixColumn[]): SafeHtml | string {
  const parts = columns.flatMap((column, index) => {
    const rows = listFailures(column);
    if (rows.length === 0) return [];
    const { broken, known } = outcome(column.report);
    const more = broken.length + known.length - rows.length;
    return html`<section aria-labelledby="b-${index}"><h3 id="b-${index}">${shownLine(column.name, 60)} <span class="quiet">${shownLine(column.report.run.target, 120)}</span></h3>
${rows.map((row) => brokenRow(row, index))}${more === 0 ? '' : html`<p class="quiet">and ${more} more in its own report</p>`}</section>`;
  });
  return parts.length === 0 ? '' : html`<h2>What is broken</h2>${parts}`;
}

function brokenRow(row: RequirementResult, index: number): SafeHtml {
  const curl =
    row.curl === undefined || row.curl.length > MOST_CURL
      ? ''
      : html`<pre tabindex="0">${visibleLines(row.curl)}</pre>`;
  return html`<div class="told" id="${anchorOf(index, row.id)}"><b>${shownLine(row.title, 200)}</b> <span class="quiet">section ${row.section}</span> <code class="quiet">${row.id}</code>
<dl class="asked"><dt>asks</dt><dd>${shown(row.expected ?? row.statement, 240)}</dd><dt>came</dt><dd>${shown(row.actual ?? row.reason, 240)}</dd></dl>${curl}</div>`;
}

function answerTable(answers: readonly MatrixAnswers[], heads: SafeHtml[]): SafeHtml {
  return html`<h2>Answers to what the document leaves open</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Implementations and their answers"><table class="matrix">
<thead><tr><th scope="col">Question</th>${heads}</tr></thead>
<tbody>${answers.map(
    ({ id, section, question, answers: given, alike }) =>
      html`<tr class="${alike ? 'alike' : 'differs'}"><th scope="row">${shownLine(question, 160)}<br><code class="quiet">${id}</code> <span class="quiet">section ${section}</span></th>${given.map((answer) => (answer === null ? html`<td><span class="quiet">not seen</span></td>` : html`<td><code>${shown(answer, 80)}</code></td>`))}</tr>`,
  )}</tbody></table></div>`;
}
