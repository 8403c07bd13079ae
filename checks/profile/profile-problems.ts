/** What is wrong with a profile, in words. What the schema says itself (`x-missing`, `x-otherwise`) comes first. */
import type { AnySchemaObject, ErrorObject } from 'ajv';
import { readBaseAddress } from '../wire/base-address.ts';
import { quoted, suggestion } from './suggestion.ts';

type Words = readonly [message: string, remedy: string];

/** Where a problem is and what to say of it: the parameters of YamlFile.report. */
export type Said = readonly [path: string, part: 'value' | 'name', ...words: Words];

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;

/** What is said of values of another type, or out of the range, that their field has. */
const TYPES: Readonly<Record<string, (what: string, schema: AnySchemaObject) => Words>> = {
  object: (what, schema) => [
    `${what} must be a mapping (name: value)`,
    `write its fields: ${fieldsOf(schema).join(', ')}`,
  ],
  array: (what) => [`${what} must be a list`, 'write it as [a, b] or one "- item" a line'],
  string: (what) => [`${what} must be a text`, 'put it in quotes'],
  boolean: (what) => [`${what} must be true or false`, 'write true or false, without quotes'],
  integer: (what, { format, minimum, maximum }) => {
    const range = format === 'int64' ? `${-(2n ** 63n)} to ${2n ** 63n - 1n}` : `${minimum} to ${maximum}`;
    return [`${what} must be a whole number from ${range}`, 'write it in digits only'];
  },
  number: (what, { minimum, maximum }) => [
    `${what} must be a number from ${minimum} to ${maximum}`,
    'write it in digits',
  ],
};

/** The fields that a mapping may have. */
const fieldsOf = ({ properties }: AnySchemaObject): string[] =>
  Object.entries<object>(properties).flatMap(([name, schema]) => ('not' in schema ? [] : [name]));

/** How messages name the value at a path: `a key`, `load.allowed`, `an item of permit`. */
function nameOf(path: readonly string[]): string {
  const [first, ...rest] = path;
  if (first === undefined) return 'the profile';
  if (first === 'keys' && rest.length === 1) return 'a key';
  if (first === 'keys' && rest.length === 2 && rest[1] === 'name') return "a key's name";
  if (first === 'gaps' && rest.length === 1) return `the answer to ${rest[0]}`;
  const own = first === 'keys' && rest.length > 1 ? rest.slice(1) : path;
  return /^\d+$/.test(own.at(-1) ?? '') ? `an item of ${own.slice(0, -1).join('.')}` : own.join('.');
}

/** A finding of the schema in words; undefined where another one says it. */
export function problemIn(finding: ErrorObject): Said | undefined {
  const { keyword, instancePath, params, parentSchema: schema = {}, data } = finding;
  const what = nameOf(instancePath.split('/').slice(1));
  const value = (...words: Words) => [instancePath, 'value', ...words] as const;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      return [`${instancePath}/${name}`, 'name', ...unknownField(what, name, schema)];
    }
    case 'required': {
      const name = String(params['missingProperty']);
      return [instancePath, 'name', `${what} has no ${name}`, schema['properties'][name]['x-missing']];
    }
    case 'uniqueItems': {
      const index = Math.max(params['i'], params['j']);
      const item = Object(data)[index];
      if (!schema['items'].enum.includes(item)) return undefined;
      return [`${instancePath}/${index}`, 'value', `${what} has ${quoted(item)} twice`, 'remove one'];
    }
    case 'enum':
      return value(...noneOf(what, data, params['allowedValues']));
    case 'format': {
      const read = readBaseAddress(String(data));
      return read.ok ? undefined : value(read.message, read.remedy);
    }
  }
  const { type, 'x-otherwise': otherwise, 'x-forms': forms, examples } = schema;
  if (forms !== undefined) return value(...noAnswer(what, data, [...examples, ...forms]));
  if (otherwise === undefined || keyword === 'type')
    return value(...(TYPES[type]?.(what, schema) ?? [`${what} is not allowed`, 'remove it']));
  const [message, remedy, part = 'value'] = otherwise;
  return [instancePath, part, message, remedy];
}

function unknownField(what: string, name: string, schema: AnySchemaObject): Words {
  if (!SECRET_FIELD.test(name))
    return [`${what} has no field ${quoted(name)}`, suggestion(name, fieldsOf(schema))];
  return [
    `a profile holds no keys, but here is a field ${quoted(name)}`,
    'put it into an environment variable and name that in env; if the file was shared, replace the key',
  ];
}

const noAnswer = (what: string, data: unknown, known: readonly string[]): Words =>
  typeof data === 'object' || String(data).trim() === ''
    ? [`${what} must be a text`, 'write it as it appears in a report']
    : noneOf(what, data, known);

function noneOf(what: string, data: unknown, choices: readonly string[]): Words {
  const written = typeof data === 'object' ? '' : String(data);
  const none = data === null ? 'empty' : 'a list or mapping';
  const found = typeof data === 'object' ? none : quoted(written);
  return [`${what} is ${found}, which is none of ${choices.join(', ')}`, suggestion(written, choices)];
}
