import { code, prose } from '../markdown-text.ts';
import { count, outcome, verdictWords } from '../outcome.ts';
import { ROW_KIND_NAMES, ROW_KINDS, rowKind } from '../row-kinds.ts';
import { type MatrixColumn, matrixRows } from './matrix.ts';

/** Implementations × requirements as Markdown: every requirement that not all of them pass, and how many all do. */
export function renderMatrixMarkdown(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const shown = rows.filter(({ cells }) =>
    cells.some((cell) => cell?.verdict !== 'pass' && cell?.verdict !== 'not-applicable'),
  );
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [
    line(['Requirement', '§', ...columns.map(({ name }) => code(name, 60))]),
    `|${' --- |'.repeat(columns.length + 2)}`,
    line(['**Verdict**', '', ...columns.map(({ report }) => verdictWords(report))]),
    line(['**Verified**', '', ...columns.map(({ report }) => String(outcome(report).passed.length))]),
    ...shown.map((row) =>
      line([
        `**${row.id}**<br>${prose(row.title)}`,
        row.section,
        ...row.cells.map((cell) => (cell === undefined ? '' : ROW_KINDS[rowKind(cell)].sign)),
      ]),
    ),
  ];
  const legend = ROW_KIND_NAMES.map(
    (kind) => `${ROW_KINDS[kind].sign} ${ROW_KINDS[kind].words.toLowerCase()}`,
  );
  return `## ${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}\n\n${table.join('\n')}\n\n${legend.join(', ')}. ${count(rows.length - shown.length, 'requirement')} that all meet ${rows.length - shown.length === 1 ? 'is' : 'are'} left out.\n`;
}
