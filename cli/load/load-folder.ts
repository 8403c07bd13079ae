import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, unwritable } from '../check/check-folder.ts';
import { LOAD_REPORT_FILES } from './load-reports.ts';

/** What a load or a search for a capacity is judged by: an earlier one's must not stand beside a later one's. */
const RESULTS = ['load-report.json', 'capacity.json', 'capacity.svg', ...LOAD_REPORT_FILES];

/**
 * Makes the folder for the results of a load, private, without the results of an earlier one.
 *
 * @throws UsageError where it cannot be made or written to
 */
export function prepareLoadFolder(out: string): void {
  try {
    makePrivateFolder(out);
    accessSync(out, constants.W_OK);
    for (const name of RESULTS) rmSync(join(out, name), { force: true });
  } catch (error) {
    throw unwritable(out, error);
  }
}
