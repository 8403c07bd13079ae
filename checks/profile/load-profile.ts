import { fileText } from './file-text.ts';
import { type LoadedProfile, parseProfile } from './parse-profile.ts';
import { LARGEST_YAML } from './yaml-file.ts';

/** Reads a profile file and validates it. */
export function readProfile(path: string): LoadedProfile {
  try {
    return parseProfile(fileText(path, LARGEST_YAML), path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = 'name a profile; "petstore-harness init" writes one';
    return { ok: false, source: path, problems: [{ line: 1, column: 1, message, remedy }] };
  }
}
