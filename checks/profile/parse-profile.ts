import { dirname, resolve } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { limitsOf } from '../../spec/plans.ts';
import { quoted } from '../wire/answer.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { fileText } from './file-text.ts';
import { type ProfileFile, profileSchema, type TargetProfile } from './target-profile.ts';
import { LARGEST_YAML, YamlFile } from './yaml-file.ts';

/**
 * The profile in a file. The files that it names are taken relative to it.
 *
 * @throws UsageError with a line for each mistake: where it is, and how to correct it
 */
export function readProfile(path: string): TargetProfile {
  const remedy = 'name a profile; "petstore-harness init" writes one';
  const profile = parseProfile(fileText(path, remedy, LARGEST_YAML), path);
  const { ca, cert, key, ...tls } = profile.tls;
  const files = Object.entries({ ca, cert, key }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, resolve(dirname(path), file)]],
  );
  return { ...profile, tls: { ...tls, ...Object.fromEntries(files) } };
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

/** Headers that the document gives a meaning, that say how a message is framed, or that the proxy's address gives. */
export const OURS =
  /^(?:authorization|accept(?:-encoding)?|content-.*|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-ratelimit-.*)$/i;

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
  for (const [index, { name, env, value }] of file.headers.entries()) {
    const report = (message: string, remedy: string) => yaml.report(`/headers/${index}`, message, remedy);
    if (OURS.test(name)) report(`${name} is a header that the harness itself sends`, 'leave it out');
    if ((env === undefined) === (value === undefined))
      report(`header ${name} needs either env or value`, 'name the variable that holds its value in env');
    if (file.headers.slice(0, index).some((before) => before.name.toLowerCase() === name.toLowerCase()))
      report(`header ${name} stands twice`, 'give each header once');
  }
  if ((file.tls.cert === undefined) !== (file.tls.key === undefined))
    yaml.report('/tls', 'tls has one of cert and key', 'name both files, or the same one twice');
  return { ...file, target: address?.ok === true ? address.address : undefined };
}
