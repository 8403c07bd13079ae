import { readFileSync, statSync } from 'node:fs';

/** Longest text that Node holds is twice as long. */
export const LARGEST_FILE = 256 * 2 ** 20;

/**
 * The text of a file that somebody named. Its size is looked at first; what has none, a pipe or a device, is refused.
 *
 * @throws Error with what is wrong in a few words
 */
export function fileText(path: string, mostBytes = LARGEST_FILE): string {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error('is not a regular file');
    if (facts.size > mostBytes)
      throw new Error(`is larger than ${mostBytes / 2 ** 20} MiB; is it the right file?`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw new Error('no such file', { cause: error });
    if (code === 'EACCES') throw new Error('may not be read (permission denied)', { cause: error });
    throw error;
  }
}
