import { join } from 'node:path';
import { FORMATS } from '../../reports/formats.ts';
import type { Report } from '../../reports/report.ts';
import { renderTerminal, type Screen } from '../../reports/terminal.ts';
import { wantsColour } from './live-view.ts';

/** The result for a person: one screen, and where the rest is. */
export function humanSummary(report: Report, directory: string, stream: NodeJS.WriteStream): string {
  return `${renderTerminal(report, screen(stream, 1))}  results: ${directory} (${FORMATS.html.file} for a browser)\n`;
}

function screen(stream: NodeJS.WriteStream, taken: number): Screen {
  const colour = wantsColour(stream);
  if (!stream.isTTY) return { colour, columns: 120, rows: Number.POSITIVE_INFINITY };
  return { colour, columns: Math.max(40, stream.columns), rows: Math.max(10, stream.rows - taken) };
}

/** Where the journal of a run is that left nothing else. */
export const journalHint = (directory: string) =>
  `what was exchanged so far is in ${join(directory, 'journal.ndjson')}`;
