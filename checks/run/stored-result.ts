import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FormatRegistry, type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { fileText } from '../profile/file-text.ts';
import { UsageError } from '../profile/usage-error.ts';

/** A kind of file with results, as a command writes it. */
export interface ResultKind {
  /** Its name in a folder of results. */
  readonly name: string;
  /** What it is, as in "is not WHAT". */
  readonly what: string;
  readonly schema: TSchema;
  /** The format version that can be read. */
  readonly version: number;
}

FormatRegistry.Set('date-time', (text) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)));

/** The most that a file with results may have; what a run writes has a tenth. */
const LARGEST = 32 * 2 ** 20;

/** What was written, if it is as the schema has it. @throws Error with the first place where it is not */
export function validated<S extends TSchema>(written: unknown, what: string, schema: S): Static<S> {
  if (Value.Check(schema, written)) return written;
  const first = Value.Errors(schema, written).First();
  const words: unknown = first?.schema['enum'];
  const wanted = Array.isArray(words) ? `expected one of ${words.join(', ')}` : first?.message.toLowerCase();
  throw new Error(`is not ${what}: ${first?.path || '/'} ${wanted}`);
}

/**
 * Reads a file that may come from anywhere.
 *
 * @param read what the JSON in it says
 * @throws UsageError with one line that says why it cannot be read
 */
export function readJson<T>(file: string, remedy: string, read: (written: unknown) => T): T {
  try {
    return read(JSON.parse(fileText(file, remedy, LARGEST)));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file}: ${error instanceof SyntaxError ? 'is not JSON; was it cut off?' : what}`);
  }
}

/**
 * Reads files of a kind, each validated against its schema: a file may come from anywhere.
 *
 * @returns a function that takes a file, or a folder that holds one, and throws UsageError with one line that says why
 *   it cannot be read
 */
export function resultReader<T>({ name, what, schema, version: known }: ResultKind): (path: string) => T {
  const valueIn = (written: unknown): T => {
    const isVersioned = typeof written === 'object' && written !== null && 'formatVersion' in written;
    const version = isVersioned ? written.formatVersion : undefined;
    if (typeof version !== 'number') throw new Error(`is not ${what} (no formatVersion)`);
    if (version !== known) {
      const remedy =
        version > known
          ? 'use a newer petstore-harness'
          : 'run it again, or, where the journal of a check is beside it, make it anew with check --rejudge';
      throw new Error(`has format version ${version}, this petstore-harness reads ${known}; ${remedy}`);
    }
    // A newer harness of the same format version may have added fields.
    return validated(Value.Clean(schema, written), what, Type.Unsafe<T>(schema));
  };
  const remedy = `give a ${name} or the folder that a command wrote with --out`;
  return (path) => readJson(existsSync(`${path}/`) ? join(path, name) : path, remedy, valueIn);
}
