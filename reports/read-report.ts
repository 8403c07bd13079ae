import { ResultReader } from '../checks/run/stored-result.ts';
import { REPORT_FORMAT_VERSION, type Report } from './report.ts';
import { isComplete, verdictOf } from './verdict.ts';

/** Name of the report in a folder of results. */
export const REPORT_FILE = 'report.json';

/** A valid report, or one line that says why there is none. */
export type ReadReport =
  | { readonly ok: true; readonly report: Report; readonly file: string }
  | { readonly ok: false; readonly problem: string };

const reader = new ResultReader<Report>(
  {
    name: REPORT_FILE,
    what: 'a report of petstore-harness',
    schema: 'reports/report.schema.json',
    versions: [REPORT_FORMAT_VERSION, 1],
  },
  (first) => ({ ...first, formatVersion: REPORT_FORMAT_VERSION, complete: false, problems: [] }),
);

/**
 * Reads the report of an earlier run.
 *
 * @param path a report.json, or a folder that holds one
 */
export function readReport(path: string): ReadReport {
  const read = reader.read(path);
  if (!read.ok) return read;
  const { value, version, file } = read;
  return { ok: true, report: version === REPORT_FORMAT_VERSION ? value : fromVersion1(value), file };
}

/**
 * Version 1 had no skipped rows: without the permission a row was inconclusive. The verdict follows today's rules. A run
 * that failed without a failed row had a stale baseline.
 */
function fromVersion1(report: Report): Report {
  const { gaps, run } = report;
  const requirements = report.requirements.map((row) =>
    row.verdict === 'inconclusive' && row.reason.startsWith('needs the permission')
      ? { ...row, verdict: 'skipped' as const }
      : row,
  );
  const judged = verdictOf(requirements, gaps, []);
  const unexplained = report.verdict === 'not-conformant' && judged !== 'not-conformant';
  return {
    ...report,
    requirements,
    verdict: unexplained || run.interrupted !== undefined ? report.verdict : judged,
    complete: isComplete(requirements) && run.only === undefined,
    problems: unexplained ? ['The baseline of the run listed what passes'] : [],
  };
}
