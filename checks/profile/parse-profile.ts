import { Ajv } from 'ajv';
import { ownSchemas } from '../../spec/own-schemas.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { problemIn } from './profile-problems.ts';
import { profileSchema } from './profile-schema.ts';
import { quoted } from './suggestion.ts';
import type { ProfileFile, ProfileKey, TargetProfile } from './target-profile.ts';
import { type FileProblem, YamlFile } from './yaml-file.ts';

export type LoadedProfile =
  | { readonly ok: true; readonly profile: TargetProfile }
  | {
      readonly ok: false;
      /** The file's name, as it was given. */
      readonly source: string;
      /** All that is wrong, in the order of the file. */
      readonly problems: readonly FileProblem[];
    };

const ajv = new Ajv({
  ...ownSchemas,
  allErrors: true,
  verbose: true,
  useDefaults: true,
  allowUnionTypes: true,
});
ajv.addFormat('uri', (text) => readBaseAddress(text).ok);
// A number outside of int64 is no integer any more, see YamlFile.
ajv.addFormat('int64', { type: 'number', validate: Number.isInteger });
ajv.addVocabulary(['x-missing', 'x-otherwise', 'x-forms']);
const isProfile = ajv.compile<ProfileFile>(profileSchema);
const isKey = ajv.compile<ProfileKey>(profileSchema.properties.keys.items);

/**
 * Validates a profile's text. Everything that is wrong is reported at once; no value that could be a key is repeated.
 *
 * @param source how messages name the text
 */
export function parseProfile(text: string, source: string): LoadedProfile {
  const yaml = new YamlFile(text);
  const { value } = yaml;
  if (yaml.problems.length === 0 && value === undefined) {
    const remedy = 'it needs at least one key: keys: [{ name: …, plan: free, env: …, roles: [functional] }]';
    yaml.report('', 'value', 'the profile is empty', remedy);
  } else if (value !== undefined) {
    const valid = isProfile(value);
    for (const said of (isProfile.errors ?? []).map(problemIn)) if (said) yaml.report(...said);
    reportKeys(yaml);
    if (valid && yaml.problems.length === 0) return { ok: true, profile: profileOf(value, yaml) };
  }
  const problems = [...yaml.problems].sort((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, source, problems: shortened(problems) };
}

/** More than these a person does not read: the file is another one than was meant. */
const MOST_PROBLEMS = 50;

function shortened(problems: readonly FileProblem[]): readonly FileProblem[] {
  const next = problems[MOST_PROBLEMS];
  if (next === undefined) return problems;
  const message = `and ${problems.length - MOST_PROBLEMS} further problems from here on`;
  return [...problems.slice(0, MOST_PROBLEMS), { ...next, message, remedy: 'is it the right file?' }];
}

/** What the schema cannot say of keys: each is another one, and a custom plan needs numbers. */
function reportKeys(yaml: YamlFile): void {
  const { keys, plans } = fieldsIn(yaml.value);
  const names = new Set<string>();
  const variables = new Set<string>();
  for (const [index, key] of (Array.isArray(keys) ? keys : []).entries()) {
    if (!isKey(key)) continue;
    const report = (message: string, remedy: string) =>
      yaml.report(`/keys/${index}`, 'value', message, remedy);
    if (names.has(key.name)) report(`two keys are named ${quoted(key.name)}`, 'give each a name of its own');
    if (variables.has(key.env))
      report(`two keys use the variable ${key.env}`, 'name each key once, with all its roles');
    if (key.plan === 'enterprise' && fieldsIn(plans)['enterprise'] === undefined) {
      report(
        `key ${quoted(key.name)} is of plan enterprise, whose limits are not given`,
        'add plans: { enterprise: { perMinute: …, perDay: … } }: the document only says "custom"',
      );
    }
    names.add(key.name);
    variables.add(key.env);
  }
}

const fieldsIn = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null ? { ...value } : {};

function profileOf({ target, gaps, samples, ...file }: ProfileFile, yaml: YamlFile): TargetProfile {
  const address = target === undefined ? undefined : readBaseAddress(target);
  const pinned = Object.entries(gaps).flatMap(([id, answer]) =>
    answer === undefined ? [] : [[id, String(answer)] as const],
  );
  const categoryId = samples.categoryId === undefined ? undefined : yaml.integerAt('/samples/categoryId');
  return {
    ...file,
    target: address?.ok ? address.address : undefined,
    gaps: Object.assign(Object.create(null), Object.fromEntries(pinned)),
    samples: categoryId === undefined ? {} : { categoryId },
  };
}
