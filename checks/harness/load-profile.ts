import { open } from 'node:fs/promises';
import type { Gap } from '../../spec/contract.ts';
import { readBaseAddress } from './base-address.ts';
import {
  KEY_ROLES,
  PLAN_NAMES,
  type PlanLimits,
  type ProfileKey,
  type TargetProfile,
} from './target-profile.ts';
import { PERMISSIONS } from './verdict.ts';
import { type Field, type FileProblem, quoted, YamlFields, type YamlNode } from './yaml-fields.ts';

export { type KeyProblem, type KeyValues, keyValues } from './key-values.ts';
export type { FileProblem } from './yaml-fields.ts';

/** What a profile needs to know of the contract's gaps to pin an answer. */
export type PinnableGap = Pick<Gap, 'id' | 'answers' | 'open' | 'unobservable'>;

export type LoadedProfile =
  | { readonly ok: true; readonly profile: TargetProfile }
  | {
      readonly ok: false;
      /** The file's name, as it was given. */
      readonly source: string;
      /** All that is wrong, in the order of the file. */
      readonly problems: readonly FileProblem[];
    };

const MAX_PROFILE_BYTES = 2 ** 20;

const KEY_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Mixed small letters and digits are what keys are made of and names of variables hardly ever. */
const LOOKS_LIKE_A_KEY = /^(?=.*[a-z])(?=.*\d).{12,}$/;

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;
const SECRET_REMEDY =
  'put it into an environment variable and name that in env; if the file was shared, replace the key';

const MOST_REQUESTS = 1_000_000_000n;
const MOST_CLOCK_SPEED = 100_000;
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Reads a profile file and validates it.
 *
 * @param path a file of at most 1 MiB in UTF-8
 */
export async function readProfile(path: string, gaps: readonly PinnableGap[]): Promise<LoadedProfile> {
  const failed = (message: string, remedy: string): LoadedProfile => ({
    ok: false,
    source: path,
    problems: [{ line: 1, column: 1, message, remedy }],
  });
  let bytes: Buffer;
  try {
    bytes = await readUpTo(path, MAX_PROFILE_BYTES + 1);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const [message, remedy] = FILE_PROBLEMS[code] ?? [
      `the profile cannot be read (${code})`,
      'check the file',
    ];
    return failed(message, remedy);
  }
  if (bytes.length > MAX_PROFILE_BYTES)
    return failed('the profile is larger than 1 MiB', 'is it the right file?');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return failed('the profile is not in UTF-8', 'save it in UTF-8');
  }
  return parseProfile(text, path, gaps);
}

const FILE_PROBLEMS: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  ENOENT: [
    'there is no such profile',
    'check the path; "petstore-harness serve --profile-out FILE" writes an example',
  ],
  ENOTDIR: ['there is no such profile', 'check the path: a part of it is a file'],
  EISDIR: ['the profile is a directory', 'name the file in it'],
  EACCES: ['the profile cannot be read: permission denied', 'make it readable for this user'],
  EPERM: ['the profile cannot be read: permission denied', 'make it readable for this user'],
  ELOOP: ['the profile is a link to itself', 'name the file itself'],
  ENAMETOOLONG: ['there is no such profile', 'check the path'],
  ERR_INVALID_ARG_VALUE: ['there is no such profile', 'check the path: it holds a NUL character'],
};

/** The first bytes of a file; a pipe or a device, whose size is not known beforehand, is read likewise. */
async function readUpTo(path: string, most: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const pieces: Buffer[] = [];
    for (let left = most; left > 0; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, 65_536)), 0, null, null);
      if (bytesRead === 0) break;
      pieces.push(buffer.subarray(0, bytesRead));
      left -= bytesRead;
    }
    return Buffer.concat(pieces);
  } finally {
    await file.close();
  }
}

/**
 * Validates a profile's text. Everything that is wrong is reported at once; no value that could be a key is repeated.
 *
 * @param source how messages name the text
 */
export function parseProfile(text: string, source: string, gaps: readonly PinnableGap[]): LoadedProfile {
  const yaml = new YamlFields();
  const root = yaml.read(text);
  if (yaml.problems.length === 0 && (root === undefined || root === null)) {
    yaml.report(
      0,
      'the profile is empty',
      'it needs at least one key: keys: [{ name: …, plan: free, env: …, roles: [functional] }]',
    );
  }
  const profile = yaml.problems.length === 0 ? profileOf(yaml, root, gaps) : undefined;
  if (profile !== undefined && yaml.problems.length === 0) return { ok: true, profile };
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

const PROFILE_FIELDS = ['target', 'keys', 'plans', 'permit', 'load', 'gaps', 'clock', 'samples'];

function profileOf(
  yaml: YamlFields,
  root: YamlNode,
  gaps: readonly PinnableGap[],
): TargetProfile | undefined {
  const fields = yaml.fields(root, 'the profile', PROFILE_FIELDS, refuseSecret(yaml));
  if (fields === undefined) return undefined;
  const targetField = fields.get('target');
  const keysField = fields.get('keys');
  const plansField = fields.get('plans');
  const permitField = fields.get('permit');
  const plans = plansField === undefined ? {} : readPlans(yaml, plansField);
  if (keysField === undefined) {
    yaml.report(
      root,
      'the profile has no keys',
      'add keys: [{ name: …, plan: free, env: …, roles: [functional] }]',
    );
  }
  return {
    target: targetField === undefined ? undefined : readTarget(yaml, targetField),
    keys: keysField === undefined ? [] : readKeys(yaml, keysField, plans),
    plans,
    permit: (permitField && yaml.choices(permitField, 'permit', PERMISSIONS)) ?? [],
    load: readLoad(yaml, fields.get('load')),
    gaps: readGaps(yaml, fields.get('gaps'), gaps),
    clock: readClock(yaml, fields.get('clock')),
    samples: readSamples(yaml, fields.get('samples')),
  };
}

function refuseSecret(yaml: YamlFields): (name: string, field: Field) => boolean {
  return (name, { offset }) => {
    if (!SECRET_FIELD.test(name)) return false;
    yaml.report(offset, `a profile holds no keys, but here is a field ${quoted(name)}`, SECRET_REMEDY);
    return true;
  };
}

function readTarget(yaml: YamlFields, { value }: Field): string | undefined {
  const text = yaml.text(value, 'target');
  if (text === undefined) return undefined;
  const read = readBaseAddress(text);
  if (read.ok) return read.address;
  yaml.report(value, read.message, read.remedy);
  return undefined;
}

function readKeys(yaml: YamlFields, field: Field, plans: TargetProfile['plans']): ProfileKey[] {
  const items = yaml.items(field, 'keys');
  if (items?.length === 0)
    yaml.report(field.value, 'keys must hold at least one key', 'add { name: …, plan: free, env: … }');
  const names = new Set<string>();
  const variables = new Set<string>();
  return (items ?? []).flatMap((item) => {
    const key = readKey(yaml, item);
    if (key === undefined) return [];
    if (names.has(key.name))
      yaml.report(item, `two keys are named ${quoted(key.name)}`, 'give each a name of its own');
    if (variables.has(key.env)) {
      yaml.report(
        item,
        `two keys come from the variable ${key.env}`,
        'name each key once, with all its roles',
      );
    }
    if (key.plan === 'enterprise' && plans.enterprise === undefined) {
      const remedy =
        'add plans: { enterprise: { perMinute: …, perDay: … } }: the document leaves them custom';
      yaml.report(item, `key ${quoted(key.name)} is of plan enterprise, whose limits are not given`, remedy);
    }
    names.add(key.name);
    variables.add(key.env);
    return [key];
  });
}

const KEY_FIELDS = ['name', 'plan', 'env', 'roles', 'unusedToday'];

function readKey(yaml: YamlFields, node: YamlNode): ProfileKey | undefined {
  const fields = yaml.fields(node, 'a key', KEY_FIELDS, refuseSecret(yaml));
  if (fields === undefined) return undefined;
  const required = (name: string, remedy: string) => {
    const field = fields.get(name);
    if (field === undefined) yaml.report(node, `a key has no ${name}`, remedy);
    return field;
  };
  const nameField = required('name', 'add name: … , by which reports call it');
  const planField = required('plan', `add plan: one of ${PLAN_NAMES.join(', ')}`);
  const envField = required('env', 'add env: … , the environment variable that holds the key');
  const rolesField = fields.get('roles');
  const unusedField = fields.get('unusedToday');
  const name = nameField && readKeyName(yaml, nameField);
  const plan = planField && yaml.choice(planField.value, 'plan', PLAN_NAMES);
  const env = envField && readVariable(yaml, envField);
  const roles =
    rolesField === undefined ? (['functional'] as const) : yaml.choices(rolesField, 'roles', KEY_ROLES);
  if (rolesField !== undefined && roles?.length === 0) {
    yaml.report(
      rolesField.offset,
      'a key has no role',
      `give it some of ${KEY_ROLES.join(', ')}, or remove it`,
    );
  }
  const unusedToday = unusedField !== undefined && yaml.flag(unusedField.value, 'unusedToday') === true;
  if (name === undefined || plan === undefined || env === undefined || roles === undefined) return undefined;
  return { name, plan, env, roles, unusedToday };
}

function readKeyName(yaml: YamlFields, { value }: Field): string | undefined {
  const name = yaml.text(value, "a key's name");
  if (name === undefined || KEY_NAME.test(name)) return name;
  const remedy = 'use up to 64 letters, digits, ".", "_" and "-"';
  yaml.report(value, "a key's name has characters that reports cannot carry, or too many", remedy);
  return undefined;
}

function readVariable(yaml: YamlFields, { value }: Field): string | undefined {
  const variable = yaml.text(value, 'env');
  if (variable === undefined) return undefined;
  if (VARIABLE_NAME.test(variable) && !LOOKS_LIKE_A_KEY.test(variable)) return variable;
  // Not repeated: it may be the key itself.
  yaml.report(
    value,
    'env is not the name of an environment variable',
    `write a name like PETSTORE_FREE_KEY; if this is the key, ${SECRET_REMEDY}`,
  );
  return undefined;
}

function readPlans(yaml: YamlFields, { value }: Field): { enterprise?: PlanLimits } {
  const fixed = (name: string, { offset }: Field) => {
    if (!PLAN_NAMES.some((plan) => plan === name)) return false;
    yaml.report(
      offset,
      `the document fixes the limits of plan ${name}`,
      'remove it; only enterprise is custom',
    );
    return true;
  };
  const enterprise = yaml.fields(value, 'plans', ['enterprise'], fixed)?.get('enterprise');
  if (enterprise === undefined) return {};
  const limits = yaml.fields(enterprise.value, 'plans.enterprise', ['perMinute', 'perDay']);
  if (limits === undefined) return {};
  const read = (name: string) => {
    const field = limits.get(name);
    if (field === undefined) {
      yaml.report(
        enterprise.offset,
        `plans.enterprise has no ${name}`,
        `add ${name}: the number of requests`,
      );
    }
    return field && yaml.integer(field.value, `plans.enterprise.${name}`, 1n, MOST_REQUESTS);
  };
  const perMinute = read('perMinute');
  const perDay = read('perDay');
  if (perMinute === undefined || perDay === undefined) return {};
  return { enterprise: { perMinute: Number(perMinute), perDay: Number(perDay) } };
}

function readLoad(yaml: YamlFields, field: Field | undefined): { allowed: boolean } {
  if (field === undefined) return { allowed: false };
  const allowed = yaml.fields(field.value, 'load', ['allowed'])?.get('allowed');
  return { allowed: allowed !== undefined && yaml.flag(allowed.value, 'load.allowed') === true };
}

function readGaps(
  yaml: YamlFields,
  field: Field | undefined,
  gaps: readonly PinnableGap[],
): Record<string, string> {
  const pinned: Record<string, string> = Object.create(null);
  if (field === undefined) return pinned;
  const observable = gaps.filter(({ unobservable }) => unobservable === undefined);
  const refuseUnobservable = (name: string, { offset }: Field) => {
    const reason = gaps.find(({ id }) => id === name)?.unobservable;
    if (reason === undefined) return false;
    yaml.report(offset, `the answer to ${name} cannot be pinned: no run can see it`, `remove it (${reason})`);
    return true;
  };
  const fields = yaml.fields(
    field.value,
    'gaps',
    observable.map(({ id }) => id),
    refuseUnobservable,
  );
  for (const { id, answers, open: isOpen } of observable) {
    const answerField = fields?.get(id);
    if (answerField === undefined) continue;
    const answer = isOpen
      ? readOpenAnswer(yaml, answerField, id)
      : yaml.choice(answerField.value, `the answer to ${id}`, answers);
    if (answer !== undefined) pinned[id] = answer;
  }
  return pinned;
}

/** An answer that may be one that nobody listed, a number of seconds for example, which needs no quotes. */
function readOpenAnswer(yaml: YamlFields, { value }: Field, id: string): string | undefined {
  const written = yaml.scalarText(value);
  if (written !== undefined && written.trim() !== '') return written;
  yaml.report(value, `the answer to ${id} must be a text`, 'write it as a report names it');
  return undefined;
}

function readClock(yaml: YamlFields, field: Field | undefined): { speed: number } {
  const speed = field && yaml.fields(field.value, 'clock', ['speed'])?.get('speed');
  return { speed: (speed && yaml.number(speed.value, 'clock.speed', 1, MOST_CLOCK_SPEED)) ?? 1 };
}

function readSamples(yaml: YamlFields, field: Field | undefined): { categoryId?: bigint } {
  const sample = field && yaml.fields(field.value, 'samples', ['categoryId'])?.get('categoryId');
  const categoryId = sample && yaml.integer(sample.value, 'samples.categoryId', -MAX_INT64 - 1n, MAX_INT64);
  return categoryId === undefined ? {} : { categoryId };
}
