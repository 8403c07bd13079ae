import { join } from 'node:path';
import { writePrivately } from '../reports/write-reports.ts';

/**
 * Writes the page on a load run or on a search for a capacity beside its figures.
 *
 * @returns where it is
 * @throws UnwritableReport that names the file
 */
export async function writeLoadPage(folder: string, page: string): Promise<string> {
  const path = join(folder, 'report.html');
  await writePrivately(path, page);
  return path;
}
