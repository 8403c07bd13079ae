import { html, type SafeHtml } from '@remix-run/html-template';
import { textTable } from '../../spec/text-table.ts';

/** A cell of a table. `wrong` is highlighted. Texts are safe to escape and show. */
export type Cell = string | { readonly wrong: string };

/** Rows and columns, for every format that has tables. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A table without the columns in which nothing is. */
function used({ title, head, rows }: Table): Table {
  const columns = head.flatMap((_, index) => (rows.every((row) => (row[index] ?? '') === '') ? [] : [index]));
  const pick = <Item>(all: readonly Item[]) => columns.flatMap((index) => all[index] ?? []);
  return { title, head: pick(head), rows: rows.map(pick) };
}

/** A table that scrolls on its own. */
export function tableHtml(table: Table): SafeHtml {
  const { title, head, rows } = used(table);
  const cells = (row: readonly Cell[]) =>
    row.map((cell, index) =>
      index === 0 ? html`<th scope="row">${cellHtml(cell)}</th>` : html`<td>${cellHtml(cell)}</td>`,
    );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}

const cellHtml = (cell: Cell) =>
  typeof cell === 'string' ? besideUnits(cell) : html`<b class="fail">${besideUnits(cell.wrong)}</b>`;

/** No line ends between a number and its unit. */
export const besideUnits = (text: string): string =>
  text.replace(/(\d) (?=(?:ms|s|min|h|MB|%)(?!\w))/g, '$1\u00a0');

/** A table as lines for a terminal, below its title. */
export function tableLines(table: Table, columns: number): string[] {
  const { title, head, rows } = used(table);
  const words = (cell: Cell) => (typeof cell === 'string' ? cell : cell.wrong);
  return ['', title, ...textTable([head, ...rows.map((row) => row.map(words))], { indent: '  ', columns })];
}
