import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FormatRegistry } from '@sinclair/typebox';
import { compiled } from '../../spec/json-schema.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { fileText } from '../profile/file-text.ts';

/** A kind of file with results, as a command writes it. */
export interface ResultKind {
  /** Its name in a folder of results. */
  readonly name: string;
  /** What it is, as in "is not WHAT". */
  readonly what: string;
  /** Its JSON Schema, or where that is in the package. */
  readonly schema: string | object;
  /** The format versions that can be read, the current one first. */
  readonly versions: readonly number[];
  readonly mostBytes?: number;
}

/** What a text holds, or one line that says why it holds nothing. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly version: number }
  | { readonly ok: false; readonly problem: string };

FormatRegistry.Set('date-time', (text) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)));

/** The most that a file with results may have; what a run writes has a tenth. */
const LARGEST = 32 * 2 ** 20;
/** Deeper than anything that is written, and more values: each takes fifty bytes of memory and more. */
const [DEEPEST, MOST_VALUES] = [100, 1_000_000];

/** The JSON in a text that may come from anywhere. @throws Error with what is wrong, and the line where it is known */
export function boundedJson(text: string): unknown {
  const refuse = (at: number, why: string) => new Error(`line ${lineAt(text, at)}: ${why}`);
  const tooMuch = excessIn(text);
  if (tooMuch !== undefined) throw refuse(tooMuch, 'is nested too deep, or has too many values');
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = 'is not JSON; was it cut off?';
    // Not every message of V8's says where.
    const [, at] = /position (\d+)/.exec(String(error)) ?? [];
    throw at === undefined ? new Error(why) : refuse(Number(at), why);
  }
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
  return line;
}

/** Where a text nests deeper, or has more values, than JSON is read; undefined where it does nowhere. */
function excessIn(text: string): number | undefined {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      // What stands in a string opens and closes nothing.
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    } else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    else if (character === ',') values += 1;
    if (depth > DEEPEST || values > MOST_VALUES) return at;
  }
  return undefined;
}

/** A schema that passes over fields which a newer harness of the same format version added. */
function validatorOf<T>(schema: string | object) {
  if (typeof schema === 'object') return compiled<T>(schema);
  const text = readFileSync(new URL(schema, packageRoot), 'utf8');
  return compiled<T>(
    JSON.parse(text, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  );
}

/** Reads files of a kind, each validated against its schema: a file may come from anywhere. */
export class ResultReader<T> {
  readonly #kind: ResultKind;
  #validator: ReturnType<typeof validatorOf<T>> | undefined;

  constructor(kind: ResultKind) {
    this.#kind = kind;
  }

  /** @param path a file, or a folder that holds one */
  read(path: string): Parsed<T> & { readonly file: string } {
    const { name, mostBytes } = this.#kind;
    let file = path;
    let text: string;
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) file = join(path, name);
      const remedy = `give a ${name} or the folder that a command wrote with --out`;
      text = fileText(file, remedy, mostBytes ?? LARGEST);
    } catch (error) {
      return { ok: false, file, problem: error instanceof Error ? error.message : String(error) };
    }
    const parsed = this.parse(text);
    return parsed.ok ? { ...parsed, file } : { ok: false, file, problem: `${file}: ${parsed.problem}` };
  }

  /** Reads the text of such a file. */
  parse(text: string): Parsed<T> {
    const { what, schema, versions } = this.#kind;
    const [current = 1] = versions;
    let value: unknown;
    try {
      value = boundedJson(text);
    } catch (error) {
      return { ok: false, problem: error instanceof Error ? error.message : String(error) };
    }
    const written = typeof value === 'object' && value !== null ? value : {};
    const version = 'formatVersion' in written ? written.formatVersion : undefined;
    if (typeof version !== 'number') return { ok: false, problem: `is not ${what} (no formatVersion)` };
    if (!versions.includes(version)) {
      const known = versions.toReversed().join(' and ');
      const remedy =
        version > current
          ? 'use a newer petstore-harness'
          : 'run it again, or, where the journal of a check is beside it, make it anew with check --rejudge';
      const problem = `has format version ${version}, this petstore-harness reads ${known}; ${remedy}`;
      return { ok: false, problem };
    }
    const result: unknown = written;
    this.#validator ??= validatorOf<T>(schema);
    if (this.#validator.Check(result)) return { ok: true, value: result, version };
    const first = this.#validator.Errors(result).First();
    return { ok: false, problem: `is not ${what}: ${first?.path || '/'} ${first?.message.toLowerCase()}` };
  }
}
