/**
 * Rows as lines, each column as wide as its widest cell.
 *
 * @param left columns that begin at the left; those after them, numbers, end at the right
 */
export function textTable(
  rows: readonly (readonly string[])[],
  left = Number.POSITIVE_INFINITY,
  indent = '',
): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column < left ? cell.padEnd(widthOf(column)) : cell.padStart(widthOf(column)),
    );
    return `${indent}${cells.join('  ')}`.trimEnd();
  });
}
