import t from 'tap';
import { parseProfile } from './parse-profile.ts';
import { PROFILE_DEFAULTS } from './target-profile.ts';
import { KEY, type Misplaced, problemsOf, withField } from './testing/test-profile.ts';

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
  const least = parseProfile(`keys: [${KEY}]`, 'p');
  const blank = parseProfile(
    withField('target:\nplans:\npermit:\nload:\ngaps:\n# limit-out-of-range: clamped\nclock:\nsamples:\n'),
    'p',
  );
  t.strictSame(least, blank);
  if (!least.ok) throw new Error('refused');
  t.equal(least.profile.target, undefined);
  t.strictSame(least.profile.load, { allowed: false });
  t.strictSame(least.profile.clock, { speed: 1 });
  t.strictSame(least.profile.permit, []);
  t.strictSame(Object.keys(least.profile.gaps), []);
  t.strictSame(least.profile.samples, {});
  t.end();
});

t.test('every problem has its place and its remedy', (t) => {
  const cases: readonly Misplaced[] = [
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
    [withField('target: ftp://a/v1'), 2, 9, /not an http/, /https:/],
    [withField('target: staging.example.com'), 2, 9, /not an http/, /https:/],
    [withField('target: https://user:pass@example.com/v1'), 2, 9, /contains credentials/, /environment/],
    [withField('target: "http://a/v1?x=1"'), 2, 9, /has a query/, /remove/],
    [withField('target: "http://a/v1#x"'), 2, 9, /has a fragment/, /remove/],
    [withField('target: "http://"'), 2, 9, /not an http/, /https:/],
    [withField('taget: http://a/v1'), 2, 1, /no field "taget"/, /did you mean "target"/],
    [withField('whatever: 1'), 2, 1, /no field "whatever"/, /known here: target, keys/],
    [withField('7: 1'), 2, 1, /name must be text/, /word/],
    [withField('? [a]\n: 1'), 2, 3, /name must be text/, /word/],
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
    [withField('permit: [writes, ~]'), 2, 18, /an item of permit is empty, which is none of/, /writes/],
    [withField('permit:\n  - writes\n  -\n'), 4, 4, /an item of permit is empty, which is none of/, /writes/],
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
      /"clampt", which is none of rejected-400, clamped, defaulted/,
      /did you mean "clamped"/,
    ],
    [withField('gaps: { limit-out-of-range: [clamped] }'), 2, 29, /must be a text/, /report/],
    [withField('gaps: { ban-threshold: [10] }'), 2, 24, /must be a text/, /report/],
    [withField('gaps: { ban-threshold: "" }'), 2, 24, /must be a text/, /report/],
    [withField('gaps: { name-empty: accepted }'), 2, 9, /no run can see it/, /stays behind/],
    [withField('gaps: { __proto__: x }'), 2, 9, /no field "__proto__"/, /known here/],
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
  t.strictSame(
    problemsOf('{ samples: 5, clock: 5, load: 5, target: 5, keys: 5 }').map(({ column }) => column),
    [12, 22, 31, 42, 51],
    'also those of one line',
  );
  t.end();
});

t.test('a field that is refused for a reason of its own is not called unknown as well', (t) => {
  for (const field of ['gaps: { name-empty: accepted }', 'plans: { pro: 5 }', 'token: x'])
    t.equal(problemsOf(withField(field)).length, 1, field);
  t.end();
});

t.test('a file that is no YAML is not called empty, or without keys, as well', (t) => {
  for (const text of ['keys: [', 'load: &a {}', 'a: 1\n---\nb: 2']) t.equal(problemsOf(text).length, 1, text);
  t.end();
});

t.test('only what is pinned is promised', (t) => {
  const loaded = parseProfile(withField('gaps: { ban-threshold: 5, limit-out-of-range: }'), 'p');
  t.strictSame(loaded.ok && Object.entries(loaded.profile.gaps), [['ban-threshold', '5']]);
  t.end();
});

t.test('a file that says nothing but its keys has the defaults', async (t) => {
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: FREE_KEY }]', 'target.yaml');
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { target, keys, ...others } = read.profile;
  t.strictSame({ ...others, gaps: { ...others.gaps } }, PROFILE_DEFAULTS);
});
