import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeWhole } from '../checks/run/write-whole.ts';
import { FORMATS, type Format, type FormatName, NO_SCREEN } from './formats.ts';
import { REPORT_FILE } from './read-report.ts';
import type { Report } from './report.ts';

/** A file could not be written. The message is one line for a person; `cause` is what the system said. */
export class UnwritableReport extends Error {
  override readonly name = 'UnwritableReport';
}

/** The formats that are written with every result; the others are for a log. */
export const WRITTEN = [
  'html',
  'junit',
  'markdown',
  'sarif',
  'tap',
  'badge',
] as const satisfies readonly FormatName[];

/**
 * Writes report.json first, so that a renderer cannot lose what was measured, and then every format. Each file is written
 * whole or not at all. Only its owner can read it, as a target's answers may be confidential.
 *
 * @returns the paths written, report.json first
 * @throws UnwritableReport that names the file
 */
export async function writeReports(report: Report, dir: string): Promise<string[]> {
  const json = join(dir, REPORT_FILE);
  await writePrivately(json, `${JSON.stringify(report, null, 1)}\n`);
  const written = [json];
  for (const name of WRITTEN) {
    const format: Format = FORMATS[name];
    const path = join(dir, format.file);
    await writePrivately(path, format.render(report, { history: [], screen: NO_SCREEN }));
    written.push(path);
  }
  return written;
}

/**
 * Writes one file atomically, with mode 0600: a temporary one beside it, synced and renamed. A new folder has mode 0700.
 *
 * @throws UnwritableReport that names the file
 */
export async function writePrivately(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeWhole(path, text);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** What the system said about a file, in words for a person. */
export function unwritable(path: string, error: unknown): UnwritableReport {
  return new UnwritableReport(`${path}: ${writeProblem(error)}`, { cause: error });
}

function writeProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'could not be written, the disk is full';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be written (permission denied)';
  if (code === 'EROFS') return 'could not be written, the file system is read-only';
  if (code === 'ENOENT') return 'could not be written, its folder does not exist';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'could not be written, a part of its path is a file';
  if (code === 'EISDIR') return 'could not be written, a folder has its name';
  return `could not be written: ${error instanceof Error ? error.message : String(error)}`;
}
