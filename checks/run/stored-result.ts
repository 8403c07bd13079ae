import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { ownSchemas } from '../../spec/own-schemas.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { fileText } from '../profile/file-text.ts';

/** A kind of file with results, as a command writes it. */
export interface ResultKind {
  /** Its name in a folder of results. */
  readonly name: string;
  /** What it is, as in "is not WHAT". */
  readonly what: string;
  /** Where its JSON Schema is in the package. */
  readonly schema: string;
  /** The format versions that can be read, the current one first. */
  readonly versions: readonly number[];
  readonly mostBytes?: number;
}

/** What a text holds, or one line that says why it holds nothing. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly version: number }
  | { readonly ok: false; readonly problem: string };

const ajv = new Ajv2020({
  ...ownSchemas,
  strict: true,
  allowUnionTypes: true,
  formats: { 'date-time': (text: string) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)) },
});

/** A schema that passes over fields which a newer harness of the same format version added. */
function validatorOf<T>(schema: string): ValidateFunction<T> {
  const text = readFileSync(new URL(schema, packageRoot), 'utf8');
  return ajv.compile<T>(
    JSON.parse(text, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  );
}

/** Reads files of a kind, each validated against its schema: a file may come from anywhere. */
export class ResultReader<T> {
  readonly #kind: ResultKind;
  readonly #asCurrent: (older: object) => object;
  #validator: ValidateFunction<T> | undefined;

  /** @param asCurrent brings what an older version holds into the form of the current one */
  constructor(kind: ResultKind, asCurrent: (older: object) => object = (older) => older) {
    this.#kind = kind;
    this.#asCurrent = asCurrent;
  }

  /** @param path a file, or a folder that holds one */
  read(path: string): Parsed<T> & { readonly file: string } {
    const { name, mostBytes } = this.#kind;
    let file = path;
    let text: string;
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) file = join(path, name);
      text = fileText(file, mostBytes);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const hint = `give a ${name} or the folder that a command wrote with --out`;
      return { ok: false, file, problem: `${file}: ${why}; ${hint}` };
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
      value = JSON.parse(text);
    } catch {
      return { ok: false, problem: 'is not JSON; was it cut off?' };
    }
    const written = typeof value === 'object' && value !== null ? value : {};
    const version = 'formatVersion' in written ? written.formatVersion : undefined;
    if (typeof version !== 'number') return { ok: false, problem: `is not ${what} (no formatVersion)` };
    if (!versions.includes(version)) {
      const known = versions.toReversed().join(' and ');
      const problem = `has format version ${version}, this petstore-harness reads ${known}; use a newer petstore-harness`;
      return { ok: false, problem };
    }
    const result: unknown = version === current ? written : this.#asCurrent(written);
    this.#validator ??= validatorOf<T>(schema);
    if (this.#validator(result)) return { ok: true, value: result, version };
    const [first] = this.#validator.errors ?? [];
    const objection = `${first?.instancePath || '/'} ${first?.message ?? 'does not match the schema'}`;
    return { ok: false, problem: `is not ${what}: ${objection}` };
  }
}
