import { join } from 'node:path';
import { FORMATS } from '../../reports/formats.ts';
import type { Report } from '../../reports/report.ts';
import { renderTerminal, type Screen } from '../../reports/terminal.ts';
import { wantsColour } from './live-view.ts';

/** The result for a person: one screen, and where the rest is. */
export function humanSummary(report: Report, directory: string): string {
  return `${renderTerminal(report, screen(1))}  results: ${directory} (${FORMATS.html.file} for a browser)\n`;
}

function screen(taken: number): Screen {
  const { stdout } = process;
  const colour = wantsColour(stdout);
  if (!stdout.isTTY) return { colour, columns: 120, rows: Number.POSITIVE_INFINITY };
  return { colour, columns: Math.max(40, stdout.columns), rows: Math.max(10, stdout.rows - taken) };
}

/** Where the journal of a run is that left nothing else. */
export const journalHint = (directory: string) =>
  `what was exchanged so far is in ${join(directory, 'journal.ndjson')}`;
