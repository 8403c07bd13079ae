import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type LoadedProfile, parseProfile } from './parse-profile.ts';

const MAX_PROFILE_BYTES = 2 ** 20;

/**
 * Reads a profile file and validates it.
 *
 * @param path a file of at most 1 MiB in UTF-8
 */
export async function readProfile(path: string): Promise<LoadedProfile> {
  const failed = (message: string, remedy: string): LoadedProfile => ({
    ok: false,
    source: path,
    problems: [{ line: 1, column: 1, message, remedy }],
  });
  let bytes: Buffer;
  try {
    // Without a beginning of its own a stream reads on where it is: a pipe or a device has no other place.
    bytes = await buffer(createReadStream(path, { end: MAX_PROFILE_BYTES }));
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
  if (!isUtf8(bytes)) return failed('the profile is not in UTF-8', 'save it in UTF-8');
  return parseProfile(new TextDecoder().decode(bytes), path);
}

const DENIED = ['the profile cannot be read: permission denied', 'make it readable for this user'] as const;

const FILE_PROBLEMS: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  ENOENT: [
    'there is no such profile',
    'check the path; "petstore-harness serve --profile-out FILE" writes an example',
  ],
  ENOTDIR: ['there is no such profile', 'check the path: a part of it is a file'],
  EISDIR: ['the profile is a directory', 'name the file in it'],
  EACCES: DENIED,
  EPERM: DENIED,
  ELOOP: ['the profile is a link to itself', 'name the file itself'],
  ENAMETOOLONG: ['there is no such profile', 'check the path'],
  ERR_INVALID_ARG_VALUE: ['there is no such profile', 'check the path: it holds a NUL character'],
};
