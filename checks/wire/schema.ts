import { Ajv, type ErrorObject } from 'ajv';
import { schemas } from '../../spec/contract.ts';
import { ownSchemas } from '../../spec/own-schemas.ts';
import { int64Of, integerOf, JsonNumber, type JsonValue } from './lossless-json.ts';

/**
 * The schemas of the OpenAPI file, judged on JSON whose numbers still have every digit. `type: integer` becomes a
 * keyword of our own, since ajv would look for a rounded JavaScript number; 1.0 and 1e2 are integers, as JSON Schema
 * says (2020-12 validation, 6.1.1).
 */
const ajv = new Ajv({ ...ownSchemas, allErrors: true, strict: true, strictTypes: false, verbose: true });
ajv.addKeyword({
  keyword: 'digits',
  schemaType: 'string',
  validate: (format: string, value: JsonValue) =>
    format === 'int64'
      ? int64Of(value) !== undefined
      : value instanceof JsonNumber && integerOf(value) !== 'fraction',
});

function onDigits(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(onDigits);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, format, ...rest } = { type: undefined, format: undefined, ...schema };
  const others = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, onDigits(value)]));
  if (type === 'integer') return { digits: format === 'int64' ? 'int64' : 'integer', ...others };
  return { type, ...others };
}

// A type that a schema does not have is undefined here, which JSON leaves out.
const root = JSON.parse(JSON.stringify({ $id: 'contract', components: { schemas: onDigits(schemas) } }));
ajv.addVocabulary(['components']);
ajv.addSchema(root);

/** `item 3, categoryId`; the root is the value itself. */
function place({ instancePath }: ErrorObject): string {
  const path = instancePath.split('/').slice(1);
  return path.map((part) => (/^\d+$/.test(part) ? `item ${part}` : part)).join(', ');
}

/** What a keyword of the contract's schemas asks for, as a sentence about what came. */
function sentence(error: ErrorObject): string {
  const { keyword, params } = error;
  const subject = place(error) || 'the body';
  const isNot = (what: string) => `${subject} is not ${what}`;
  if (keyword === 'required')
    return `${place(error) === '' ? '' : `${subject}: `}${params['missingProperty']} is missing`;
  if (keyword === 'digits') return isNot(error.schema === 'int64' ? 'an int64' : 'an integer');
  if (keyword === 'enum' && Array.isArray(error.schema)) return isNot(`one of ${error.schema.join(', ')}`);
  if (keyword === 'type')
    return isNot({ string: 'a string', array: 'an array' }[String(error.schema)] ?? 'an object');
  if (keyword === 'minLength') return `${subject} is empty`;
  return `${subject}: ${error.message ?? keyword}`;
}

function compiled(name: string): (value: JsonValue) => string | undefined {
  const validate = ajv.getSchema(`contract#/components/schemas/${name}`);
  if (validate === undefined) throw new Error(`spec/petstore.openapi.yaml has no schema ${name}`);
  return (value) => {
    if (validate(value)) return undefined;
    // The schemas say some things twice: a Pet is a NewPet and more.
    const [first = 'not valid', ...more] = new Set((validate.errors ?? []).map(sentence));
    return more.length === 0 ? first : `${first}, and ${more.length} more`;
  };
}

/** What is wrong with a value by the schema of the contract, in one line; undefined where nothing is. */
export const schemaProblem = {
  pets: compiled('Pets'),
  pet: compiled('Pet'),
  newPet: compiled('NewPet'),
  error: compiled('Error'),
};
