import { html, isSafeHtml, type SafeHtml } from '@remix-run/html-template';
import { markUnseen } from './visible-html.ts';

/** A cell of a table. `wrong` is highlighted. Texts are safe to escape and show. */
export type Cell = string | { readonly wrong: string };

/** Rows and columns, for every format that has tables. */
export interface Table<Content = Cell> {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Content[])[];
}

/** A table that scrolls on its own, with its first column fixed and without empty columns. */
export function tableHtml({ title, head, rows }: Table<Cell | SafeHtml>): SafeHtml {
  const used = head.flatMap((name, index) => (rows.every((row) => row[index] === '') ? [] : { name, index }));
  const cells = (row: (typeof rows)[number]) =>
    used.map(({ index }) => {
      const cell = cellHtml(row[index] ?? '');
      return index === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`;
    });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table class="figures"><thead><tr>${used.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}

function cellHtml(cell: Cell | SafeHtml): SafeHtml {
  if (typeof cell === 'string') return markUnseen(cell);
  return isSafeHtml(cell) ? cell : html`<b class="over">${markUnseen(cell.wrong)}</b>`;
}
