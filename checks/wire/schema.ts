import { Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { schemas } from '../../spec/contract.ts';
import { compiled, type Keywords, typeOf } from '../../spec/json-schema.ts';
import type { SchemaProblem } from './answer.ts';
import { int64Of, integerOf, isJsonObject, JsonNumber, type JsonValue } from './lossless-json.ts';

/**
 * The schemas of the OpenAPI file, judged on JSON whose numbers still have every digit: 1.0 and 1e2 are integers, as JSON
 * Schema says (2020-12 validation, 6.1.1).
 */
TypeRegistry.Set<TSchema>('int64', (_, value) => value instanceof JsonNumber && int64Of(value) !== undefined);
TypeRegistry.Set<TSchema>(
  'integer',
  (_, value) => value instanceof JsonNumber && integerOf(value) !== 'fraction',
);
/** A number is an object of ours, and none of JSON's. */
TypeRegistry.Set<TSchema>('no number', (_, value) => !(value instanceof JsonNumber));

function typeOnDigits(keywords: Keywords): TSchema | undefined {
  const { $ref, type, format } = keywords;
  if (typeof $ref === 'string') return contractType($ref.replace('#/components/schemas/', ''));
  if (type === 'integer') return Type.Unsafe({ [Kind]: format === 'int64' ? 'int64' : 'integer' });
  if (type !== 'object' || 'isNumber' in keywords) return undefined;
  const fields = typeOf({ ...keywords, isNumber: false }, typeOnDigits);
  return Type.Intersect([Type.Unsafe({ [Kind]: 'no number' }), fields]);
}

function contractType(name: string): TSchema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`spec/petstore.openapi.yaml has no schema ${name}`);
  return typeOf(schema, typeOnDigits);
}

const outer = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

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

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** What a reader needs to see of a value. */
const SHOWN_LENGTH = 40;

/** The value itself, if it is short enough to stand in a sentence. */
function shown(value: unknown): string {
  const isPlain = typeof value !== 'object' || value === null;
  const text = value instanceof JsonNumber ? value.text : isPlain ? JSON.stringify(value) : '';
  return text === '' || text.length > SHOWN_LENGTH ? '' : `${text}, `;
}

const NAMED: Readonly<Record<string, string>> = {
  String: 'a string',
  Array: 'an array',
  int64: 'an int64',
  integer: 'an integer',
};

/** What came, and what is asked for in its place. */
function sentence({ type, path, schema, value }: ValueError, body: JsonValue): string {
  const subject = subjectOf(path, body);
  const isNot = (what: string) => `${subject} is ${shown(value)}not ${what}`;
  if (type === ValueErrorType.ObjectRequiredProperty) return `${subject} is missing`;
  if (type === ValueErrorType.StringMinLength) return `${subject} is empty`;
  if (type === ValueErrorType.Union)
    return isNot(`one of ${schema['anyOf'].map((one: TSchema) => one['const']).join(', ')}`);
  return isNot(NAMED[schema[Kind]] ?? 'an object');
}

function problemsOf(name: string): (value: JsonValue) => SchemaProblem | undefined {
  const validator = compiled<JsonValue>({ $ref: name }, typeOnDigits);
  return (value) => {
    if (validator.Check(value)) return undefined;
    // What lies in a value that is wrong is no more than a consequence.
    const places = new Set<string>();
    let first: ValueError | undefined;
    for (const error of validator.Errors(value)) {
      if (error.type === ValueErrorType.Intersect) continue;
      first ??= error;
      if (!places.has(outer(error.path))) places.add(error.path);
    }
    if (first === undefined) return undefined;
    const text = sentence(first, value);
    const isMissing = first.type === ValueErrorType.ObjectRequiredProperty;
    return {
      text: places.size === 1 ? text : `${text} (and ${places.size - 1} more)`,
      at: isMissing ? outer(first.path) : first.path,
    };
  };
}

/** What is wrong with a value by the schema of the contract; undefined where nothing is. */
export const schemaProblem = {
  pets: problemsOf('Pets'),
  pet: problemsOf('Pet'),
  newPet: problemsOf('NewPet'),
  error: problemsOf('Error'),
};
