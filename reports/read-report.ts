import { ResultReader } from '../checks/run/stored-result.ts';
import { REPORT_FORMAT_VERSION, REPORT_SCHEMA, type Report } from './report.ts';

/** Name of the report in a folder of results. */
export const REPORT_FILE = 'report.json';

/** A valid report, or one line that says why there is none. */
export type ReadReport =
  | { readonly ok: true; readonly report: Report; readonly file: string }
  | { readonly ok: false; readonly problem: string };

const reader = new ResultReader<Report>({
  name: REPORT_FILE,
  what: 'a report of petstore-harness',
  schema: REPORT_SCHEMA,
  version: REPORT_FORMAT_VERSION,
});

/**
 * Reads the report of an earlier run.
 *
 * @param path a report.json, or a folder that holds one
 */
export function readReport(path: string): ReadReport {
  const read = reader.read(path);
  return read.ok ? { ok: true, report: read.value, file: read.file } : read;
}
