import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS } from '../../reports/formats.ts';
import { renderCapacitySvg } from '../../reports/load/capacity-svg.ts';
import { LOAD_FORMATS } from '../../reports/load/load-formats.ts';
import { renderCapacityHtml, renderLoadHtml } from '../../reports/load/load-html.ts';
import { capacityOutcome, type LoadOutcome, loadOutcome } from '../../reports/load/load-outcome.ts';
import { WRITTEN, writePrivately } from '../../reports/write-reports.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { makePrivateFolder, unwritable } from '../check/check-folder.ts';

/** The results of a load or a search for a capacity. Those of an earlier one must not be beside those of a later one. */
const RESULTS = [
  'load-report.json',
  'capacity.json',
  'capacity.svg',
  ...WRITTEN.map((name) => FORMATS[name].file),
];

/**
 * Makes the folder for the results of a load, private and without the results of an earlier one.
 *
 * @throws UsageError if it cannot be made or written to
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

/**
 * Writes every format beside the figures of a load run.
 *
 * @returns where the page is
 * @throws UnwritableReport that names the file
 */
export const writeLoadReports = (folder: string, result: LoadResult): Promise<string> =>
  writeFormats(folder, loadOutcome(result), renderLoadHtml(result));

/** Writes every format beside the steps of a search for a capacity, and its picture. */
export async function writeCapacityReports(folder: string, result: CapacityResult): Promise<string> {
  await writePrivately(join(folder, 'capacity.svg'), renderCapacitySvg(result));
  return writeFormats(folder, capacityOutcome(result), renderCapacityHtml(result));
}

async function writeFormats(folder: string, outcome: LoadOutcome, page: string): Promise<string> {
  for (const name of WRITTEN)
    await writePrivately(
      join(folder, FORMATS[name].file),
      name === 'html' ? page : LOAD_FORMATS[name](outcome),
    );
  return join(folder, FORMATS.html.file);
}
