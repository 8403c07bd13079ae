import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS, isFormatName } from '../../reports/formats.ts';
import { LOAD_FORMATS, type LoadReport } from '../../reports/load/load-formats.ts';
import { writePrivately } from '../../reports/write-reports.ts';
import { LOAD_FILE } from '../../scenarios/runner/result/read-result.ts';
import { makePrivateFolder } from '../check/check-folder.ts';

/** The results of a load or a search for a capacity. Those of an earlier one must not be beside those of a later one. */
const RESULTS = [
  LOAD_FILE,
  'capacity.json',
  'k6-dashboard.html',
  ...Object.values(FORMATS).map(({ file }) => file),
];

/** Makes the folder for the results of a load, private and without the results of an earlier one. */
export function prepareLoadFolder(out: string): void {
  makePrivateFolder(out);
  accessSync(out, constants.W_OK);
  for (const name of RESULTS) rmSync(join(out, name), { force: true });
}

/**
 * Writes every format beside the figures.
 *
 * @returns where the page is
 * @throws UnwritableReport that names the file
 */
export async function writeLoadReports(folder: string, report: LoadReport): Promise<string> {
  for (const name of Object.keys(FORMATS).filter(isFormatName))
    if (FORMATS[name].written)
      await writePrivately(join(folder, FORMATS[name].file), LOAD_FORMATS[name](report));
  return join(folder, FORMATS.html.file);
}
