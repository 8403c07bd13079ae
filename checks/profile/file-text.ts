import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';

/** The longest text that Node holds is twice as long. */
const LARGEST_FILE = 256 * 2 ** 20;

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file: a part of the path is a file',
  EACCES: 'may not be read (permission denied)',
  ELOOP: 'is a link to itself',
};

/**
 * The text of a file that somebody named. Its size is looked at first; what has none, a pipe or a device, is refused.
 *
 * @throws Error with what is wrong in a few words
 */
export function fileText(path: string, mostBytes = LARGEST_FILE): string {
  let bytes: Buffer;
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error('is not a regular file');
    if (facts.size > mostBytes)
      throw new Error(`is larger than ${mostBytes.toLocaleString('en')} bytes; is it the right file?`);
    bytes = readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    throw code === undefined
      ? error
      : new Error(PROBLEMS[code] ?? `cannot be read (${code})`, { cause: error });
  }
  if (!isUtf8(bytes)) throw new Error('is not in UTF-8');
  return new TextDecoder().decode(bytes);
}
