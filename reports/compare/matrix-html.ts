import { html, type SafeHtml } from '@remix-run/html-template';
import { verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import type { Row } from '../groups.ts';
import { pageShell } from '../html/page-shell.ts';
import { ROW_KINDS, rowKind, VERDICT_KINDS, verdictSign } from '../row-kinds.ts';
import { bySection } from '../sections.ts';
import { clip } from '../visible-text.ts';
import { type MatrixColumn, type MatrixRow, matrixAnswers, matrixRows } from './matrix.ts';

/** How many failures of an implementation are explained; its own report has all. */
const MOST_TOLD = 40;

/** Implementations × requirements as one HTML file, without script and without network. */
export function renderMatrixHtml(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const answers = matrixAnswers(columns);
  const same = [...rows, ...answers].filter(({ alike }) => alike).length;
  const heads = columns.map(columnHead);
  const body = html`<main><header><h1>${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}</h1></header>
<p class="legend">${Object.entries(ROW_KINDS).map(([kind, { sign, words }]) => html`<span><b class="${kind}">${sign}</b> ${words}</span> `)}</p>
<p><input type="checkbox" id="differ"> <label for="differ">Only where implementations differ (hides ${count(same, 'row')})</label></p>
<div class="scroll" tabindex="0" role="group" aria-label="Implementations and requirements"><table><thead><tr><th scope="col">Requirement</th>${heads}</tr></thead>
${bySection(rows).map(
  ({ name, rows: group }) =>
    html`<tbody><tr class="section"><th colspan="${columns.length + 1}" scope="colgroup">${name}</th></tr>${group.map((row) => matrixRow(row, columns))}</tbody>`,
)}</table></div>
${columns.map(failures)}
${
  answers.length === 0
    ? ''
    : html`<h2>Answers to what the document leaves open</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Implementations and their answers"><table><thead><tr><th scope="col">Question</th>${heads}</tr></thead>
<tbody>${answers.map(
        ({ id, question, answers: given, alike }) =>
          html`<tr class="${alike ? 'alike' : 'differs'}"><th scope="row">${question} <code>${id}</code></th>${given.map((answer) => html`<td>${answer === null ? html`<span class="quiet">not seen</span>` : html`<code>${clip(answer, 80)}</code>`}</td>`)}</tr>`,
      )}</tbody></table></div>`
}</main>`;
  return pageShell(`Pet Store Service Interface: ${count(columns.length, 'implementation')}`, body, false);
}

function columnHead({ name, built }: MatrixColumn): SafeHtml {
  const { report, passed } = built;
  const broken = built.cases.filter(({ standing }) => standing === 'failed').length;
  return html`<th scope="col">${name}<br><span class="${VERDICT_KINDS[report.verdict]}">${verdictSign(report.verdict)} ${verdictWords(report)}</span><br><span class="quiet">${passed.length} verified, ${broken} broken<br>${moment(report.run.startedAt).slice(0, 10)}</span></th>`;
}

const anchorOf = (column: number, id: string) => `b-${column}-${id}`;

/** The failures of an implementation that are explained. */
const failuresOf = ({ built }: MatrixColumn): readonly Row[] =>
  built.report.requirements.filter(({ verdict }) => verdict === 'fail').slice(0, MOST_TOLD);

function matrixRow(
  { id, title, level, cells, alike }: MatrixRow,
  columns: readonly MatrixColumn[],
): SafeHtml {
  return html`<tr class="${alike ? 'alike' : 'differs'}"><th scope="row">${title}${level === 'MAY' ? ' MAY' : ''} <code>${id}</code></th>${cells.map(
    (cell, index) => {
      if (cell === undefined) return html`<td class="quiet">not in its run</td>`;
      const kind = rowKind(cell);
      const column = columns[index];
      const sign = html`<span role="img" aria-label="${ROW_KINDS[kind].words}">${ROW_KINDS[kind].sign}</span>`;
      const isTold = column !== undefined && failuresOf(column).some((row) => row.id === id);
      return html`<td class="${kind}" title="${column?.name ?? ''}: ${clip(cell.reason, 240)}">${isTold ? html`<a href="#${anchorOf(index, id)}">${sign}</a>` : sign}</td>`;
    },
  )}</tr>`;
}

/** What an implementation breaks, in words and with the command that repeats it. */
function failures(column: MatrixColumn, index: number): SafeHtml | string {
  const rows = failuresOf(column);
  if (rows.length === 0) return '';
  return html`<section><h2>What ${column.name} breaks</h2>${rows.map(
    (row) =>
      html`<div id="${anchorOf(index, row.id)}"><p><b>${row.title}</b> <code>${row.id}</code></p><dl><dt>Came</dt><dd class="fail">${clip(row.actual ?? row.reason, 240)}</dd><dt>Asked</dt><dd>${clip(row.expected ?? row.statement, 240)}</dd></dl>${row.curl === undefined || row.curl.length > 600 ? '' : html`<pre tabindex="0">${row.curl}</pre>`}</div>`,
  )}</section>`;
}
