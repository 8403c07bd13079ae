import { randomBytes } from 'node:crypto';
import { lstat, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makePrivateFolder } from '../checks/profile/file-text.ts';
import { type BuiltReport, buildReport } from './build-report.ts';
import { FORMATS, type Format, type Shown } from './formats.ts';
import { REPORT_FILE, type Report } from './report.ts';

/**
 * Writes report.json first, so that a renderer cannot lose what was measured, and then every format. Each file is written
 * whole or not at all. Only its owner can read it, as a target's answers may be confidential.
 *
 * @returns the report as it was built for the formats
 */
export async function writeReports(report: Report, dir: string): Promise<BuiltReport> {
  await writePrivately(join(dir, REPORT_FILE), `${JSON.stringify(report, null, 1)}\n`);
  const built = buildReport(report);
  await writeFormats(built, dir);
  return built;
}

/** Writes a check or a load in every format. */
export async function writeFormats(run: Shown, dir: string): Promise<void> {
  for (const { file, written, render } of Object.values<Format>(FORMATS))
    if (written) await writePrivately(join(dir, file), render(run));
}

/**
 * Writes one file atomically, with mode 0600: a temporary one beside it, synced and renamed. A new folder has mode 0700.
 *
 * By hand, because write-file-atomic takes a write that a full disk cut short for a complete one, and has the process
 * end where a file may grow no further.
 */
export async function writePrivately(path: string, text: string): Promise<void> {
  makePrivateFolder(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Writes a file that the user named: one at the end of a link there, a device or a FIFO as it is, and any other whole and
 * private.
 */
export async function writeNamed(path: string, text: string): Promise<void> {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
  const place = isLink ? await realpath(path) : path;
  const there = await stat(place).catch(() => undefined);
  const isOrdinary = there === undefined || there.isFile() || there.isDirectory();
  await (isOrdinary ? writePrivately(place, text) : writeFile(place, text));
}
