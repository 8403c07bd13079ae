import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { UsageError } from './usage-error.ts';

/** Of what somebody writes: certificates of all authorities, variables. */
const LARGEST_FILE = 2 ** 20;

const refusal = (path: string, why: string, remedy: string) => new UsageError(`${path}: ${why}; ${remedy}`);

/**
 * The bytes of a file that somebody named. Its size is looked at first; what has none, a pipe or a device, is refused.
 *
 * @throws UsageError with what is wrong in a few words
 */
export function fileBytes(path: string, remedy: string, mostBytes: number): Buffer {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw refusal(path, 'is not a regular file', remedy);
    if (facts.size > mostBytes)
      throw refusal(path, `is larger than ${mostBytes.toLocaleString('en')} bytes`, remedy);
    return readFileSync(path);
  } catch (error) {
    throw isWrongName(error) ? refusal(path, systemProblem(error) ?? '', remedy) : error;
  }
}

/** The text of such a file. @throws UsageError with what is wrong in a few words */
export function fileText(path: string, remedy = 'is it the right file?', mostBytes = LARGEST_FILE): string {
  const bytes = fileBytes(path, remedy, mostBytes);
  if (!isUtf8(bytes)) throw refusal(path, 'is not in UTF-8', remedy);
  return new TextDecoder().decode(bytes);
}

/** Whether the system says of a path or an address that it was named wrongly. */
export const isWrongName = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^E(NOENT|NOTDIR|ISDIR|EXIST|ACCES|PERM|ROFS|LOOP|NOTFOUND|ADDRNOTAVAIL)$/.test(String(error.code));

/** What the system says of its error, such as `no space left on device`; undefined for an error of another kind. */
export function systemProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && 'errno' in error)) return undefined;
  return getSystemErrorMap().get(Number(error.errno))?.[1];
}

/**
 * Makes a folder, and those above it, for this user alone. Node's own recursion does not end in a file system such as
 * /proc, which denies that a new folder is there.
 */
export function makePrivateFolder(folder: string): void {
  const path = resolve(folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path && !existsSync(dirname(path))) makePrivateFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
