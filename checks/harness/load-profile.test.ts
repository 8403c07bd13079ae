import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { type FileProblem, type PinnableGap, parseProfile, readProfile } from './load-profile.ts';

const GAPS: PinnableGap[] = [
  {
    id: 'limit-out-of-range',
    answers: ['rejected-400', 'clamped'],
    forms: ['rejected-<status>'],
    open: false,
  },
  { id: 'ban-threshold', answers: ['no-ban-seen'], forms: ['<number>'], open: false },
  { id: 'name-empty', answers: [], forms: [], open: false, unobservable: 'an animal would stay behind' },
];

const KEY = '{ name: free-1, plan: free, env: FREE_KEY }';

function problemsOf(text: string): readonly FileProblem[] {
  const loaded = parseProfile(text, 'profile.yaml', GAPS);
  return loaded.ok ? [] : loaded.problems;
}

/** A profile with one field more than it needs. */
const withField = (field: string) => `keys: [${KEY}]\n${field}`;

t.test('a full profile', (t) => {
  const loaded = parseProfile(
    `# our staging
target: https://staging.example.com/v1/
keys:
  - { name: free-1, plan: free, env: PETSTORE_FREE_KEY, roles: [functional, exhaust], unusedToday: true }
  - name: big.one
    plan: enterprise
    env: PETSTORE_BIG_KEY
    roles: [ban, load]
  - { name: plain, plan: pro, env: lower_case_name }
plans:
  enterprise: { perMinute: 5000, perDay: 1000000 }
permit: [writes, exhaust]
load: { allowed: true }
gaps:
  limit-out-of-range: rejected-400
  ban-threshold: 10
clock: { speed: 60 }
samples: { categoryId: 9223372036854775807 }
`,
    'profile.yaml',
    GAPS,
  );
  t.strictSame(loaded, {
    ok: true,
    profile: {
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
        { name: 'plain', plan: 'pro', env: 'lower_case_name', roles: ['functional'], unusedToday: false },
      ],
      plans: { enterprise: { perMinute: 5000, perDay: 1_000_000 } },
      permit: ['writes', 'exhaust'],
      load: { allowed: true },
      gaps: Object.assign(Object.create(null), {
        'limit-out-of-range': 'rejected-400',
        'ban-threshold': '10',
      }),
      clock: { speed: 60 },
      samples: { categoryId: 9223372036854775807n },
    },
  });
  t.end();
});

t.test('the least that a profile needs, and fields left without a value', (t) => {
  const least = parseProfile(`keys: [${KEY}]`, 'p', GAPS);
  const blank = parseProfile(
    withField('target:\nplans:\npermit:\nload:\ngaps:\n# limit-out-of-range: clamped\nclock:\nsamples:\n'),
    'p',
    GAPS,
  );
  t.strictSame(least, blank);
  if (!least.ok) throw new Error('refused');
  t.equal(least.profile.target, undefined);
  t.strictSame(least.profile.load, { allowed: false });
  t.strictSame(least.profile.clock, { speed: 1 });
  t.strictSame(least.profile.permit, []);
  t.end();
});

t.test('every problem has its place and its remedy', (t) => {
  const cases: [text: string, line: number, column: number, message: RegExp, remedy: RegExp][] = [
    ['', 1, 1, /is empty/, /keys:/],
    ['# nothing\n', 1, 1, /is empty/, /keys:/],
    ['[]', 1, 1, /the profile must be a mapping/, /target, keys/],
    ['hello', 1, 1, /the profile must be a mapping/, /target, keys/],
    ['target: http://127.0.0.1/v1', 1, 1, /has no keys/, /add keys/],
    ['keys: []', 1, 7, /at least one key/, /add/],
    ['keys: free', 1, 7, /keys must be a list/, /- item/],
    ['keys:\n  - free', 2, 5, /a key must be a mapping/, /name, plan, env/],
    ['keys:\n  - {}', 2, 5, /a key has no name/, /add name/],
    [withField('target: 7'), 2, 9, /target must be a text/, /quotes/],
    [withField('target: ftp://a/v1'), 2, 9, /no http/, /https:/],
    [withField('target: staging.example.com'), 2, 9, /no http/, /https:/],
    [withField('target: https://user:pass@example.com/v1'), 2, 9, /holds credentials/, /environment/],
    [withField('target: "http://a/v1?x=1"'), 2, 9, /has a query/, /remove/],
    [withField('target: "http://a/v1#x"'), 2, 9, /has a fragment/, /remove/],
    [withField('target: "http://"'), 2, 9, /no http/, /https:/],
    [withField('taget: http://a/v1'), 2, 1, /no field "taget"/, /did you mean "target"/],
    [withField('whatever: 1'), 2, 1, /no field "whatever"/, /known here: target, keys/],
    [withField('7: 1'), 2, 1, /name is no text/, /word/],
    [withField('? [a]\n: 1'), 2, 3, /name is no text/, /word/],
    [
      withField('permit: [write]'),
      2,
      10,
      /"write", which is none of writes, exhaust/,
      /did you mean "writes"/,
    ],
    [withField('permit: [writes, writes]'), 2, 18, /"writes" twice/, /remove/],
    [withField('permit: writes'), 2, 9, /permit must be a list/, /\[a, b\]/],
    [withField('permit: [[writes]]'), 2, 10, /a list or mapping, which is none of/, /writes/],
    [withField('load: true'), 2, 7, /load must be a mapping/, /allowed/],
    [withField('load: { allowed: yes }'), 2, 18, /true or false/, /without quotes/],
    [withField('load: { allowed: "true" }'), 2, 18, /true or false/, /without quotes/],
    [withField('clock: { speed: 0 }'), 2, 17, /from 1 to 100000/, /digits/],
    [withField('clock: { speed: 1e99 }'), 2, 17, /from 1 to 100000/, /digits/],
    [withField('clock: { speed: .nan }'), 2, 17, /from 1 to 100000/, /digits/],
    [withField('clock: { speed: fast }'), 2, 17, /from 1 to 100000/, /digits/],
    [withField('samples: { categoryId: 9223372036854775808 }'), 2, 24, /whole number/, /digits/],
    [withField('samples: { categoryId: 1.5 }'), 2, 24, /whole number/, /digits/],
    [withField('samples: { categoryId: "1" }'), 2, 24, /whole number/, /digits/],
    [withField(`samples: { categoryId: ${'9'.repeat(10_000)} }`), 2, 24, /whole number/, /digits/],
    [
      withField('plans: { free: { perMinute: 1, perDay: 1 } }'),
      2,
      10,
      /document fixes the limits of plan free/,
      /only enterprise/,
    ],
    [withField('plans: { enterprise: { perMinute: 1 } }'), 2, 10, /has no perDay/, /add perDay/],
    [withField('plans: { enterprise: { perMinute: 0, perDay: 1 } }'), 2, 35, /from 1 to/, /digits/],
    [withField('plans: { enterprise: 5000 }'), 2, 22, /must be a mapping/, /perMinute, perDay/],
    [
      withField('gaps: { limit-out-of-rage: clamped }'),
      2,
      9,
      /no field "limit-out-of-rage"/,
      /did you mean "limit-out-of-range"/,
    ],
    [
      withField('gaps: { limit-out-of-range: clampt }'),
      2,
      29,
      /"clampt", which is none of rejected-400, clamped, rejected-<status>/,
      /did you mean "clamped"/,
    ],
    [withField('gaps: { limit-out-of-range: [clamped] }'), 2, 29, /must be a text/, /report/],
    [withField('gaps: { ban-threshold: [10] }'), 2, 24, /must be a text/, /report/],
    [withField('gaps: { ban-threshold: "" }'), 2, 24, /must be a text/, /report/],
    [withField('gaps: { name-empty: accepted }'), 2, 9, /no run can see it/, /stay behind/],
    [withField('gaps: { __proto__: x }'), 2, 9, /no field "__proto__"/, /known here/],
    [`keys: [${KEY}, ${KEY}]`, 1, 53, /two keys are named "free-1"/, /own/],
    ['keys: [{ plan: free, env: A }]', 1, 8, /a key has no name/, /add name/],
    ['keys: [{ name: a, env: A }]', 1, 8, /a key has no plan/, /free, pro, business, enterprise/],
    ['keys: [{ name: a, plan: free }]', 1, 8, /a key has no env/, /environment variable/],
    ['keys: [{ name: "a b", plan: free, env: A }]', 1, 16, /characters that reports cannot carry/, /letters/],
    ['keys: [{ name: 1, plan: free, env: A }]', 1, 16, /name must be a text/, /quotes/],
    ['keys: [{ name: a, plan: fre, env: A }]', 1, 25, /"fre", which is none of free/, /did you mean "free"/],
    ['keys: [{ name: a, plan: [free], env: A }]', 1, 25, /a list or mapping/, /free/],
    [
      'keys: [{ name: a, plan: enterprise, env: A }]',
      1,
      8,
      /whose limits are not given/,
      /plans: \{ enterprise/,
    ],
    ['keys: [{ name: a, plan: free, env: A, roles: [] }]', 1, 39, /has no role/, /functional/],
    ['keys: [{ name: a, plan: free, env: A, roles: functional }]', 1, 46, /roles must be a list/, /\[a, b\]/],
    [
      'keys: [{ name: a, plan: free, env: A, role: [ban] }]',
      1,
      39,
      /no field "role"/,
      /did you mean "roles"/,
    ],
    ['keys: [{ name: a, plan: free, env: A, unusedToday: 1 }]', 1, 52, /true or false/, /quotes/],
    [
      'keys: [{ name: a, name: b, plan: free, env: A }]',
      1,
      19,
      /not YAML: Map keys must be unique/,
      /syntax/,
    ],
    ['keys: [', 1, 8, /not YAML/, /syntax/],
    ['keys:\n\t- a', 2, 1, /not YAML/, /syntax/],
    [`${withField('')}---\nkeys: []`, 2, 1, /more than one document/, /---/],
    ['%YAML 9.9\n---\nkeys: &a []', 3, 10, /anchors/, /write the value out/],
    [withField('permit: &p [writes]\nload: *p'), 2, 12, /anchors/, /write the value out/],
    [withField('load: *p'), 2, 7, /not YAML: Unresolved alias|aliases/, /./],
    [withField('<<: { target: http://a/v1 }'), 2, 1, /no field "<<"/, /known here/],
    [withField('target: !!str 5'), 2, 15, /tags/, /remove the tag/],
    [withField('target: !secret x'), 2, 17, /tags/, /remove the tag/],
    [withField('load: !!map { allowed: true }'), 2, 13, /tags/, /remove the tag/],
  ];
  for (const [text, line, column, message, remedy] of cases) {
    const name = JSON.stringify(text.slice(0, 90));
    const [problem] = problemsOf(text);
    t.match(problem, { message, remedy }, name);
    t.strictSame([problem?.line, problem?.column], [line, column], `place in ${name}`);
  }
  t.end();
});

t.test('all problems at once, in the order of the file', (t) => {
  const problems = problemsOf(
    'gaps: { nope: 1 }\nload: 7\nkeys:\n  - { name: a, plan: x, env: A-B, rolls: [] }\nclock: { speed: -1 }\n',
  );
  t.strictSame(
    problems.map(({ line }) => line),
    [1, 2, 4, 4, 4, 5],
  );
  t.end();
});

t.test('two keys from one variable would spend one quota', (t) => {
  t.match(
    problemsOf('keys: [{ name: a, plan: free, env: A }, { name: b, plan: free, env: A }]'),
    [/two keys come from the variable A/].map((message) => ({ message })),
  );
  t.end();
});

const CANARY = 'sk_live_4fd9Zq7TrCanary01';

t.test('a secret in the file is refused and not repeated', (t) => {
  const texts = [
    ...['key', 'value', 'token', 'secret', 'apiKey', 'api_key', 'password', 'bearer', 'Authorization'].map(
      (field) => `keys: [{ name: a, plan: free, ${field}: ${CANARY} }]`,
    ),
    `keys: [{ name: a, plan: free, env: ${CANARY} }]`,
    `keys: [{ name: a, plan: free, env: "Bearer ${CANARY}" }]`,
    `keys: [{ name: a, plan: free, env: ${CANARY}== }]`,
    withField(`token: ${CANARY}`),
    withField(`target: https://${CANARY}@example.com/v1`),
    withField(`target: https://example.com/v1?key=${CANARY}`),
  ];
  for (const text of texts) {
    const problems = problemsOf(text);
    t.ok(problems.length > 0, text);
    t.notOk(JSON.stringify(problems).includes(CANARY.slice(0, 8)), JSON.stringify(problems));
  }
  t.match(problemsOf(withField(`token: ${CANARY}`)), [{ remedy: /put it into an environment variable/ }]);
  t.end();
});

t.test('an alias bomb costs nothing', (t) => {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(10)}]`);
  const start = process.cpuUsage().user;
  t.match(problemsOf(`l0: &l0 [a]\n${levels.join('\n')}\n`), [{ message: /anchors/ }]);
  t.ok(process.cpuUsage().user - start < 2_000_000);
  t.end();
});

t.test('whatever the text, a profile or problems', (t) => {
  const snippet = fc.constantFrom(
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
    '&a ',
    '*a',
    '!!int ',
    '"',
    "'",
    '|',
    '>-',
    '---',
    '...',
    '%TAG',
    '\t',
    '#',
    'target: ',
    'gaps: ',
    'ban-threshold: ',
    '? ',
    '<<',
    '0x1F',
    '1e999',
    '.inf',
    '~',
    '\u0000',
    '\uFEFF',
    '\ud800',
    '犬',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(snippet).map((parts) => parts.join('')),
      ),
      (text) => {
        const loaded = parseProfile(text, 'p', GAPS);
        if (loaded.ok) return loaded.profile.keys.length > 0;
        return (
          loaded.problems.length > 0 &&
          loaded.problems.every(
            ({ line, column, message, remedy }) =>
              line >= 1 &&
              column >= 1 &&
              message !== '' &&
              remedy !== '' &&
              !/[\p{Cc}\p{Cs}]/u.test(message + remedy),
          )
        );
      },
    ),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('a large file of anything ends soon, with problems that can be read', (t) => {
  for (const unit of [
    '[',
    '{a: ',
    '- ',
    '? ',
    '- - ',
    'a:\n ',
    '&a ',
    '!a ',
    '"',
    '\n',
    ' ',
    '#',
    'a: b\n',
    '- a\n',
    '*a ',
    '"\\x',
  ]) {
    const text = unit.repeat(Math.floor(2 ** 18 / unit.length));
    const start = process.cpuUsage().user;
    const { length } = problemsOf(text);
    t.ok(length > 0 && length <= 51, JSON.stringify(unit));
    const seconds = (process.cpuUsage().user - start) / 1e6;
    t.ok(seconds < 10, `${JSON.stringify(unit)}: ${seconds} s`);
  }
  t.end();
});

t.test('files', async (t) => {
  const dir = t.testdir({
    'good.yaml': `keys: [${KEY}]`,
    'bom.yaml': `\uFEFFkeys: [${KEY}]`,
    'crlf.yaml': `keys:\r\n  - ${KEY}\r\nload: 7\r\n`,
    'bad.yaml': 'keys: 1',
    'latin1.yaml': Buffer.from([0x6b, 0xe4, 0x0a]),
    'huge.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 20 + 1, '#'),
    'largest.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 20, '#'),
    'secret.yaml': '',
  });
  mkdirSync(join(dir, 'folder'));
  symlinkSync('loop.yaml', join(dir, 'loop.yaml'));
  writeFileSync(join(dir, 'secret.yaml'), 'keys: []');
  chmodSync(join(dir, 'secret.yaml'), 0);
  const read = async (name: string) => {
    const loaded = await readProfile(join(dir, name), GAPS);
    return loaded.ok ? [] : loaded.problems.map(({ line, message }) => `${line}: ${message}`);
  };
  t.strictSame(await read('good.yaml'), []);
  t.strictSame(await read('bom.yaml'), []);
  t.match(await read('crlf.yaml'), [/^3: load must be/]);
  t.match(await read('bad.yaml'), [/^1: keys must be a list/]);
  t.match(await read('latin1.yaml'), [/not in UTF-8/]);
  t.match(await read('huge.yaml'), [/larger than 1 MiB/]);
  t.strictSame(await read('largest.yaml'), []);
  t.match(await read('folder'), [/is a directory/]);
  t.match(await read('loop.yaml'), [/link to itself/]);
  t.match(await read('missing.yaml'), [/no such profile/]);
  t.match(await read('good.yaml/x'), [/no such profile/]);
  t.match(await read('\u0000'), [/no such profile/]);
  t.match(await read('x'.repeat(5000)), [/no such profile/]);
  // The path of a socket has 108 bytes at most, which a folder of tests may have by itself.
  const short = mkdtempSync(join(tmpdir(), 'profile-'));
  t.teardown(() => rmSync(short, { recursive: true }));
  const socket = createServer().listen(join(short, 'socket'));
  await once(socket, 'listening');
  const unread = await readProfile(join(short, 'socket'), GAPS);
  t.match(unread, {
    problems: [{ line: 1, message: /^the profile cannot be read \((ENXIO|EOPNOTSUPP)\)$/ }],
  });
  socket.close();
  // The superuser may read everything.
  if (process.getuid?.() !== 0) t.match(await read('secret.yaml'), [/permission denied/]);
  const endless = await readProfile('/dev/zero', GAPS);
  t.match(endless, { ok: false, source: '/dev/zero', problems: [{ message: /larger than 1 MiB/ }] });
});

t.test('a file that was read is closed', async (t) => {
  const path = join(t.testdir({ 'good.yaml': `keys: [${KEY}]` }), 'good.yaml');
  const open = () => readdirSync('/dev/fd').length;
  const before = open();
  for (let times = 0; times < 20; times += 1) await readProfile(path, GAPS);
  t.ok(open() < before + 10);
});
