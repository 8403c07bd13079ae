import { dirname, resolve } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { isCustom, PLAN_NAMES } from '../../spec/plans.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { type Environment, problemOf } from './environment.ts';
import { fileText } from './file-text.ts';
import { HEADER_VALUE, profileSchema, type TargetProfile, VARIABLE } from './target-profile.ts';
import { UsageError } from './usage-error.ts';
import { LARGEST_YAML, YamlFile } from './yaml-file.ts';

/** Where a profile's secrets come from, and which of its keys are to be used. */
export interface Surroundings {
  readonly env: Environment;
  /** @param permit what the profile permits */
  readonly isUsed: (roles: readonly string[], permit: readonly string[]) => boolean;
}

/**
 * The profile in a file. The files that it names are taken relative to it.
 *
 * @param needs where they are given, it is a mistake too if a variable or a file of tls is not there
 * @throws UsageError with a line for each mistake: where it is, and how to correct it
 */
export function readProfile(path: string, needs?: Surroundings): TargetProfile {
  const remedy = 'name a profile; "petstore-harness init" writes one';
  const profile = parseProfile(fileText(path, remedy, LARGEST_YAML), path, needs);
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
export function parseProfile(text: string, source: string, needs?: Surroundings): TargetProfile {
  const yaml = new YamlFile(text, source);
  const value = Value.Default(profileSchema, yaml.value ?? {});
  reportMistakes(value, yaml, dirname(source), needs);
  const { target, ...file } = yaml.validated(profileSchema, value, 'the profile');
  const address = target === undefined ? undefined : readBaseAddress(target);
  return { ...file, target: address?.ok === true ? address.address : undefined };
}

/** Headers that the document gives a meaning, that say how a message is framed, or that the proxy's address gives. */
export const OURS =
  /^(?:authorization|accept(?:-encoding)?|content-.*|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-ratelimit-.*)$/i;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const textsIn = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Reports what the schema cannot say, in whatever it may find wrong, and what is not there of what it needs. */
function reportMistakes(value: unknown, yaml: YamlFile, folder: string, needs?: Surroundings): void {
  const { target, keys: listed, plans, permit, headers: wanted, tls } = fieldsOf(value);
  const address = typeof target === 'string' ? readBaseAddress(target) : undefined;
  if (address?.ok === false) yaml.report('/target', address.message, address.remedy);
  const reportSecret = (path: string, variable: unknown, what: string, form?: RegExp) => {
    // What looks like a key is not repeated.
    if (needs === undefined || typeof variable !== 'string' || !RegExp(VARIABLE).test(variable)) return;
    const problem = problemOf(needs.env, variable, what, form);
    if (problem !== undefined) yaml.report(`${path}/env`, problem);
  };
  const keys = itemsOf(listed);
  for (const [index, { name, env, plan, roles }] of keys.entries()) {
    const report = (message: string, remedy: string) => yaml.report(`/keys/${index}`, message, remedy);
    const before = keys.slice(0, index);
    if (name !== undefined && before.some((key) => key['name'] === name))
      report('two keys have this name', 'give each a name of its own');
    // It may be a key, and is not repeated.
    if (env !== undefined && before.some((key) => key['env'] === env))
      report('two keys use this variable', 'name each key once, with all its roles');
    const custom = PLAN_NAMES.filter(isCustom).find((known) => known === plan);
    if (custom !== undefined && fieldsOf(plans)[custom] === undefined)
      report(
        `a key is of plan ${custom}, whose limits are not given`,
        `add plans: { ${custom}: { perMinute: …, perDay: … } }: the document only says "custom"`,
      );
    if (needs?.isUsed(textsIn(roles), textsIn(permit)))
      reportSecret(`/keys/${index}`, env, `key ${String(name)}`);
  }
  const headers = itemsOf(wanted);
  for (const [index, { name: named, env, value: plain }] of headers.entries()) {
    const name = String(named).toLowerCase();
    const report = (message: string, remedy: string) => yaml.report(`/headers/${index}`, message, remedy);
    if (OURS.test(name)) report(`${String(named)} is a header that the harness itself sends`, 'leave it out');
    if ((env === undefined) === (plain === undefined))
      report('a header needs either env or value', 'name the variable that holds its value in env');
    if (headers.slice(0, index).some((before) => String(before['name']).toLowerCase() === name))
      report('a header stands twice', 'give each header once');
    reportSecret(`/headers/${index}`, env, `header ${String(named)}`, HEADER_VALUE);
  }
  const { ca, cert, key } = fieldsOf(tls);
  if ((cert === undefined) !== (key === undefined))
    yaml.report('/tls', 'tls has one of cert and key', 'name both files, or the same one twice');
  for (const [field, path] of Object.entries(needs === undefined ? {} : { ca, cert, key })) {
    try {
      if (typeof path === 'string') fileText(resolve(folder, path), `correct tls.${field}`);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      yaml.report(`/tls/${field}`, error.message);
    }
  }
}
