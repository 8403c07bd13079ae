/** What a profile's text becomes: a profile, or every problem with its place. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { gaps, requirements } from '../../spec/contract.ts';
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

/** A text, and what is said of it; the place is that of the name or the item. */
const SAID: readonly (readonly [text: string, ...said: RegExp[]])[] = [
  ['', /^1:1 the profile has no keys; the API keys, each as \{ name/],
  ['# nothing\n', /^1:1 the profile has no keys/],
  ['[]', /^1:1 the profile: Expected object; /],
  ['keys: []', /^1:1 keys: Expected array length to be greater or equal to 1/],
  ['keys: free', /^1:1 keys: Expected array; the API keys/],
  ['keys:\n  - free', /^2:5 keys\.0: Expected object/],
  ['keys: [', /^1:8 not YAML: .*; correct the syntax/],
  ['keys: [{ name: a, name: b, plan: free, env: A }]', /^1:19 not YAML: Map keys must be unique/],
  ['a: 1\n---\nb: 2', /^2:1 not YAML: Source contains multiple documents/],
  ['a: &x 1\nb: *x', /^2:4 aliases .* are not allowed/],
  [`${'? '.repeat(30)}`, /^1:1 is nested too deep/],
  [withField('7: 1'), /^2:1 the profile has no field "7"/],
  [withField('? [a]\n: 1'), /^1:1 the profile has no field /],
  [withField('taget: http://a/v1'), /^2:1 the profile has no field "taget"; did you mean "target"\?$/],
  [withField('whatever: 1'), /^2:1 the profile has no field "whatever"; known here: target, keys/],
  [withField('a/b~c: 1'), /^2:1 the profile has no field "a\/b~c"/],
  [withField('target: 7'), /^2:1 target: Expected string; put it in quotes/],
  [withField('target: ftp://a/v1'), /^2:1 the target is not an http/],
  [withField('target: https://user:pass@example.com/v1'), /^2:1 the target contains credentials/],
  [withField('permit: [write]'), /^2:10 permit\.0 is "write", which it may not be; did you mean "writes"\?$/],
  [withField('permit: [writes, ~]'), /^2:18 permit\.1 is no text, which it may not be; known here: writes/],
  [withField('permit: [writes, writes]'), /^2:1 permit: Expected array elements to be unique/],
  [withField('load: true'), /^2:1 load: Expected object/],
  [withField('load: { allowed: yes }'), /^2:9 load\.allowed: Expected boolean/],
  [
    withField('clock: { speed: 0 }'),
    /^2:10 clock\.speed: Expected number to be greater or equal to 1; how many/,
  ],
  [withField('clock: { speed: .nan }'), /^2:10 clock\.speed: Expected number/],
  [
    withField('samples: { categoryId: 9223372036854775808 }'),
    /^2:12 samples\.categoryId: Expected integer to be less or equal to 9007199254740991/,
  ],
  [withField(`samples: { categoryId: ${'9'.repeat(9000)} }`), /^2:12 samples\.categoryId: Expected integer/],
  [withField('samples: { categoryId: "1" }'), /^2:12 samples\.categoryId: Expected integer/],
  [
    withField('plans: { free: { perMinute: 1, perDay: 1 } }'),
    /^2:10 plans has no field "free"; known here: enterprise/,
  ],
  [
    withField('plans: { enterprise: { perMinute: 0, perDay: 1 } }'),
    /^2:24 plans\.enterprise\.perMinute: .* 1; requests/,
  ],
  [withField('plans: { enterprise: { perMinute: 1 } }'), /^2:10 plans\.enterprise has no perDay; requests/],
  [withField('gaps: { limit-out-of-rage: clamped }'), /^2:9 gaps has no field .*"limit-out-of-range"\?$/],
  [
    withField('gaps: { limit-out-of-range: clampt }'),
    /^2:9 gaps\.limit-out-of-range is "clampt", .*"clamped"\?$/,
  ],
  [withField('gaps: { ban-threshold: ten }'), /^2:9 .* is "ten", .*known here: no-ban-seen, <number>/],
  [withField('gaps: { ban-threshold: 10 }'), /^2:9 gaps\.ban-threshold: Expected string; put it in quotes/],
  [withField('gaps: { name-empty: accepted }'), /^2:9 gaps has no field "name-empty"; .*explain name-empty/],
  [withField('readings: { list-limit-fills: no }'), /^2:13 readings\.list-limit-fills is "no"/],
  [withField('readings: { list-limit-fil: declined }'), /^2:13 .*"list-limit-fills"\?$/],
  [
    withField('readings: { list-limit-maximum: declined }'),
    /^2:13 .*: petstore-harness explain list-limit-maximum/,
  ],
  [
    withField('readings: { client-uses-successor: declined }'),
    /^2:13 readings has no field "client-uses-successor"/,
  ],
  [withField('headers: [{ name: X-A }]'), /^2:11 a header needs either env or value/],
  [withField('headers: [{ name: X-A, env: A, value: abc }]'), /^2:11 a header needs either env or value/],
  [withField('headers: [{ name: X-A, value: a }, { name: x-a, env: A }]'), /^2:36 a header stands twice/],
  [withField('headers: [{ name: "X A", env: A }]'), /^2:13 headers\.0\.name has another form/],
  [withField('headers: [{ name: X-A, value: "a\\nb" }]'), /^2:24 headers\.0\.value has another form/],
  ...['Authorization', 'accept', 'Content-Type', 'HOST', 'Connection', 'Transfer-Encoding'].map(
    (name): [string, RegExp] => [
      withField(`headers: [{ name: ${name}, env: A }]`),
      RegExp(`^2:11 ${name} is a header that the harness itself sends; leave it out$`),
    ],
  ),
  [withField('tls: { cert: own.pem }'), /^2:1 tls has one of cert and key; name both/],
  [withField('tls: { whatever: x }'), /^2:8 tls has no field "whatever"; known here: ca, cert/],
  [keyed('plan: free, env: A'), /^1:8 keys\.0 has no name; how reports call the key/],
  [keyed('name: a, env: A'), /^1:8 keys\.0 has no plan; one of free, pro/],
  [keyed('name: a, plan: free'), /^1:8 keys\.0 has no env; .*PETSTORE_FREE_KEY/],
  [
    keyed('name: a b, plan: free, env: A'),
    /^1:10 keys\.0\.name has another form than it must; .*1 to 64 letters/,
  ],
  [keyed('name: 1, plan: free, env: A'), /^1:10 keys\.0\.name: Expected string; put it in quotes/],
  [keyed('name: a, plan: fre, env: A'), /^1:19 keys\.0\.plan is "fre", .*did you mean "free"/],
  [
    keyed('name: a, plan: enterprise, env: A'),
    /^1:8 a key is of plan enterprise, whose limits are not given/,
  ],
  [keyed('name: a, plan: free, env: A, roles: []'), /^1:39 keys\.0\.roles: Expected array length/],
  [
    keyed('name: a, plan: free, env: A-B'),
    /^1:31 keys\.0\.env has another form than it must; the name of the env/,
  ],
  [`keys: [${KEY}, ${KEY}]`, /two keys have this name/, /two keys use this variable/],
  [
    'load: 7\nkeys:\n  - { name: a, plan: x, env: A-B, rolls: [] }\nclock: { speed: -1 }\n',
    ...[/^1:1 load/, /^3:16 keys/, /^3:25 keys/, /^3:35 .*"rolls"/, /^4:10 clock/],
  ],
  [
    'target: htp://x\nkeys:\n  - { name: a, plan: fre, env: A }\n  - { name: a, plan: enterprise, env: A }\nheaders: [{ name: Host }]\ntls: { cert: x }\n',
    ...[
      /^1:1 the target is not/,
      /^3:16 keys/,
      /^4:5 two .*name/,
      /^4:5 two .*variable/,
      /^4:5 .*enterprise/,
    ],
    ...[/^5:11 Host/, /^5:11 a header needs/, /^6:1 tls/],
  ],
];

t.test('everything that is wrong is said once, at its place, in the order of the file', async (t) => {
  for (const [text, ...said] of SAID) {
    const found = lines(text);
    t.match(found, said, JSON.stringify(text.slice(0, 90)));
    t.equal(found.length, said.length, found.join('\n'));
  }
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
