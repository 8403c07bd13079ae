/** Validates profiles. What is wrong is said with its place; no value that could be a key is repeated. */
import type { TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import { currentId, gaps, requirements } from '../../spec/contract.ts';
import { isPlanName, limitsOf } from '../../spec/plans.ts';
import { quoted } from '../wire/answer.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { suggestion } from './suggestion.ts';
import { type ProfileFile, profileSchema, type TargetProfile } from './target-profile.ts';
import { type FileProblem, unescaped, YamlFile } from './yaml-file.ts';

export type LoadedProfile =
  | { readonly ok: true; readonly profile: TargetProfile }
  | {
      readonly ok: false;
      /** The file's name, as it was given. */
      readonly source: string;
      /** All that is wrong, in the order of the file. */
      readonly problems: readonly FileProblem[];
    };

/** More than these a person does not read: the file is another one than was meant. */
const MOST_PROBLEMS = 50;

/**
 * Validates a profile's text. Everything that is wrong is reported at once.
 *
 * @param source how messages name the text
 */
export function parseProfile(text: string, source: string): LoadedProfile {
  const yaml = new YamlFile(text, idOfToday);
  if (yaml.problems.length === 0) {
    const value = Value.Default(profileSchema, yaml.value ?? {});
    if (Value.Check(profileSchema, value)) {
      const profile = profileOf(value, yaml);
      if (yaml.problems.length === 0) return { ok: true, profile };
    } else {
      // A field that is missing is found wrong once more as a value.
      const byPath = new Map([...Value.Errors(profileSchema, value)].reverse().map((one) => [one.path, one]));
      for (const error of byPath.values()) yaml.report(...saidOf(error));
    }
  }
  const problems = yaml.problems.sort((a, b) => a.line - b.line || a.column - b.column);
  const [next] = problems.splice(MOST_PROBLEMS);
  if (next !== undefined)
    problems.push({ ...next, message: 'and more from here on', remedy: 'is it the right file?' });
  return { ok: false, source, problems };
}

/** Gaps and readings that were renamed are known by their earlier ids too. */
export const idOfToday = (within: string, name: string): string =>
  within === 'gaps' || within === 'readings' ? currentId(name) : name;

/** The profile in a valid file; reports what the schema cannot say. */
function profileOf({ target, samples, ...file }: ProfileFile, yaml: YamlFile): TargetProfile {
  const address = target === undefined ? undefined : readBaseAddress(target);
  if (address?.ok === false) yaml.report('/target', 'value', address.message, address.remedy);
  const categoryId = samples.categoryId === undefined ? undefined : yaml.integerAt('/samples/categoryId');
  if (categoryId !== undefined && BigInt.asIntN(64, categoryId) !== categoryId)
    yaml.report(
      '/samples/categoryId',
      'value',
      'samples.categoryId is beyond int64',
      'write one that exists',
    );
  for (const [index, { name, env, plan }] of file.keys.entries()) {
    const report = (message: string, remedy: string) =>
      yaml.report(`/keys/${index}`, 'value', message, remedy);
    const before = file.keys.slice(0, index);
    if (before.some((key) => key.name === name))
      report(`two keys are named ${quoted(name)}`, 'give each a name of its own');
    if (before.some((key) => key.env === env))
      report(`two keys use the variable ${env}`, 'name each key once, with all its roles');
    if (limitsOf(plan, file.plans) === undefined)
      report(
        `key ${quoted(name)} is of plan ${plan}, whose limits are not given`,
        `add plans: { ${plan}: { perMinute: …, perDay: … } }: the document only says "custom"`,
      );
  }
  return {
    ...file,
    target: address?.ok === true ? address.address : undefined,
    samples: categoryId === undefined ? {} : { categoryId },
  };
}

type Said = readonly [path: string, part: 'value' | 'name', message: string, remedy: string];

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;

/** By the type of a schema: what a value must be, and how to write it. */
const TYPES: Readonly<Record<string, (schema: TSchema) => readonly [must: string, remedy: string]>> = {
  object: ({ properties }) => [
    'be a mapping (name: value)',
    `its fields are ${Object.keys(properties).join(', ')}`,
  ],
  array: () => ['be a list', 'write it as [a, b] or one "- item" a line'],
  string: () => ['be a text', 'put it in quotes'],
  boolean: () => ['be true or false', 'write it without quotes'],
  integer: ({ minimum, maximum }) => [
    minimum === undefined ? 'be a whole number' : `be a whole number from ${minimum} to ${maximum}`,
    'write it in digits',
  ],
  number: ({ minimum, maximum }) => [`be a number from ${minimum} to ${maximum}`, 'write it in digits'],
};

/** The texts that a value may be, where they can be listed. */
function choicesOf({ answers, anyOf, const: only }: TSchema): readonly string[] | undefined {
  if (answers !== undefined) return answers;
  return anyOf?.map((one: TSchema) => one['const']) ?? (only === undefined ? undefined : [only]);
}

/** What the schema finds wrong, in words. */
function saidOf({ type, path, schema, value }: ValueError): Said {
  const cut = path.lastIndexOf('/');
  const [outer, name] = [path.slice(0, cut), unescaped(path.slice(cut + 1))];
  const what = nameOf(path);
  const choices = choicesOf(schema);
  switch (type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return [path, 'name', ...unknownField(outer, name, Object.keys(schema['properties']))];
    case ValueErrorType.ObjectRequiredProperty: {
      const example = choices?.join(' or ') ?? schema['examples']?.[0];
      const remedy = example === undefined ? schema['remedy'] : `write ${name}: ${example}`;
      return [outer, 'name', `${nameOf(outer)} has no ${name}`, remedy];
    }
    case ValueErrorType.ArrayUniqueItems:
      return [path, 'value', `${what} names something twice`, 'remove one'];
    case ValueErrorType.ArrayMinItems:
      return [
        path,
        'value',
        `${what} must hold at least one item`,
        schema['remedy'] ?? 'add one, or remove it',
      ];
  }
  if (choices !== undefined && (typeof value === 'string' || schema['answers'] === undefined)) {
    const written = typeof value === 'object' ? '' : String(value ?? '');
    const found = written === '' ? 'none of' : `${quoted(written)}, which is none of`;
    return [path, 'value', `${what} is ${found} ${choices.join(', ')}`, suggestion(written, choices)];
  }
  const [must, remedy] = TYPES[schema['type']]?.(schema) ?? ['be something else', 'remove it'];
  return [path, 'value', `${what} must ${schema['must'] ?? must}`, schema['remedy'] ?? remedy];
}

/** How messages name the value at a path: `a key`, `load.allowed`, `an item of permit`. */
function nameOf(path: string): string {
  if (path === '') return 'the profile';
  if (/^\/keys\/\d+$/.test(path)) return 'a key';
  const names = path
    .replace(/^\/keys\/\d+/, '')
    .slice(1)
    .split('/');
  if (names[0] === 'gaps' && names.length === 2) return `the answer to ${names[1]}`;
  return /^\d+$/.test(names.at(-1) ?? '') ? `an item of ${names.slice(0, -1).join('.')}` : names.join('.');
}

/** What is said of a field that is not known: some are refused for a reason of their own. */
function unknownField(outer: string, name: string, known: readonly string[]): readonly [string, string] {
  const named = ({ id }: { readonly id: string }) => id === name;
  const unseen = outer === '/gaps' ? gaps.find(named)?.unobservable : undefined;
  if (unseen !== undefined) return [`no run can see the answer to ${name}`, `remove it (${unseen})`];
  const row = outer === '/readings' ? requirements.find(named) : undefined;
  if (row?.excluded !== undefined) return [`${name} has no check`, 'remove it'];
  if (row !== undefined)
    return [
      `the document states ${name}: it is no reading`,
      `remove it (section ${row.section}: ${row.clause})`,
    ];
  if (outer === '/plans' && isPlanName(name))
    return [`the document fixes the limits of plan ${name}`, 'remove it; only custom plans have limits here'];
  if (SECRET_FIELD.test(name))
    return [
      `a profile holds no keys, but here is a field ${quoted(name)}`,
      'put it into an environment variable and name that in env; if the file was shared, replace the key',
    ];
  return [`${nameOf(outer)} has no field ${quoted(name)}`, suggestion(name, known)];
}
