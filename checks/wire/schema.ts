import { type ContractSchema, schemas } from '../../spec/contract.ts';
import type { SchemaProblem } from './answer.ts';
import { int64Of, integerOf, isJsonObject, type JsonValue, LosslessNumber } from './lossless-json.ts';

/** What is wrong with a value, and where that is seen, as a JSON Pointer: a field that is missing in what lacks it. */
interface Problem {
  at: string;
  readonly missing?: string;
  readonly words: string;
}

const SHOWN_LENGTH = 40;

/** The value itself, if it is short enough to stand in a sentence. */
function shown(value: JsonValue): string {
  const isPlain = typeof value !== 'object' || value === null;
  const text = value instanceof LosslessNumber ? value.value : isPlain ? JSON.stringify(value) : '';
  return text === '' || text.length > SHOWN_LENGTH ? '' : `${text}, `;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/**
 * What a value is not, by its type. The numbers of our JSON still have every digit: 1.0 and 1e2 are integers, as JSON
 * Schema says (2020-12 validation, 6.1.1).
 */
function whatItIsNot({ type, format, enum: choices }: ContractSchema, value: JsonValue): string | undefined {
  if (choices !== undefined)
    return choices.some((choice) => choice === value) ? undefined : `one of ${choices.join(', ')}`;
  if (format === 'int64') return int64Of(value) === undefined ? 'an int64' : undefined;
  if (type === 'integer')
    return value instanceof LosslessNumber && integerOf(value) !== 'fraction' ? undefined : 'an integer';
  if (type === 'string') return typeof value === 'string' ? undefined : 'a string';
  if (type === 'array') return isList(value) ? undefined : 'an array';
  return type === 'object' && !isJsonObject(value) ? 'an object' : undefined;
}

/** Adds to `found` what is wrong with a value. Paths are made where something is: almost nothing ever is. */
function judge(schema: ContractSchema, value: JsonValue, found: Problem[], name?: string | number): void {
  const { $ref, allOf, items, properties, required } = schema;
  const before = found.length;
  if ($ref !== undefined) judge(named($ref.slice('#/components/schemas/'.length)), value, found);
  if (allOf !== undefined) for (const part of allOf) judge(part, value, found);
  const other = whatItIsNot(schema, value);
  if (other !== undefined) found.push({ at: '', words: `is ${shown(value)}not ${other}` });
  else if (items !== undefined && isList(value))
    for (const [index, item] of value.entries()) judge(items, item, found, index);
  else if (properties !== undefined && isJsonObject(value))
    for (const field in properties) {
      const [part, inner] = [properties[field], value[field]];
      if (part !== undefined && inner !== undefined) judge(part, inner, found, field);
      else if (required?.includes(field)) found.push({ at: '', missing: `/${field}`, words: 'is missing' });
    }
  if (name === undefined || found.length === before) return;
  for (const problem of found.slice(before)) problem.at = `/${name}${problem.at}`;
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
    const found: Problem[] = [];
    judge(schema, value, found);
    const [first] = found;
    if (first === undefined) return undefined;
    const [path, ...others] = new Set(found.map(({ at, missing = '' }) => at + missing));
    const text = `${subjectOf(path ?? '', value)} ${first.words}`;
    return { text: others.length === 0 ? text : `${text} (and ${others.length} more)`, at: first.at };
  };
}

/** What is wrong with a value by the schema of the contract; undefined where nothing is. */
export const schemaProblem = {
  pets: problemOf('Pets'),
  pet: problemOf('Pet'),
  newPet: problemOf('NewPet'),
  error: problemOf('Error'),
};
