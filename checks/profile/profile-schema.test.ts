import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import t from 'tap';
import { createGenerator } from 'ts-json-schema-generator';
import { parse } from 'yaml';
import { packageRoot } from '../../spec/package-root.ts';
import { parseProfile } from './parse-profile.ts';
import { profileSchema as published, SCHEMA_ADDRESS } from './profile-schema.ts';
import { profileYaml } from './write-profile.ts';

/** What a type and a schema of it have in common: fields, which of them a validated profile has, choices. */
function shape(schema: unknown): unknown {
  const { type, enum: choices, items, properties = {}, required = [] } = Object(schema);
  if (Array.isArray(choices)) return [...choices].sort();
  if (type === 'array') return { everyItem: shape(items) };
  if (type !== 'object') return type === 'integer' ? 'number' : type;
  const fields = Object.entries<object>(properties).filter(([, field]) => !('not' in field));
  const filledIn = fields.flatMap(([name, field]) => ('default' in field ? [name] : []));
  return {
    required: [...required, ...filledIn].sort(),
    fields: Object.fromEntries(fields.map(([name, field]) => [name, shape(field)])),
  };
}

t.test('the published schema and the type of a profile describe the same', async (t) => {
  const { definitions } = createGenerator({
    path: fileURLToPath(new URL('checks/profile/target-profile.ts', packageRoot)),
    tsconfig: fileURLToPath(new URL('tsconfig.json', packageRoot)),
    type: 'ProfileFile',
    expose: 'none',
    skipTypeCheck: true,
  }).createSchema('ProfileFile');
  const { properties } = published;
  const withoutGaps = { ...properties, gaps: { ...properties.gaps, properties: {} } };
  t.same(shape({ ...published, properties: withoutGaps }), shape(definitions?.['ProfileFile']));
});

t.test('an editor’s validator takes what the harness takes, and refuses what it refuses', async (t) => {
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(published);
  const key = '{ name: free-1, plan: free, env: FREE_KEY }';
  for (const [text, valid] of [
    [`keys: [${key}]`, true],
    [`keys: [${key}]\ngaps: { ban-threshold: 10, limit-out-of-range: rejected-422 }`, true],
    [`keys: [${key}]\nplans: { enterprise: { perMinute: 1, perDay: 1 } }`, true],
    ['keys: []', false],
    [`keys: [${key}]\ntoken: x`, false],
    ['keys: [{ name: free-1, plan: free, env: sk_live_4fd9Zq7TrCanary01 }]', false],
    [`keys: [${key}]\nplans: { free: { perMinute: 1, perDay: 1 } }`, false],
    [`keys: [${key}]\ngaps: { limit-out-of-range: rejected }`, false],
    [`keys: [${key}]\ngaps: { events: none }`, false],
  ] as const) {
    t.equal(isValid(parse(text)), valid, text);
    t.equal(parseProfile(text, 'profile.yaml').ok, valid, `${text}, by the harness`);
  }
});

t.test('a profile that is written names the schema, which has that address', async (t) => {
  t.equal(published.$id, SCHEMA_ADDRESS);
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: FREE_KEY }]', 'profile.yaml');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  t.match(profileYaml(read.profile), `# yaml-language-server: $schema=${SCHEMA_ADDRESS}\n`);
});
