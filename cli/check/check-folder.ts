import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { JOURNAL_FILE } from '../../checks/check-target.ts';
import { makePrivateFolder } from '../../checks/profile/file-text.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { shellWord } from '../../checks/wire/curl.ts';
import { REPORT_FILE, readReport } from '../../reports/report.ts';

/** The profile of a run in its folder, with which the run can be resumed or rejudged. */
export const PROFILE_FILE = 'profile.yaml';

/** Holds the number of the process that writes into the folder. */
const LOCK_FILE = 'in-use';

const RESULTS = 'petstore-results';

/**
 * The folder for a new run, made private: the one that was named, else a new one under petstore-results/, named by the
 * time (UTC).
 *
 * @throws UsageError if it holds an unfinished run, whose journal must not be lost
 */
export function resultsFolder(out: string | undefined): string {
  if (out === undefined) return newFolder();
  if (out === '') throw new UsageError('--out is empty; leave it out to use the default folder');
  if (existsSync(join(out, JOURNAL_FILE)) && !isFinished(out)) {
    throw new UsageError(
      `${out} holds a run without a finished report that can be read: continue it with --resume ${shellWord(out)}, if its target is still there, or choose another folder`,
    );
  }
  makePrivateFolder(out);
  // Otherwise the report of an earlier run could be beside the journal of a later one that crashed.
  rmSync(join(out, REPORT_FILE), { force: true });
  return out;
}

/** Whether there is a report, of a run that came to its end. */
function isFinished(folder: string): boolean {
  try {
    return readReport(folder).run.interrupted === undefined;
  } catch {
    return false;
  }
}

function newFolder(): string {
  makePrivateFolder(RESULTS);
  const time = new Date().toISOString().replace(/:|\.\d+/g, '');
  // Several may begin in one second.
  return mkdtempSync(join(RESULTS, `${time}-`));
}

/**
 * Takes a folder for this process alone, until it ends.
 *
 * @throws UsageError if a process that runs has it, or if writing there would go through a link or into a device
 */
export function takeFolder(folder: string): void {
  for (const name of [JOURNAL_FILE, PROFILE_FILE, LOCK_FILE]) {
    const file = join(folder, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw new UsageError(`${file} is not a regular file; remove it, or choose another folder`);
  }
  const file = join(folder, LOCK_FILE);
  const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  if (holder !== undefined && isRunning(holder)) {
    throw new UsageError(
      `${folder} is in use by process ${holder}; wait for its end, or remove ${file} if that is another program`,
    );
  }
  rmSync(file, { force: true });
  writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
  process.once('exit', () => rmSync(file, { force: true }));
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Points petstore-results/latest to a run's folder, if links can be made. */
export function pointLatest(directory: string): void {
  if (dirname(directory) !== RESULTS) return;
  const link = join(RESULTS, 'latest');
  try {
    rmSync(link, { force: true });
    symlinkSync(basename(directory), link, 'dir');
  } catch {
    // The link is only a convenience.
  }
}
