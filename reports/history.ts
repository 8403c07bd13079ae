import { readMatrix } from './matrix.ts';
import type { Report } from './report.ts';

/**
 * Earlier runs of the same target below a folder, the oldest first, the run itself left out.
 *
 * @returns the runs, or one line that says which file is no report
 */
export function earlierRuns(
  report: Report,
  folder: string,
):
  | { readonly ok: true; readonly history: readonly Report[] }
  | { readonly ok: false; readonly problem: string } {
  const read = readMatrix(folder);
  if (!read.ok) return read;
  const history = read.columns
    .map((column) => column.report)
    .filter(({ run }) => run.target === report.run.target && run.id !== report.run.id)
    .filter(({ run }) => Date.parse(run.startedAt) < Date.parse(report.run.startedAt))
    .sort((a, b) => Date.parse(a.run.startedAt) - Date.parse(b.run.startedAt));
  return { ok: true, history };
}
