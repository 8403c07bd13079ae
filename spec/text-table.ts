import stringWidth from 'string-width';

/** Between words; a number stays with its unit. */
const BETWEEN = / (?!(?<=\d )(?:ms|s|min|MB|%)(?: |$))/;

/** A last column narrower than this goes below the others. */
const READABLE = 24;

/**
 * Rows as lines, each column as wide as its widest cell, or as there is room.
 *
 * `left` columns begin at the left; those after them, numbers, end at the right. `columns` is how wide the screen is: cells
 * that have no room break between words.
 */
export function textTable(
  rows: readonly (readonly string[])[],
  { left = Number.POSITIVE_INFINITY, indent = '', columns = Number.POSITIVE_INFINITY } = {},
): string[] {
  const room = columns - indent.length;
  const last = (rows[0]?.length ?? 0) - 1;
  const longest = Math.max(...rows.map((row) => stringWidth(row[last] ?? '')));
  const isBelow =
    longest > READABLE && last < left && last > 0 && (widthsIn(rows, room)[last] ?? 0) < READABLE;
  const widths = widthsIn(isBelow ? rows.map((row) => row.slice(0, last)) : rows, room);
  return rows.flatMap((row) => {
    const cells = widths.map((width, column) => wrap(row[column] ?? '', { columns: width }, ''));
    const height = Math.max(...cells.map(({ length }) => length));
    const lines = Array.from({ length: height }, (_, line) => {
      const parts = widths.map((width, column) => {
        const text = cells[column]?.[line] ?? '';
        const rest = ' '.repeat(Math.max(0, width - stringWidth(text)));
        return column < left ? `${text}${rest}` : `${rest}${text}`;
      });
      return `${indent}${parts.join('  ')}`.trimEnd();
    });
    return isBelow && row[last] ? [...lines, ...wrap(row[last], { columns }, `${indent}    `)] : lines;
  });
}

/** How wide each column is: the widest give way first, none to less than its longest word. */
function widthsIn(rows: readonly (readonly string[])[], columns: number): number[] {
  const widest = (widthOf: (cell: string) => number) =>
    (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const widths = widest((cell) => stringWidth(cell));
  const least = widest((cell) => Math.max(...cell.split(BETWEEN).map((word) => stringWidth(word))));
  for (;;) {
    const over = widths.reduce((sum, width) => sum + width + 2, -2) - columns;
    const free = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const most = Math.max(...free);
    if (over <= 0 || most === 0) return widths;
    widths[free.indexOf(most)] = most - 1;
  }
}

/** A text in lines of the screen's width, broken between words, the first line behind a sign. */
export function wrap(text: string, { columns }: { readonly columns: number }, sign: string): string[] {
  const width = stringWidth(sign);
  const lines: string[] = [];
  for (const word of text.split(BETWEEN)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && width + stringWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line, index) => `${index === 0 ? sign : ' '.repeat(width)}${line}`);
}
