import { open } from 'node:fs/promises';
import type { PinnableGap } from './answer-forms.ts';
import { type LoadedProfile, parseProfile } from './parse-profile.ts';

export type { PinnableGap } from './answer-forms.ts';
export { type LoadedProfile, parseProfile } from './parse-profile.ts';
export type { FileProblem } from './yaml-fields.ts';

const MAX_PROFILE_BYTES = 2 ** 20;

/**
 * Reads a profile file and validates it.
 *
 * @param path a file of at most 1 MiB in UTF-8
 */
export async function readProfile(path: string, gaps: readonly PinnableGap[]): Promise<LoadedProfile> {
  const failed = (message: string, remedy: string): LoadedProfile => ({
    ok: false,
    source: path,
    problems: [{ line: 1, column: 1, message, remedy }],
  });
  let bytes: Buffer;
  try {
    bytes = await readUpTo(path, MAX_PROFILE_BYTES + 1);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const [message, remedy] = FILE_PROBLEMS[code] ?? [
      `the profile cannot be read (${code})`,
      'check the file',
    ];
    return failed(message, remedy);
  }
  if (bytes.length > MAX_PROFILE_BYTES)
    return failed('the profile is larger than 1 MiB', 'is it the right file?');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return failed('the profile is not in UTF-8', 'save it in UTF-8');
  }
  return parseProfile(text, path, gaps);
}

const FILE_PROBLEMS: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  ENOENT: [
    'there is no such profile',
    'check the path; "petstore-harness serve --profile-out FILE" writes an example',
  ],
  ENOTDIR: ['there is no such profile', 'check the path: a part of it is a file'],
  EISDIR: ['the profile is a directory', 'name the file in it'],
  EACCES: ['the profile cannot be read: permission denied', 'make it readable for this user'],
  EPERM: ['the profile cannot be read: permission denied', 'make it readable for this user'],
  ELOOP: ['the profile is a link to itself', 'name the file itself'],
  ENAMETOOLONG: ['there is no such profile', 'check the path'],
  ERR_INVALID_ARG_VALUE: ['there is no such profile', 'check the path: it holds a NUL character'],
};

/** The first bytes of a file; a pipe or a device, whose size is not known beforehand, is read likewise. */
async function readUpTo(path: string, most: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const pieces: Buffer[] = [];
    for (let left = most; left > 0; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, 65_536)), 0, null, null);
      if (bytesRead === 0) break;
      pieces.push(buffer.subarray(0, bytesRead));
      left -= bytesRead;
    }
    return Buffer.concat(pieces);
  } finally {
    await file.close();
  }
}
