import { type ContractSchema, schemas } from '../../spec/contract.ts';
import type { SchemaProblem } from './answer.ts';
import { int64Of, integerOf, isJsonObject, JsonNumber, type JsonValue } from './lossless-json.ts';

/** What is wrong with a value at a path (a JSON Pointer), and where that is seen: a missing field in what lacks it. */
interface Problem {
  readonly path: string;
  readonly at: string;
  readonly words: string;
}

/** What a reader needs to see of a value. */
const SHOWN_LENGTH = 40;

/** The value itself, if it is short enough to stand in a sentence. */
function shown(value: JsonValue): string {
  const isPlain = typeof value !== 'object' || value === null;
  const text = value instanceof JsonNumber ? value.text : isPlain ? JSON.stringify(value) : '';
  return text === '' || text.length > SHOWN_LENGTH ? '' : `${text}, `;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/**
 * Judges JSON whose numbers still have every digit: 1.0 and 1e2 are integers, as JSON Schema says (2020-12 validation,
 * 6.1.1).
 */
function* problemsIn(schema: ContractSchema, value: JsonValue, path = ''): Generator<Problem> {
  const { $ref, allOf = [], type, format, enum: choices, minLength = 0, items = {} } = schema;
  const isNot = (what: string) => ({ path, at: path, words: `is ${shown(value)}not ${what}` });
  if ($ref !== undefined) yield* problemsIn(named($ref.replace('#/components/schemas/', '')), value, path);
  for (const part of allOf) yield* problemsIn(part, value, path);
  if (choices !== undefined) {
    if (!choices.some((choice) => choice === value)) yield isNot(`one of ${choices.join(', ')}`);
  } else if (type === 'string') {
    if (typeof value !== 'string') yield isNot('a string');
    else if (value.length < minLength) yield { path, at: path, words: 'is empty' };
  } else if (type === 'integer' && format === 'int64') {
    if (int64Of(value) === undefined) yield isNot('an int64');
  } else if (type === 'integer') {
    if (!(value instanceof JsonNumber) || integerOf(value) === 'fraction') yield isNot('an integer');
  } else if (type === 'array') {
    if (!isList(value)) yield isNot('an array');
    else for (const [index, item] of value.entries()) yield* problemsIn(items, item, `${path}/${index}`);
  } else if (type === 'object') {
    if (!isJsonObject(value)) return yield isNot('an object');
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const inner = value[name];
      const place = `${path}/${name}`;
      if (inner !== undefined) yield* problemsIn(field, inner, place);
      else if (schema.required?.includes(name)) yield { path: place, at: path, words: 'is missing' };
    }
  }
}

function named(name: string): ContractSchema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`spec/petstore.openapi.yaml has no schema ${name}`);
  return schema;
}

/** `animal 91: status`, or the number of an item that has no id; the root is the body itself. */
function subjectOf(path: string, body: JsonValue): string {
  const parts = path.split('/').slice(1);
  if (!isList(body)) return parts[0] ?? 'the body';
  const [index, field] = parts;
  if (index === undefined) return 'the body';
  const item = body[Number(index)];
  const id = isJsonObject(item) ? int64Of(item['id']) : undefined;
  const which = id === undefined ? `item ${Number(index) + 1}` : `animal ${id}`;
  return field === undefined ? which : `${which}: ${field}`;
}

function problemOf(name: string): (value: JsonValue) => SchemaProblem | undefined {
  const schema = named(name);
  return (value) => {
    const [first, ...more] = problemsIn(schema, value);
    if (first === undefined) return undefined;
    const others = new Set(more.map(({ path }) => path).filter((path) => path !== first.path));
    const text = `${subjectOf(first.path, value)} ${first.words}`;
    return { text: others.size === 0 ? text : `${text} (and ${others.size} more)`, at: first.at };
  };
}

/** What is wrong with a value by the schema of the contract; undefined where nothing is. */
export const schemaProblem = {
  pets: problemOf('Pets'),
  pet: problemOf('Pet'),
  newPet: problemOf('NewPet'),
  error: problemOf('Error'),
};
