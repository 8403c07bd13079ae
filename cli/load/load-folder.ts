import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makePrivateFolder } from '../../checks/profile/file-text.ts';
import { FORMATS } from '../../reports/formats.ts';
import { capacityReport, type LoadReport, loadReport } from '../../reports/load/load-report.ts';
import { REPORT_FILE } from '../../reports/report.ts';
import { writeFormats, writePrivately } from '../../reports/write-reports.ts';
import { CAPACITY_FILE, type CapacityResult, readCapacity } from '../../scenarios/runner/capacity/result.ts';
import { LOAD_FILE, type LoadResult, readLoadResult } from '../../scenarios/runner/result/load-result.ts';
import { takeFolder } from '../check/check-folder.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { screenOf } from '../shared/screen.ts';

/** The results of a load or a search for a capacity. Those of an earlier one must not be beside those of a later one. */
const RESULTS = [
  LOAD_FILE,
  CAPACITY_FILE,
  'k6-dashboard.html',
  ...Object.values(FORMATS).map(({ file }) => file),
];

/** Makes the folder for the results of a load: private, for this process alone, and without the results of an earlier one. */
export function prepareLoadFolder(out: string): void {
  makePrivateFolder(out);
  takeFolder(out);
  for (const name of RESULTS) rmSync(join(out, name), { force: true });
}

/** Shows what a load came to, and then writes it: as data and in every format. */
export async function tellLoad(folder: string, result: LoadResult | CapacityResult): Promise<LoadReport> {
  const isLoad = 'series' in result;
  const report = isLoad ? loadReport(result) : capacityReport(result);
  process.stdout.write(FORMATS.terminal.render(report, screenOf(process.stdout)));
  await writePrivately(join(folder, isLoad ? LOAD_FILE : CAPACITY_FILE), `${JSON.stringify(result)}\n`);
  await writeFormats(report, folder);
  process.stderr.write(`report: ${join(folder, FORMATS.html.file)}\n`);
  return report;
}

/** The exit code for a load. If k6 did not run as it should, it is k6's own. */
export function loadExitCode({ verdict, run }: LoadResult): number {
  if (verdict === 'held') return EXIT.conformant;
  if (verdict === 'broken') return EXIT.thresholdBroken;
  if (verdict === 'interrupted') return EXIT.interrupted;
  if (verdict === 'generator-limited') return EXIT.inconclusive;
  return run.k6ExitCode === 0 || run.k6ExitCode === null ? EXIT.inconclusive : run.k6ExitCode;
}

/** Whether the path is, or holds, such a file, and not the report of a check. */
function holds(path: string, file: string): boolean {
  return basename(path) === file || (existsSync(join(path, file)) && !existsSync(join(path, REPORT_FILE)));
}

/** Whether the path is or holds the result of a search for a capacity. */
export const isCapacity = (path: string): boolean => holds(path, CAPACITY_FILE);

/**
 * The load, or the search for a capacity, that the path is or holds; undefined where it has another result.
 *
 * @throws UsageError
 */
export function storedLoad(path: string): LoadReport | undefined {
  if (isCapacity(path)) return capacityReport(readCapacity(path));
  return holds(path, LOAD_FILE) ? loadReport(readLoadResult(path)) : undefined;
}
