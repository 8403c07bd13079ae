/** The places and words of a profile's problems that are said once each. */
import t from 'tap';
import { gaps } from '../../spec/contract.ts';
import { parseProfile } from './parse-profile.ts';
import { type Misplaced, problemsOf, withField } from './testing/test-profile.ts';

const KEY = 'keys: [{ name: free-1, plan: free, env: FREE_KEY }]';

const parsed = (fields: string) => parseProfile(`${KEY}\n${fields}`, 'profile.yaml');
function problems(fields: string): string[] {
  const loaded = parsed(fields);
  return loaded.ok ? [] : loaded.problems.map(({ message, remedy }) => `${message}; ${remedy}`);
}

const mapping = (name: string, ...fields: readonly string[]) =>
  `${name} must be a mapping (name: value); write its fields: ${fields.join(', ')}`;
const int64 =
  'samples.categoryId must be a whole number from -9223372036854775808 to 9223372036854775807; write it in digits only';
const requests = (name: string) =>
  `plans.enterprise.${name} must be a whole number from 1 to 1000000000; write it in digits only`;

/** The gaps that a run can see. */
const pinnable = gaps.flatMap(({ id, unobservable }) => (unobservable === undefined ? [id] : []));

const SAID: readonly [fields: string, ...problems: string[]][] = [
  ['plans: 5', mapping('plans', 'enterprise')],
  ['plans: { gold: 1 }', 'plans has no field "gold"; known here: enterprise'],
  [
    'plans: { pro: { perMinute: 1, perDay: 2 } }',
    'the document fixes the limits of plan pro; remove it; only enterprise is custom',
  ],
  ['plans: { enterprise: 5 }', mapping('plans.enterprise', 'perMinute', 'perDay')],
  [
    'plans: { enterprise: { perMinute: 5 } }',
    'plans.enterprise has no perDay; add perDay: the number of requests',
  ],
  [
    'plans: { enterprise: { perDay: 5 } }',
    'plans.enterprise has no perMinute; add perMinute: the number of requests',
  ],
  ['plans: { enterprise: { perMinute: x, perDay: 0 } }', requests('perMinute'), requests('perDay')],
  ['load: 5', mapping('load', 'allowed')],
  ['load: { allowed: 5 }', 'load.allowed must be true or false; write true or false, without quotes'],
  ['gaps: 5', mapping('gaps', ...pinnable)],
  [
    'gaps: { store-orders: other }',
    'the answer to store-orders is "other", which is none of absent, present, answered-<status>; known here: absent, present, answered-<status>',
  ],
  [
    'gaps: { store-orders: absentt }',
    'the answer to store-orders is "absentt", which is none of absent, present, answered-<status>; did you mean "absent"?',
  ],
  [
    'gaps: { ban-threshold: ten }',
    'the answer to ban-threshold is "ten", which is none of no-ban-seen, <number>; known here: no-ban-seen, <number>',
  ],
  [
    'gaps: { ban-threshold: "  " }',
    'the answer to ban-threshold must be a text; write it as it appears in a report',
  ],
  [
    'gaps: { ban-threshold: [1] }',
    'the answer to ban-threshold must be a text; write it as it appears in a report',
  ],
  ['clock: 5', mapping('clock', 'speed')],
  ['clock: { speed: x }', 'clock.speed must be a number from 1 to 100000; write it in digits'],
  ['samples: 5', mapping('samples', 'categoryId')],
  ['samples: { categoryId: x }', int64],
  ['samples: { categoryId: -9223372036854775809 }', int64],
];

t.test('what is wrong is named with its place in the file’s structure', async (t) => {
  for (const [fields, ...expected] of SAID) t.strictSame(problems(fields), expected, fields);
});

t.test('the smallest int64 is one', async (t) => {
  t.match(parsed('samples: { categoryId: -9223372036854775808 }'), {
    ok: true,
    profile: { samples: { categoryId: -(2n ** 63n) } },
  });
});

t.test('a file of comments is an empty profile', async (t) => {
  t.match(parseProfile('# nothing\n', 'profile.yaml'), {
    ok: false,
    problems: [{ line: 1, column: 1, message: 'the profile is empty' }],
  });
});

t.test('fifty problems are said one by one; of more, how many they are', async (t) => {
  const unknown = (count: number) =>
    Array.from({ length: count }, (_, index) => `field-${index}: 1`).join('\n');
  t.equal(problems(unknown(50)).length, 50);
  t.match(problems(unknown(50)).at(-1), /has no field "field-49"/);
  t.equal(problems(unknown(52)).length, 51);
  t.equal(problems(unknown(52)).at(-1), 'and 2 further problems from here on; is it the right file?');
});

t.test('every field that is not known is reported, wherever it is', async (t) => {
  const cases: readonly Misplaced[] = [
    [withField('load: { alowed: true }'), 2, 9, /^load has no field "alowed"$/, /did you mean "allowed"/],
    [withField('clock: { sped: 60 }'), 2, 10, /^clock has no field "sped"$/, /did you mean "speed"/],
    [withField('samples: { category: 1 }'), 2, 12, /^samples has no field "category"$/, /"categoryId"/],
  ];
  for (const [text, line, column, message, remedy] of cases)
    t.match(problemsOf(text), [{ line, column, message, remedy }], text);
});

t.test('a number may be as large and as small as it is said to be', async (t) => {
  const speed = (written: string) => problemsOf(withField(`clock: { speed: ${written} }`)).length;
  for (const written of ['1', '1.0', '100000', '1e5']) t.equal(speed(written), 0, written);
  for (const written of ['0.9', '100001', '"60"', 'true']) t.equal(speed(written), 1, written);
});

t.test('each unknown item of a list is reported once', async (t) => {
  t.strictSame(
    problemsOf(withField('permit: [write, delete, write]')).map(({ message }) => message),
    ['write', 'delete', 'write'].map(
      (name) => `an item of permit is "${name}", which is none of writes, exhaust, ban, day`,
    ),
  );
});

t.test('of a list each item is judged, and of a mapping each name', async (t) => {
  const said = (text: string) =>
    problemsOf(withField(text)).map((p) => `${p.line}:${p.column} ${p.message}; ${p.remedy}`);
  const known = 'which is none of writes, exhaust, ban, day; known here: writes, exhaust, ban, day';
  t.strictSame(said('permit: [ban, day, ban, blue, ~, {}, ""]'), [
    '2:20 permit has "ban" twice; remove one',
    `2:25 an item of permit is "blue", ${known}`,
    `2:31 an item of permit is empty, ${known}`,
    `2:34 an item of permit is a list or mapping, ${known}`,
    `2:38 an item of permit is "", ${known}`,
  ]);
  t.strictSame(said('load: { 7: 1, [x]: 1, alowed: 1, c: 1 }'), [
    '2:9 a field name must be text; use a word as its name',
    '2:15 a field name must be text; use a word as its name',
    '2:23 load has no field "alowed"; did you mean "allowed"?',
    '2:34 load has no field "c"; known here: allowed',
  ]);
});

t.test('each kind of value is read as what it is, and anything else is reported at its place', async (t) => {
  const kinds: readonly (readonly [field: string, taken: string[], refused: string[], said: string])[] = [
    [
      'target',
      ['"http://a/v1"'],
      ['5', 'true', '[x]', '{ x: y }'],
      'target must be a text; put it in quotes',
    ],
    [
      'load.allowed',
      ['true', 'false'],
      ['"true"', 'yes', '1', '[true]'],
      'load.allowed must be true or false; write true or false, without quotes',
    ],
    [
      'plans.enterprise.perDay',
      ['1', '1000000000', '5.0'],
      ['0', '1000000001', '1.5', '"5"', 'true', '[5]', '-5', '.nan'],
      'plans.enterprise.perDay must be a whole number from 1 to 1000000000; write it in digits only',
    ],
    [
      'clock.speed',
      ['1.5', '10', '1e1'],
      ['0.4', '100000.1', '"5"', 'true', '.nan', '.inf', '[5]'],
      'clock.speed must be a number from 1 to 100000; write it in digits',
    ],
    [
      'permit',
      ['[]', '[ban, writes]'],
      ['ban', '{ ban: true }'],
      'permit must be a list; write it as [a, b] or one "- item" a line',
    ],
    [
      'load',
      ['{}', '{ allowed: }'],
      ['x', '[allowed]'],
      'load must be a mapping (name: value); write its fields: allowed',
    ],
  ];
  for (const [field, taken, refused, said] of kinds) {
    const [last = '', ...outer] = field.split('.').reverse();
    const others = last === 'perDay' ? ', perMinute: 1' : '';
    const profileWith = (value: string) =>
      withField(outer.reduce((inner, name) => `${name}: { ${inner} }`, `${last}: ${value}${others}`));
    for (const value of taken) t.strictSame(problemsOf(profileWith(value)), [], `${field}: ${value}`);
    for (const value of refused) {
      const problems = problemsOf(profileWith(value));
      t.strictSame(
        problems.map(({ message, remedy }) => `${message}; ${remedy}`),
        [said],
        `${field}: ${value}`,
      );
      const column = (profileWith(value).split('\n')[1] ?? '').indexOf(value) + 1;
      t.match(problems, [{ line: 2, column }], `${field}: ${value}`);
    }
  }
});
