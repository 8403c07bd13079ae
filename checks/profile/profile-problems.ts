/** What is wrong with a profile, in words: what each finding of the schema means, and the remedy. */
import type { AnySchemaObject, ErrorObject } from 'ajv';
import type { PinnableGap } from '../wire/answer-forms.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { quoted, suggestion } from './suggestion.ts';
import { KEY_ROLES, PLAN_NAMES } from './target-profile.ts';

type Words = readonly [message: string, remedy: string];

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;
const SECRET_REMEDY =
  'put it into an environment variable and name that in env; if the file was shared, replace the key';

/** What to add where a field is missing. */
const ADDITIONS: Readonly<Record<string, string>> = {
  keys: 'add keys: [{ name: …, plan: free, env: …, roles: [functional] }]',
  name: 'add name: … , by which reports call it',
  plan: `add plan: one of ${PLAN_NAMES.join(', ')}`,
  env: 'add env: … , the environment variable that holds the key',
  perMinute: 'add perMinute: the number of requests',
  perDay: 'add perDay: the number of requests',
};

/** What is said of texts that have not the form of their field. They are not repeated: one may be the key itself. */
const FORMS: Readonly<Record<string, Words>> = {
  "a key's name": [
    "a key's name has characters that reports cannot carry, or too many",
    'use up to 64 letters, digits, ".", "_" and "-"',
  ],
  env: [
    'env is not the name of an environment variable',
    `write a name like PETSTORE_FREE_KEY; if this is the key, ${SECRET_REMEDY}`,
  ],
};

/** What is said of values of another type than their field has. */
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
  Object.entries<object>(properties ?? {}).flatMap(([name, schema]) => ('not' in schema ? [] : [name]));

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

/**
 * A finding of the schema in words.
 *
 * @returns where it is, by the parameters of YamlFile.report, and what to say
 */
export function problemIn(
  { keyword, instancePath, params, parentSchema = {}, data }: ErrorObject,
  gaps: readonly PinnableGap[],
): readonly [path: string, part: 'value' | 'name', ...words: Words] {
  const path = instancePath.split('/').slice(1);
  const what = nameOf(path);
  const [first, second = ''] = path;
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      return [`${instancePath}/${name}`, 'name', ...unknownField(what, name, fieldsOf(parentSchema))];
    }
    case 'required': {
      const name = String(params['missingProperty']);
      return [instancePath, 'name', `${what} has no ${name}`, ADDITIONS[name] ?? `add ${name}`];
    }
    case 'not':
      return [instancePath, 'name', ...(first === 'plans' ? fixedPlan(second) : unseen(second, gaps))];
    case 'minItems':
      return first === what
        ? [instancePath, 'value', 'keys must hold at least one key', 'add { name: …, plan: free, env: … }']
        : [
            instancePath,
            'name',
            'a key has no role',
            `give it some of ${KEY_ROLES.join(', ')}, or remove it`,
          ];
    case 'uniqueItems': {
      const index = Math.max(params['i'], params['j']);
      const item = Array.isArray(data) ? String(data[index]) : '';
      return [`${instancePath}/${index}`, 'value', `${what} has ${quoted(item)} twice`, 'remove one'];
    }
    case 'enum':
      return [instancePath, 'value', ...noneOf(what, data, params['allowedValues'])];
    case 'format': {
      const read = readBaseAddress(String(data));
      if (!read.ok) return [instancePath, 'value', read.message, read.remedy];
    }
  }
  const gap = first === 'gaps' ? gaps.find(({ id }) => id === second) : undefined;
  if (gap !== undefined) return [instancePath, 'value', ...noAnswer(what, data, gap)];
  const words =
    (keyword === 'pattern' ? FORMS[what] : undefined) ?? TYPES[parentSchema['type']]?.(what, parentSchema);
  return [instancePath, 'value', ...(words ?? [`${what} is not allowed here`, 'see profile.schema.json'])];
}

function unknownField(what: string, name: string, known: readonly string[]): Words {
  if (SECRET_FIELD.test(name))
    return [`a profile holds no keys, but here is a field ${quoted(name)}`, SECRET_REMEDY];
  return [`${what} has no field ${quoted(name)}`, suggestion(name, known)];
}

const fixedPlan = (plan: string): Words => [
  `the document fixes the limits of plan ${plan}`,
  'remove it; only enterprise is custom',
];

function unseen(id: string, gaps: readonly PinnableGap[]): Words {
  const reason = gaps.find((gap) => gap.id === id)?.unobservable;
  return [`the answer to ${id} cannot be pinned: no run can see it`, `remove it (${reason})`];
}

function noAnswer(what: string, data: unknown, { answers, forms }: PinnableGap): Words {
  if (typeof data === 'object' || String(data).trim() === '')
    return [`${what} must be a text`, 'write it as a report names it'];
  return noneOf(what, data, [...answers, ...forms]);
}

function noneOf(what: string, data: unknown, choices: readonly string[]): Words {
  const isScalar = typeof data !== 'object';
  const found = data === null ? 'empty' : isScalar ? quoted(String(data)) : 'a list or mapping';
  return [
    `${what} is ${found}, which is none of ${choices.join(', ')}`,
    suggestion(isScalar ? String(data) : '', choices),
  ];
}
