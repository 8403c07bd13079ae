import { join } from 'node:path';
import { FORMATS } from '../../reports/formats.ts';
import { outcome, runProblems } from '../../reports/outcome.ts';
import type { Report } from '../../reports/report.ts';
import { renderTerminal, type Screen } from '../../reports/terminal.ts';
import { shownLine, shownLines } from '../../reports/visible-text.ts';
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

/** The result as TAP 14. tap's library is loaded only where it is asked for: it is most of the start-up time. */
export async function tapResult(report: Report): Promise<string> {
  const { conformanceTap } = await import('../../checks/conformance.tap.ts');
  return conformanceTap({
    requirements: report.requirements.map(({ expected, actual, curl, ...row }) => ({
      ...row,
      reason: shownLine(row.reason, 300),
      ...(expected === undefined ? {} : { expected: shownLines(expected, 2_000) }),
      ...(actual === undefined ? {} : { actual: shownLines(actual, 2_000) }),
      ...(curl === undefined ? {} : { curl: shownLines(curl, 4_000) }),
    })),
    drifts: outcome(report).drifted.map(({ id, pinned, observed, detail }) => ({
      id,
      pinned: pinned ?? '',
      observed: shownLine(observed ?? 'nothing'),
      detail: shownLine(detail),
    })),
    problems: runProblems(report).map((problem) => shownLine(problem, 300)),
  });
}

/** Where the journal of a run is that left nothing else. */
export const journalHint = (directory: string) =>
  `what was exchanged so far is in ${join(directory, 'journal.ndjson')}`;
