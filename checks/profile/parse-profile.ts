import { Value } from '@sinclair/typebox/value';
import { limitsOf } from '../../spec/plans.ts';
import { quoted } from '../wire/answer.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { fileText } from './file-text.ts';
import { type ProfileFile, profileSchema, type TargetProfile } from './target-profile.ts';
import { LARGEST_YAML, YamlFile } from './yaml-file.ts';

/**
 * The profile in a file.
 *
 * @throws UsageError with a line for each mistake: where it is, and how to correct it
 */
export function readProfile(path: string): TargetProfile {
  const remedy = 'name a profile; "petstore-harness init" writes one';
  return parseProfile(fileText(path, remedy, LARGEST_YAML), path);
}

/**
 * The profile in a text.
 *
 * @param source how messages name the text
 * @throws UsageError with a line for each mistake
 */
export function parseProfile(text: string, source: string): TargetProfile {
  const yaml = new YamlFile(text, source);
  const value = Value.Default(profileSchema, yaml.value ?? {});
  const profile = profileOf(yaml.validated(profileSchema, value, 'the profile'), yaml);
  yaml.throwIfWrong();
  return profile;
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
