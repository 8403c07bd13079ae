import { join } from 'node:path';
import { LOAD_FORMATS, loadFile } from '../../reports/load-formats.ts';
import type { LoadOutcome } from '../../reports/load-outcome.ts';
import { WRITTEN, writePrivately } from '../../reports/write-reports.ts';

/** The names of the files in which a load, or a search for a capacity, can be read: those of a check. */
export const LOAD_REPORT_FILES = WRITTEN.map(loadFile);

/**
 * Writes every format beside the figures of a load run or of a search for a capacity, the page first.
 *
 * @returns where the page is
 * @throws UnwritableReport that names the file
 */
export async function writeLoadReports(folder: string, outcome: LoadOutcome, page: string): Promise<string> {
  for (const name of WRITTEN)
    await writePrivately(join(folder, loadFile(name)), name === 'html' ? page : LOAD_FORMATS[name](outcome));
  return join(folder, loadFile('html'));
}
