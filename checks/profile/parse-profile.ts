import { Value } from '@sinclair/typebox/value';
import { limitsOf } from '../../spec/plans.ts';
import { quoted } from '../wire/answer.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { fileText } from './file-text.ts';
import { type ProfileFile, profileSchema, type TargetProfile } from './target-profile.ts';
import { type FileProblem, LARGEST_YAML, YamlFile } from './yaml-file.ts';

export type LoadedProfile =
  | { readonly ok: true; readonly profile: TargetProfile }
  | {
      readonly ok: false;
      /** The file's name, as it was given. */
      readonly source: string;
      /** In the order of the file. */
      readonly problems: readonly FileProblem[];
    };

/** More than these a person does not read. */
const MOST_PROBLEMS = 50;

/** Reads a profile file and validates it. */
export function readProfile(path: string): LoadedProfile {
  try {
    return parseProfile(fileText(path, LARGEST_YAML), path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = 'name a profile; "petstore-harness init" writes one';
    return { ok: false, source: path, problems: [{ line: 1, column: 1, message, remedy }] };
  }
}

/**
 * Validates a profile's text. What is wrong is reported at once.
 *
 * @param source how messages name the text
 */
export function parseProfile(text: string, source: string): LoadedProfile {
  const yaml = new YamlFile(text);
  if (yaml.problems.length === 0) {
    const value = Value.Default(profileSchema, yaml.value ?? {});
    if (yaml.validates(profileSchema, value, 'the profile')) {
      const profile = profileOf(value, yaml);
      if (yaml.problems.length === 0) return { ok: true, profile };
    }
  }
  const problems = yaml.problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, source, problems: problems.slice(0, MOST_PROBLEMS) };
}

/** The profile in a valid file; reports what the schema cannot say. */
function profileOf({ target, ...file }: ProfileFile, yaml: YamlFile): TargetProfile {
  const address = target === undefined ? undefined : readBaseAddress(target);
  if (address?.ok === false) yaml.report('/target', address.message, address.remedy);
  for (const [index, { name, env, plan }] of file.keys.entries()) {
    const report = (message: string, remedy: string) => yaml.report(`/keys/${index}`, message, remedy);
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
  return { ...file, target: address?.ok === true ? address.address : undefined };
}
