import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { capacityReport, type LoadReport, loadReport } from '../../reports/load/load-report.ts';
import { REPORT_FILE } from '../../reports/read-report.ts';
import { CAPACITY_FILE, readCapacity } from '../../scenarios/runner/capacity/capacity.ts';
import { LOAD_FILE, readLoadResult } from '../../scenarios/runner/result/load-result.ts';

/** Whether the path is, or holds, such a file, and not the report of a check. */
function holds(path: string, file: string): boolean {
  return basename(path) === file || (existsSync(join(path, file)) && !existsSync(join(path, REPORT_FILE)));
}

/** Whether the path is or holds the result of a search for a capacity. */
export const isCapacity = (path: string): boolean => holds(path, CAPACITY_FILE);

/** Whether the path is or holds the result of a load or of a search, not the report of a check. */
export const isLoadResult = (path: string): boolean => holds(path, LOAD_FILE) || isCapacity(path);

/**
 * A load result, or a search for a capacity.
 *
 * @throws UsageError
 */
export const storedLoad = (path: string): LoadReport =>
  isCapacity(path) ? capacityReport(readCapacity(path)) : loadReport(readLoadResult(path));
