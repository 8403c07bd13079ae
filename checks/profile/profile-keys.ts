import { isSeq } from 'yaml';
import { KEY_ROLES, PLAN_NAMES, type ProfileKey, type TargetProfile } from './target-profile.ts';
import { type Field, quoted, type YamlFields, type YamlNode } from './yaml-fields.ts';

const KEY_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Mixed small letters and digits are what keys are made of and names of variables hardly ever. */
const LOOKS_LIKE_A_KEY = /^(?=.*[a-z])(?=.*\d).{12,}$/;

/** Fields that somebody would write a key into. */
const SECRET_FIELD = /^(?:api[-_]?)?(?:key|value|token|secret|password|bearer|authorization|credentials?)$/i;
const SECRET_REMEDY =
  'put it into an environment variable and name that in env; if the file was shared, replace the key';

/** Reports a field that would hold a key, without its value. */
export function refuseSecret(yaml: YamlFields): (name: string, field: Field) => boolean {
  return (name, { offset }) => {
    if (!SECRET_FIELD.test(name)) return false;
    yaml.report(offset, `a profile holds no keys, but here is a field ${quoted(name)}`, SECRET_REMEDY);
    return true;
  };
}

/** The profile's keys; whatever is wrong with one is reported, and that key left out. */
export function readKeys(yaml: YamlFields, field: Field, plans: TargetProfile['plans']): ProfileKey[] {
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
  // One that is no role leaves the key without any as well, and has been reported.
  if (rolesField !== undefined && isSeq(rolesField.value) && rolesField.value.items.length === 0) {
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
