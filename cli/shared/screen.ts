import { styleText } from 'node:util';
import { NO_SCREEN, type Screen } from '../../reports/terminal.ts';
import { textTable } from '../../spec/text-table.ts';

/** The screen for a summary. */
export function screenOf(stream: NodeJS.WriteStream): Screen {
  const colour = wantsColour(stream);
  if (!stream.isTTY) return { ...NO_SCREEN, colour };
  return { colour, columns: Math.max(40, stream.columns), rows: Math.max(10, stream.rows) };
}

/** How wide a list may be: in a pipe each row is one line. */
export const columnsOf = (stream: NodeJS.WriteStream): number =>
  stream.isTTY ? screenOf(stream).columns : Number.POSITIVE_INFINITY;

export const printTable = (rows: readonly (readonly string[])[]): void =>
  void process.stdout.write(`${textTable(rows, { columns: columnsOf(process.stdout) }).join('\n')}\n`);

/** Whether Node colours what is written there: by NO_COLOR, FORCE_COLOR and TERM, and what the stream is. */
export const wantsColour = (stream: NodeJS.WriteStream): boolean =>
  styleText('bold', 'x', { stream }) !== 'x';
