import { resultReader } from '../checks/run/stored-result.ts';
import { REPORT_FORMAT_VERSION, REPORT_SCHEMA, type Report } from './report.ts';

/** Name of the report in a folder of results. */
export const REPORT_FILE = 'report.json';

/**
 * Reads the report of an earlier run: a report.json, or a folder that holds one.
 *
 * @throws UsageError with one line that says why it cannot be read
 */
export const readReport = resultReader<Report>({
  name: REPORT_FILE,
  what: 'a report of petstore-harness',
  schema: REPORT_SCHEMA,
  version: REPORT_FORMAT_VERSION,
});
