/** The places and words of a profile's problems that are said once each. */
import t from 'tap';
import type { PinnableGap } from '../wire/answer-forms.ts';
import { parseProfile } from './parse-profile.ts';

const GAPS: PinnableGap[] = [
  {
    id: 'limit-out-of-range',
    answers: ['rejected-400', 'clamped'],
    forms: ['rejected-<status>'],
    open: false,
  },
  { id: 'ban-threshold', answers: ['no-ban-seen'], forms: ['<number>'], open: false },
];
const KEY = 'keys: [{ name: free-1, plan: free, env: FREE_KEY }]';

const parsed = (fields: string) => parseProfile(`${KEY}\n${fields}`, 'profile.yaml', GAPS);
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
  ['gaps: 5', mapping('gaps', 'limit-out-of-range', 'ban-threshold')],
  [
    'gaps: { limit-out-of-range: other }',
    'the answer to limit-out-of-range is "other", which is none of rejected-400, clamped, rejected-<status>; known here: rejected-400, clamped, rejected-<status>',
  ],
  [
    'gaps: { limit-out-of-range: reject }',
    'the answer to limit-out-of-range is "reject", which is none of rejected-400, clamped, rejected-<status>; did you mean "rejected-400"?',
  ],
  [
    'gaps: { ban-threshold: ten }',
    'the answer to ban-threshold is "ten", which is none of no-ban-seen, <number>; known here: no-ban-seen, <number>',
  ],
  [
    'gaps: { ban-threshold: "  " }',
    'the answer to ban-threshold must be a text; write it as a report names it',
  ],
  [
    'gaps: { ban-threshold: [1] }',
    'the answer to ban-threshold must be a text; write it as a report names it',
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
  t.match(parseProfile('# nothing\n', 'profile.yaml', GAPS), {
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
