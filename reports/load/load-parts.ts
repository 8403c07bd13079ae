import { html, type SafeHtml } from '@remix-run/html-template';

/** `410 requests/s`. */
export function rate(perSecond: number): string {
  return `${number(perSecond)} requests/s`;
}

/** At most four significant digits. */
export function number(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString('en');
}

/** What a reader must know of a run, beside its verdict. */
export function facts(rows: readonly (readonly [label: string, text: string])[]): SafeHtml {
  return html`<dl class="run">${rows.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** A table that scrolls by itself; columns in which nothing stands are left out, and the first stays in view. */
export function tableOf(
  label: string,
  head: readonly string[],
  rows: readonly (readonly (SafeHtml | string)[])[],
): SafeHtml {
  const used = head.flatMap((name, index) =>
    rows.every((cells) => String(cells[index] ?? '') === '') ? [] : [{ name, index }],
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="figures"><thead><tr>${used.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${used.map(({ index }) => (index === 0 ? html`<th scope="row">${cells[0] ?? ''}</th>` : html`<td>${cells[index] ?? ''}</td>`))}</tr>`)}</tbody></table></div>`;
}
