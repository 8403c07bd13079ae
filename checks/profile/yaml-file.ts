/** YAML files, validated. What is wrong is said with its place; no value that could be a key is repeated. */
import type { Static, TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { currentId, gaps, requirements } from '../../spec/contract.ts';
import { quoted } from '../wire/answer.ts';
import { suggestion } from './suggestion.ts';
import { UsageError } from './usage-error.ts';

/** In bytes: larger files are others than were meant, and may take yaml minutes. */
export const LARGEST_YAML = 2 ** 16;
/** More than these a person does not read. */
const MOST_PROBLEMS = 50;
/** So many lists within each other on one line take yaml longer than anybody waits. */
const TOO_DEEP = /^[ \t]*(?:[-?:][ \t]+){20}/m;

/** A YAML file as plain values, each with its place, and what is wrong with it. A renamed id is the one of today. */
export class YamlFile {
  readonly #problems: { readonly line: number; readonly column: number; readonly words: string }[] = [];
  readonly #source: string;
  /** Undefined where the text is no readable YAML, or empty. A field without a value is not there. */
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #contents: Node | null = null;

  /** @param source how messages name the text */
  constructor(text: string, source: string) {
    this.#source = source;
    const deep = TOO_DEEP.exec(text);
    if (deep !== null) {
      this.#reportAt(deep.index, 'is nested too deep', 'is it the right file?');
      return;
    }
    const document = parseDocument(text, {
      ...{ lineCounter: this.#lines, prettyErrors: false, merge: false, logLevel: 'error' },
    });
    for (const { pos, message } of document.errors)
      this.#reportAt(pos[0], `not YAML: ${message}`, 'correct the syntax here');
    visit(document, {
      // A few bytes can expand to a thousandfold.
      Alias: (_, { range }) => this.#reportAt(range?.[0], 'aliases (*name) are not allowed', 'write it out'),
      Scalar(_, scalar) {
        if (typeof scalar.value === 'string') scalar.value = currentId(scalar.value);
      },
    });
    if (this.#problems.length > 0) return;
    this.#contents = document.contents;
    const present = (_: unknown, value: unknown) => value ?? undefined;
    this.value = document.toJS({ reviver: present }) ?? undefined;
  }

  /**
   * A value, if it is of a schema and nothing else was reported.
   *
   * @param whole what messages call it
   * @throws UsageError with what is wrong
   */
  validated<Schema extends TSchema>(schema: Schema, value: unknown, whole: string): Static<Schema> {
    if (this.#problems.length === 0 && Value.Check(schema, value)) return value;
    // What is no YAML has no fields that could be wrong too.
    const errors = this.value === undefined && this.#problems.length > 0 ? [] : Value.Errors(schema, value);
    // A field that is missing is found wrong once more as a value.
    const byPath = new Map([...errors].reverse().map((one) => [one.path, one]));
    for (const error of byPath.values()) this.report(error.path, ...wordsOf(error, whole));
    const inOrder = this.#problems.sort((a, b) => a.line - b.line || a.column - b.column);
    throw new UsageError(
      ...inOrder
        .slice(0, MOST_PROBLEMS)
        .map(({ line, column, words }) => `${this.#source}:${line}:${column}: ${words}`),
    );
  }

  /** @param path a JSON pointer to what it is about @param said what is wrong, and the remedy */
  report(path: string, ...said: readonly string[]): void {
    this.#reportAt(this.#offsetOf(path), ...said);
  }

  /** The line of what is at a path, from 1 on. */
  lineOf(path: string): number {
    return this.#lines.linePos(this.#offsetOf(path) ?? 0).line;
  }

  /** Where the name of a field or an item of a list is; of one that is not there, what it should be in. */
  #offsetOf(path: string): number | undefined {
    let found: { name: unknown; value: unknown } = { name: this.#contents, value: this.#contents };
    for (const name of namesIn(path)) {
      const { value } = found;
      if (isSeq(value)) found = { name: value.items[Number(name)], value: value.items[Number(name)] };
      const pair = isMap(value)
        ? value.items.find(({ key }) => isScalar(key) && String(key.value) === name)
        : undefined;
      if (pair !== undefined) found = { name: pair.key, value: pair.value };
    }
    return isNode(found.name) ? found.name.range?.[0] : undefined;
  }

  #reportAt(offset: number | undefined, ...said: readonly string[]): void {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    const words = printable(said.join('; '));
    this.#problems.push({ line: Math.max(1, line), column: Math.max(1, col), words });
  }
}

/** The text without characters that a terminal would obey. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\uFFFD');

const namesIn = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;

function wordsOf(
  { type, path, schema, value, message }: ValueError,
  whole: string,
): [message: string, remedy: string] {
  const names = namesIn(path);
  const [what, outer] = [names, names.slice(0, -1)].map((some) => some.join('.') || whole);
  const name = names.at(-1) ?? '';
  // The texts that it may be, where they can be listed.
  const choices: readonly string[] | undefined = schema['enum'] ?? (schema['pattern'] && schema.examples);
  const { description = `see what ${whole} may hold in the README` } = schema;
  // It follows a semicolon.
  const meaning = description.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  if (type === ValueErrorType.ObjectRequiredProperty)
    return [`${outer} has no ${name}`, choices === undefined ? meaning : `one of ${choices.join(', ')}`];
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    if (SECRET_FIELD.test(name))
      return [
        `${outer} has a field ${quoted(name)}, and a profile holds no keys`,
        'put it into an environment variable and name that in env; if the file was shared, replace the key',
      ];
    const isRow = [...gaps, ...requirements].some(({ id }) => id === name);
    const remedy = isRow
      ? `see what is known of it: petstore-harness explain ${name}`
      : suggestion(name, Object.keys(schema['properties']));
    return [`${outer} has no field ${quoted(name)}`, remedy];
  }
  if (choices !== undefined && (typeof value === 'string' || type === ValueErrorType.Kind)) {
    const written = typeof value === 'string' ? quoted(value) : 'no text';
    return [`${what} is ${written}, which it may not be`, suggestion(String(value), choices)];
  }
  if (type === ValueErrorType.StringPattern) return [`${what} has another form than it must`, meaning];
  return [`${what}: ${message}`, type === ValueErrorType.String ? 'put it in quotes' : meaning];
}
