/** What a profile's text becomes: a profile, or every problem with its place. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { gaps, requirements } from '../../spec/contract.ts';
import { assertAsStored } from '../testing/as-stored.ts';
import { parseProfile, readProfile } from './parse-profile.ts';
import { PROFILE_DEFAULTS } from './target-profile.ts';
import { publishedSchema, SCHEMA_FILE } from './testing/published-schema.ts';
import { UsageError } from './usage-error.ts';

const KEY = '{ name: free-1, plan: free, env: FREE_KEY }';
const withField = (field: string) => `keys: [${KEY}]\n${field}`;
const keyed = (fields: string) => `keys: [{ ${fields} }]`;
/** What is said of a text: a line for each problem, without the name of the file. */
function lines(text: string): string[] {
  try {
    parseProfile(text, 'profile.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message.split('\n').map((line) => line.replace(/^profile\.yaml:(\d+:\d+):/, '$1'));
  }
}
const isTaken = (text: string) => lines(text).length === 0;

t.test('a full profile, and the least', async (t) => {
  const full = parseProfile(
    `target: https://staging.example.com/v1/
keys:
  - { name: free-1, plan: free, env: PETSTORE_FREE_KEY, roles: [functional, exhaust], unusedToday: true }
  - name: big.one
    plan: enterprise
    env: PETSTORE_BIG_KEY
    roles: [ban, load]
plans:
  enterprise: { perMinute: 5000, perDay: 1000000 }
permit: [writes, exhaust]
load: { allowed: true }
headers: [{ name: X-Access-Token, env: ACCESS }, { name: X-Tenant, value: blue green }]
tls: { ca: ca.pem, cert: own.pem, key: own.key, passphraseEnv: PASSPHRASE, serverName: petstore }
readings: { list-limit-fills: declined }
gaps:
  limit-out-of-range: rejected-400
  ban-threshold: "10"
rules: [./our-rules.mjs]
clock: { speed: 60 }
samples: { categoryId: 9007199254740991 }
`,
    'profile.yaml',
  );
  t.same(full, {
    target: 'https://staging.example.com/v1',
    keys: [
      {
        name: 'free-1',
        plan: 'free',
        env: 'PETSTORE_FREE_KEY',
        roles: ['functional', 'exhaust'],
        unusedToday: true,
      },
      {
        name: 'big.one',
        plan: 'enterprise',
        env: 'PETSTORE_BIG_KEY',
        roles: ['ban', 'load'],
        unusedToday: false,
      },
    ],
    plans: { enterprise: { perMinute: 5000, perDay: 1_000_000 } },
    permit: ['writes', 'exhaust'],
    load: { allowed: true },
    headers: [
      { name: 'X-Access-Token', env: 'ACCESS' },
      { name: 'X-Tenant', value: 'blue green' },
    ],
    tls: {
      ...{ ca: 'ca.pem', cert: 'own.pem', key: 'own.key', passphraseEnv: 'PASSPHRASE' },
      ...{ serverName: 'petstore', insecure: false },
    },
    readings: { 'list-limit-fills': 'declined' },
    rules: ['./our-rules.mjs'],
    gaps: { 'limit-out-of-range': 'rejected-400', 'ban-threshold': '10' },
    clock: { speed: 60 },
    samples: { categoryId: 9007199254740991 },
  });
  const least = parseProfile(`keys: [${KEY}]`, 'p');
  const { target, keys, ...others } = least;
  t.equal(target, undefined);
  t.match(keys, [{ roles: ['functional'], unusedToday: false }]);
  t.same(others, PROFILE_DEFAULTS);
  const blank = withField('target:\nplans:\npermit:\nload:\nreadings:\ngaps:\nclock:\nsamples:\n');
  t.same(parseProfile(blank, 'p'), least, 'fields without a value');
});

/** Texts with something wrong in them. */
const WRONG: readonly string[] = [
  '',
  '# nothing\n',
  '[]',
  'keys: []',
  'keys: free',
  'keys:\n  - free',
  'keys: [',
  'keys: [{ name: a, name: b, plan: free, env: A }]',
  'a: 1\n---\nb: 2',
  'a: &x 1\nb: *x',
  `${'? '.repeat(30)}`,
  withField('7: 1'),
  withField('? [a]\n: 1'),
  withField('taget: http://a/v1'),
  withField('whatever: 1'),
  withField('a/b~c: 1'),
  withField('target: 7'),
  withField('target: ftp://a/v1'),
  withField('target: https://user:pass@example.com/v1'),
  withField('permit: [write]'),
  withField('permit: [writes, ~]'),
  withField('permit: [writes, writes]'),
  withField('load: true'),
  withField('load: { allowed: yes }'),
  withField('clock: { speed: 0 }'),
  withField('clock: { speed: .nan }'),
  withField('samples: { categoryId: 9223372036854775808 }'),
  withField(`samples: { categoryId: ${'9'.repeat(9000)} }`),
  withField('samples: { categoryId: "1" }'),
  withField('plans: { free: { perMinute: 1, perDay: 1 } }'),
  withField('plans: { enterprise: { perMinute: 0, perDay: 1 } }'),
  withField('plans: { enterprise: { perMinute: 1 } }'),
  withField('gaps: { limit-out-of-rage: clamped }'),
  withField('gaps: { limit-out-of-range: clampt }'),
  withField('gaps: { ban-threshold: ten }'),
  withField('gaps: { ban-threshold: 10 }'),
  withField('gaps: { name-empty: accepted }'),
  withField('readings: { list-limit-fills: no }'),
  withField('readings: { list-limit-fil: declined }'),
  withField('readings: { list-limit-maximum: declined }'),
  withField('readings: { client-uses-successor: declined }'),
  withField('headers: [{ name: X-A }]'),
  withField('headers: [{ name: X-A, env: A, value: abc }]'),
  withField('headers: [{ name: X-A, value: a }, { name: x-a, env: A }]'),
  withField('headers: [{ name: "X A", env: A }]'),
  withField('headers: [{ name: X-A, value: "a\\nb" }]'),
  ...['Authorization', 'accept', 'Content-Type', 'HOST', 'Connection', 'Transfer-Encoding'].map((name) =>
    withField(`headers: [{ name: ${name}, env: A }]`),
  ),
  withField('tls: { cert: own.pem }'),
  withField('tls: { whatever: x }'),
  keyed('plan: free, env: A'),
  keyed('name: a, env: A'),
  keyed('name: a, plan: free'),
  keyed('name: a b, plan: free, env: A'),
  keyed('name: 1, plan: free, env: A'),
  keyed('name: a, plan: fre, env: A'),
  keyed('name: a, plan: enterprise, env: A'),
  keyed('name: a, plan: free, env: A, roles: []'),
  keyed('name: a, plan: free, env: A-B'),
  `keys: [${KEY}, ${KEY}]`,
  'load: 7\nkeys:\n  - { name: a, plan: x, env: A-B, rolls: [] }\nclock: { speed: -1 }\n',
  'target: htp://x\nkeys:\n  - { name: a, plan: fre, env: A }\n  - { name: a, plan: enterprise, env: A }\nheaders: [{ name: Host }]\ntls: { cert: x }\n',
];

t.test('all that is wrong is said once, at its place, in the order of the file, as stored', async (t) => {
  const said = Object.fromEntries(
    WRONG.map((text) => [JSON.stringify(text.slice(0, 180)), lines(text).join('\n')]),
  );
  assertAsStored(t, join(import.meta.dirname, 'testing', 'wrong.txt'), said);
});

t.test('of more than fifty problems the first are said', async (t) => {
  const unknown = Array.from({ length: 60 }, (_, index) => `field-${index}: 1`).join('\n');
  t.match(lines(withField(unknown)), { length: 50, 0: /^2:1 .*"field-0"/ });
});

t.test('only what the document leaves open, or we read into it, can be pinned or declined', async (t) => {
  for (const { id, reading, excluded } of requirements)
    t.equal(
      isTaken(withField(`readings: { ${id}: declined }`)),
      reading !== undefined && excluded === undefined,
      id,
    );
  for (const { id, answers, open, unobservable } of gaps)
    for (const answer of answers.length > 0 ? answers : ['x'])
      t.equal(
        isTaken(withField(`gaps: { ${id}: "${answer}" }`)),
        unobservable === undefined && (open || answers.length > 0),
        `${id}: ${answer}`,
      );
});

const CANARY = 'sk_live_4fd9Zq7TrCanary01';

t.test('a secret in the file is refused and not repeated', async (t) => {
  const secretField = / has a field "\w+", and a profile holds no keys; put it into an environment variable/;
  const names = 'key value token secret password Authorization credentials apiKey api_key'.split(' ');
  for (const [text, said] of [
    ...names.map((name) => [withField(`${name}: ${CANARY}`), secretField] as const),
    [
      keyed(`name: a, plan: free, env: ${CANARY}`),
      /If the file was shared with a key in it, replace the key/,
    ],
    [keyed(`name: a, plan: free, env: "Bearer ${CANARY}"`), /env has another form/],
    [`keys: [{ name: a, plan: free, env: ${CANARY}`, /not YAML/],
    [withField(`target: https://${CANARY}@example.com/v1`), /contains credentials/],
    [withField(`target: https://example.com/v1?key=${CANARY}`), /has a query/],
  ] as const) {
    const found = lines(text).join('\n');
    t.match(found, said);
    t.notOk(found.includes(CANARY.slice(0, 8)), found);
  }
});

t.test('whatever the text, a profile or problems that a terminal can show', async (t) => {
  const snippet = fc.constantFrom(
    ...[
      'keys:',
      ' ',
      '\n',
      '  - ',
      '{ name: a, plan: free, env: A }',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '? ',
      '|',
    ],
    ...['&a ', '*a', '!!int ', '"', "'", '>-', '---', '%TAG', '\t', '#', 'target: ', 'gaps: ', 'readings: '],
    ...[
      '<<',
      '0x1F',
      '1e999',
      '.inf',
      '~',
      '\u0000',
      '\uFEFF',
      '\ud800',
      '犬',
      '__proto__',
      'ban-threshold: ',
    ],
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(snippet).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (text) => {
      const said = lines(text);
      return said.every((line) => /^[1-9]\d*:[1-9]\d* .+; .+/.test(line) && !/[\p{Cc}\p{Cs}]/u.test(line));
    }),
    { numRuns: 300 },
  );
  for (const unit of [
    '[',
    '{a: ',
    '- ',
    '? ',
    '[,',
    ',',
    'a:\n ',
    '&a ',
    '!a ',
    '"',
    'a: b\n',
    '*a ',
    '? - ',
  ]) {
    const start = process.cpuUsage().user;
    t.ok(lines(unit.repeat(2 ** 14 / unit.length)).length > 0, JSON.stringify(unit));
    const seconds = (process.cpuUsage().user - start) / 1e6;
    t.ok(seconds < 2, `${JSON.stringify(unit)}: ${seconds} s`);
  }
});

t.test('the published schema is the one of today, and takes what the harness takes', async (t) => {
  t.equal(
    readFileSync(SCHEMA_FILE, 'utf8').replaceAll(/\s/g, ''),
    publishedSchema().replaceAll(/\s/g, ''),
    'npm run schemas',
  );
  const isValid = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false }).compile(
    JSON.parse(publishedSchema()),
  );
  t.ok(isValid(parse(`keys: [${KEY}]`)));
  for (const [text, taken] of [
    [withField('gaps: { ban-threshold: "10", limit-out-of-range: rejected-422 }'), true],
    [withField('plans: { enterprise: { perMinute: 1, perDay: 1 } }'), true],
    [withField('readings: { list-limit-fills: declined }'), true],
    ['keys: []', false],
    [withField('token: x'), false],
    [keyed(`name: free-1, plan: free, env: ${CANARY}`), false],
    [withField('plans: { free: { perMinute: 1, perDay: 1 } }'), false],
    [withField('readings: { list-limit-maximum: declined }'), false],
    [withField('gaps: { limit-out-of-range: rejected }'), false],
    [withField('gaps: { events: none }'), false],
  ] as const) {
    t.equal(isValid(parse(text)), taken, text);
    t.equal(isTaken(text), taken, text);
  }
});

t.test('a profile is a regular file in UTF-8, and not large', async (t) => {
  const folder = t.testdir({
    'good.yaml': `\uFEFFkeys:\r\n  - ${KEY}\r\n`,
    'latin1.yaml': Buffer.from([0x6b, 0xe4, 0x0a]),
    'large.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 16 + 1, '#'),
    'largest.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 16, '#'),
    folder: {},
    loop: t.fixture('symlink', 'loop'),
  });
  writeFileSync(join(folder, 'secret.yaml'), 'keys: []');
  chmodSync(join(folder, 'secret.yaml'), 0);
  const read = (path: string) => {
    try {
      readProfile(path.startsWith('/') ? path : join(folder, path));
      return 'read';
    } catch (error) {
      return String(error).replace(/^UsageError: [^:]*: (?:\d+:\d+: )?(.*?); .*$/s, '$1');
    }
  };
  for (const [path, said] of [
    ['good.yaml', /^read$/],
    ['largest.yaml', /^read$/],
    ['large.yaml', /^is larger than 65,536 bytes/],
    ['latin1.yaml', /^is not in UTF-8$/],
    ['folder', /^is not a regular file$/],
    ['/dev/zero', /^is not a regular file$/],
    ['loop', /^too many symbolic links encountered$/],
    ['missing.yaml', /^no such file or directory$/],
    ['good.yaml/x', /^not a directory$/],
    ['\u0000', /null bytes/],
    // The superuser may read everything.
    ['secret.yaml', process.getuid?.() === 0 ? /has no|Expected/ : /permission denied/],
  ] as const)
    t.match(read(path), said, path);
});
