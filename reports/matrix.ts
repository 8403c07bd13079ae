import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { html, type SafeHtml } from '@remix-run/html-template';
import { moment } from './facts.ts';
import { pageShell } from './html/page-shell.ts';
import { ROW_KINDS, type RowKind, rowKind } from './html/requirement-list.ts';
import { code, prose } from './markdown-text.ts';
import { count, outcome, VERDICT_WORDS } from './outcome.ts';
import { REPORT_FILE, readReport } from './read-report.ts';
import type { Report, RequirementResult } from './report.ts';
import { bySection } from './sections.ts';
import { shownLine } from './visible-text.ts';

/** One implementation: what its folder or file is called, and its run. */
export interface MatrixColumn {
  readonly name: string;
  readonly report: Report;
}

/** The reports below a folder, or one line that says which file is none. */
export type ReadMatrix =
  | { readonly ok: true; readonly columns: readonly MatrixColumn[] }
  | { readonly ok: false; readonly problem: string };

/** Deeper than this nobody keeps results; a link back to a parent would have no end. */
const DEEPEST = 6;

/**
 * Every report.json below the folder, named after the folder that holds it, and every other .json beside them, named
 * after itself.
 */
export function readMatrix(folder: string): ReadMatrix {
  const files: string[] = [];
  const collect = (path: string, depth: number) => {
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) =>
      a.name.localeCompare(b.name),
    )) {
      const full = join(path, entry.name);
      if (entry.isDirectory() && depth < DEEPEST) collect(full, depth + 1);
      else if (entry.name === REPORT_FILE || (depth === 0 && entry.name.endsWith('.json'))) files.push(full);
    }
  };
  try {
    if (!statSync(folder).isDirectory()) return { ok: false, problem: `${folder}: is no folder` };
    collect(folder, 0);
  } catch (error) {
    return { ok: false, problem: `${folder}: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (files.length === 0) return { ok: false, problem: `${folder}: holds no report.json` };
  const columns: MatrixColumn[] = [];
  for (const file of files) {
    const read = readReport(file);
    if (!read.ok) return read;
    const inFolder = relative(folder, dirname(file));
    const name = basename(file) === REPORT_FILE && inFolder !== '' ? inFolder : basename(file, '.json');
    columns.push({ name, report: read.report });
  }
  return { ok: true, columns };
}

interface MatrixRow {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly level: RequirementResult['level'];
  /** By column; undefined where that run had no such requirement. */
  readonly cells: readonly (RequirementResult | undefined)[];
  /** Whether every implementation stands alike. */
  readonly alike: boolean;
}

function matrixRows(columns: readonly MatrixColumn[]): MatrixRow[] {
  const byColumn = columns.map(({ report }) => new Map(report.requirements.map((row) => [row.id, row])));
  const rows = new Map<string, RequirementResult>();
  for (const { report } of columns)
    for (const row of report.requirements) if (!rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()].map(({ id, section, title, level }) => {
    const cells = byColumn.map((column) => column.get(id));
    const kinds = new Set(cells.map((cell) => (cell === undefined ? 'absent' : rowKind(cell))));
    return { id, section, title, level, cells, alike: kinds.size === 1 };
  });
}

const SIGNS = {
  pass: '✔',
  fail: '✘',
  known: '~',
  inconclusive: '?',
  'not-applicable': '–',
} as const satisfies Record<RowKind, string>;

/** Implementations × requirements as one HTML file, without script and without network. */
export function renderMatrixHtml(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const same = rows.filter(({ alike }) => alike).length;
  const body = html`<main class="matrix-page">
<header class="verdict"><p class="eyebrow">Pet Store Service Interface, conformance</p>
<h1>${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}</h1></header>
<p class="legend">${Object.entries(SIGNS).map(([kind, sign]) => html`<span><b class="m-${kind}">${sign}</b> ${ROW_KINDS[isRowKind(kind) ? kind : 'pass']}</span>`)}</p>
<p><input type="checkbox" id="differ"> <label for="differ">Only where implementations differ (hides ${count(same, 'row')})</label></p>
<div class="scroll" tabindex="0" role="group" aria-label="Implementations and requirements"><table class="matrix">
<thead><tr><th scope="col">Requirement</th>${columns.map(columnHead)}</tr></thead>
${bySection(rows).map(
  ({ name, rows: group }) =>
    html`<tbody><tr class="matrix-section"><th colspan="${columns.length + 1}" scope="colgroup">${name}</th></tr>${group.map((row) => matrixRow(row, columns))}</tbody>`,
)}
</table></div>
</main>`;
  return pageShell(`Pet Store Service Interface: ${count(columns.length, 'implementation')}`, body, false);
}

function isRowKind(kind: string): kind is RowKind {
  return kind in ROW_KINDS;
}

function columnHead({ name, report }: MatrixColumn): SafeHtml {
  const { passed, broken } = outcome(report);
  return html`<th scope="col"><span>${shownLine(name, 60)}</span><br><span class="chip v-${report.verdict}">${VERDICT_WORDS[report.verdict]}</span><br><span class="quiet">${passed.length} verified, ${broken.length} broken<br>${moment(report.run.startedAt).slice(0, 10)}</span></th>`;
}

function matrixRow(row: MatrixRow, columns: readonly MatrixColumn[]): SafeHtml {
  return html`<tr class="${row.alike ? 'alike' : 'differs'}"><th scope="row">${shownLine(row.title, 160)}${row.level === 'MAY' ? html` <span class="level">MAY</span>` : ''}<br><code class="quiet">${row.id}</code></th>${row.cells.map(
    (cell, index) => {
      if (cell === undefined) return html`<td><span class="quiet">no row</span></td>`;
      const kind = rowKind(cell);
      return html`<td class="m-${kind}" title="${shownLine(columns[index]?.name ?? '', 60)}: ${shownLine(cell.reason, 240)}"><span aria-hidden="true">${SIGNS[kind]}</span><span class="sr">${ROW_KINDS[kind]}</span></td>`;
    },
  )}</tr>`;
}

/** The same as Markdown: every requirement that not all implementations pass, and how many all do. */
export function renderMatrixMarkdown(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const shown = rows.filter(({ cells }) =>
    cells.some((cell) => cell?.verdict !== 'pass' && cell?.verdict !== 'not-applicable'),
  );
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [
    line(['Requirement', '§', ...columns.map(({ name }) => code(name, 60))]),
    `|${' --- |'.repeat(columns.length + 2)}`,
    line(['**Verdict**', '', ...columns.map(({ report }) => VERDICT_WORDS[report.verdict])]),
    line(['**Verified**', '', ...columns.map(({ report }) => String(outcome(report).passed.length))]),
    ...shown.map((row) =>
      line([
        `**${row.id}**<br>${prose(row.title)}`,
        row.section,
        ...row.cells.map((cell) => (cell === undefined ? '' : SIGNS[rowKind(cell)])),
      ]),
    ),
  ];
  const legend = Object.entries(SIGNS).map(
    ([kind, sign]) => `${sign} ${ROW_KINDS[isRowKind(kind) ? kind : 'pass'].toLowerCase()}`,
  );
  return `## ${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}\n\n${table.join('\n')}\n\n${legend.join(', ')}. ${count(rows.length - shown.length, 'requirement')} that all meet ${rows.length - shown.length === 1 ? 'is' : 'are'} left out.\n`;
}
