import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';

/** The longest text that Node holds is twice as long. */
const LARGEST_FILE = 256 * 2 ** 20;

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
    throw new Error(systemProblem(error) ?? String(Object(error).message), { cause: error });
  }
  if (!isUtf8(bytes)) throw new Error('is not in UTF-8');
  return new TextDecoder().decode(bytes);
}

/** What the system says of its error, such as `no space left on device`; undefined for an error of another kind. */
export function systemProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && 'errno' in error)) return undefined;
  return getSystemErrorMap().get(Number(error.errno))?.[1];
}
