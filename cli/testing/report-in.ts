import { readReport } from '../../reports/read-report.ts';

/** The report in a folder of results. */
export function reportIn(folder: string) {
  const read = readReport(folder);
  if (!read.ok) throw new Error(read.problem);
  return read.report;
}
