import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FormatRegistry, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { fileText } from '../profile/file-text.ts';

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

/** What a file holds, or one line that says why it holds nothing. */
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly file: string }
  | { readonly ok: false; readonly problem: string };

FormatRegistry.Set('date-time', (text) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)));

/** The most that a file with results may have; what a run writes has a tenth. */
const LARGEST = 32 * 2 ** 20;

/** The JSON in a text that may be cut off. @throws Error with the line where it is known */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not every message of V8's says where.
    const [, at] = /position (\d+)/.exec(String(error)) ?? [];
    const line = at === undefined ? '' : `line ${text.slice(0, Number(at)).split('\n').length}: `;
    throw new Error(`${line}is not JSON; was it cut off?`, { cause: error });
  }
}

/** A part of a schema, passing over fields which a newer harness of the same format version added. */
function lenient(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(lenient);
  const fields = Reflect.ownKeys(part).map((name) => [name, Reflect.get(part, name)] as const);
  return Object.fromEntries(
    fields
      .filter(([name, value]) => name !== 'additionalProperties' || value !== false)
      .map(([name, value]) => [name, lenient(value)]),
  );
}

/** Reads files of a kind, each validated against its schema: a file may come from anywhere. */
export class ResultReader<T> {
  readonly #kind: ResultKind;
  #validator: TypeCheck<TUnsafe<T>> | undefined;

  constructor(kind: ResultKind) {
    this.#kind = kind;
  }

  /** @param path a file, or a folder that holds one */
  read(path: string): Read<T> {
    const { name } = this.#kind;
    let file = path;
    let text: string;
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) file = join(path, name);
      text = fileText(file, `give a ${name} or the folder that a command wrote with --out`, LARGEST);
    } catch (error) {
      return { ok: false, problem: error instanceof Error ? error.message : String(error) };
    }
    try {
      return { ok: true, value: this.#valueIn(jsonIn(text)), file };
    } catch (error) {
      if (error instanceof Error) return { ok: false, problem: `${file}: ${error.message}` };
      throw error;
    }
  }

  /** @throws Error with what is wrong with it */
  #valueIn(written: unknown): T {
    const { what, schema, version: known } = this.#kind;
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
    this.#validator ??= TypeCompiler.Compile(Type.Unsafe<T>(Object(lenient(schema))));
    if (this.#validator.Check(written)) return written;
    const first = this.#validator.Errors(written).First();
    throw new Error(`is not ${what}: ${first?.path || '/'} ${first?.message.toLowerCase()}`);
  }
}
