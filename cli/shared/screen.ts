import { NO_SCREEN, type Screen } from '../../reports/terminal.ts';
import { textTable } from '../../spec/text-table.ts';

/**
 * The screen for a summary.
 *
 * @param taken how many lines something else needs
 */
export function screenOf(stream: NodeJS.WriteStream, taken = 0): Screen {
  const colour = wantsColour(stream);
  if (!stream.isTTY) return { ...NO_SCREEN, colour };
  return { colour, columns: Math.max(40, stream.columns), rows: Math.max(10, stream.rows - taken) };
}

/** How wide a list may be: in a pipe each row is one line. */
export const columnsOf = (stream: NodeJS.WriteStream): number =>
  stream.isTTY ? screenOf(stream).columns : Number.POSITIVE_INFINITY;

export const printTable = (rows: readonly (readonly string[])[]): void =>
  void process.stdout.write(`${textTable(rows, { columns: columnsOf(process.stdout) }).join('\n')}\n`);

/** Follows https://no-color.org, and FORCE_COLOR, with which CI services ask for colour. */
export function wantsColour(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  // Undefined for a pipe, although its type does not say so.
  return Boolean(stream.isTTY) && TERM !== 'dumb';
}
