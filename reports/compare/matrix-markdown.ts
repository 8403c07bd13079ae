import { verdictWords } from '../build-report.ts';
import { count } from '../facts.ts';
import { code, prose, table } from '../markdown-text.ts';
import { ROW_KINDS, rowKind } from '../row-kinds.ts';
import { type MatrixColumn, matrixRows } from './matrix.ts';

/** Implementations × requirements as Markdown: each requirement that not all pass, and the number of the others. */
export function renderMatrixMarkdown(columns: readonly MatrixColumn[]): string {
  const rows = matrixRows(columns);
  const shown = rows.filter(({ cells }) =>
    cells.some((cell) => cell?.verdict !== 'pass' && cell?.verdict !== 'not-applicable'),
  );
  const lines = [
    ['**Verdict**', '', ...columns.map(({ built }) => verdictWords(built.report))],
    ['**Verified**', '', ...columns.map(({ built }) => String(built.passed.length))],
    ...shown.map(({ id, title, section, cells }) => [
      `**${id}**<br>${prose(title)}`,
      section,
      ...cells.map((cell) => (cell === undefined ? '' : ROW_KINDS[rowKind(cell)].sign)),
    ]),
  ];
  const head = ['Requirement', '§', ...columns.map(({ name }) => code(name, 60))];
  const legend = Object.values(ROW_KINDS).map(({ sign, words }) => `${sign} ${words.toLowerCase()}`);
  const left = rows.length - shown.length;
  return `## ${count(columns.length, 'implementation')}, ${count(rows.length, 'requirement')}\n\n${table(head, lines, lines.length)}\n\n${legend.join(', ')}. ${count(left, 'requirement')} met by all ${left === 1 ? 'is' : 'are'} left out.\n`;
}
