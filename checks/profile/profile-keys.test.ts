import t from 'tap';
import { parseProfile } from './parse-profile.ts';
import { KEY, type Misplaced, problemsOf, withField } from './testing/test-profile.ts';

t.test('every problem of a key has its place and its remedy', (t) => {
  const cases: readonly Misplaced[] = [
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
  ];
  for (const [text, line, column, message, remedy] of cases) {
    const name = JSON.stringify(text.slice(0, 90));
    const [problem] = problemsOf(text);
    t.match(problem, { message, remedy }, name);
    t.strictSame([problem?.line, problem?.column], [line, column], `place in ${name}`);
  }
  t.end();
});

t.test('two keys from one variable would spend one quota', (t) => {
  t.match(
    problemsOf('keys: [{ name: a, plan: free, env: A }, { name: b, plan: free, env: A }]'),
    [/two keys use the variable A/].map((message) => ({ message })),
  );
  t.end();
});

t.test('what is wrong with a key is said once, and nothing follows from it', (t) => {
  const A = 'plan: free, env: A';
  const cases: readonly (readonly [keys: string, ...messages: RegExp[]])[] = [
    ['free', /^keys must be a list$/],
    [`[{ ${A} }, { plan: free, env: B }]`, /^a key has no name$/, /^a key has no name$/],
    ['[{ name: a, plan: free }, { name: b, plan: free }]', /^a key has no env$/, /^a key has no env$/],
    [`[{ name: a b, ${A} }, { name: "", plan: free, env: B }]`, /^a key's name has/, /^a key's name has/],
    [`[{ name: 1, ${A} }]`, /^a key's name must be a text$/],
    ['[{ name: a, plan: free, env: 1 }]', /^env must be a text$/],
    ['[{ name: a, plan: fre, env: A }]', /^plan is "fre", which is none of free, pro, business, enterprise$/],
    [`[{ name: a, ${A}, unusedToday: 1 }]`, /^unusedToday must be true or false$/],
    [`[{ name: a, ${A}, roles: [] }]`, /^a key has no role$/],
    [`[{ name: a, ${A}, roles: [all] }]`, /^an item of roles is "all", which is none of functional,/],
    [`[{ name: a, ${A}, token: x }]`, /^a profile holds no keys, but here is a field "token"$/],
  ];
  for (const [keys, ...messages] of cases) {
    const problems = problemsOf(`keys: ${keys}`);
    t.match(
      problems,
      messages.map((message) => ({ message })),
      keys,
    );
    t.equal(problems.length, messages.length, keys);
  }
  t.end();
});

const keyOf = (name: string, variable: string) =>
  parseProfile(`keys: [{ name: "${name}", plan: free, env: "${variable}" }]`, 'p');

t.test('a name of a key has one to 64 letters, digits and signs that a report can carry', (t) => {
  for (const name of ['a', 'Free-1', 'x_y.z', '9', 'x'.repeat(64)])
    t.match(keyOf(name, 'A'), { ok: true, profile: { keys: [{ name }] } }, name);
  for (const name of ['', 'x'.repeat(65), 'a b', 'a/b', '/b', 'a/', 'ä', 'a\\nb'])
    t.match(
      keyOf(name, 'A'),
      { problems: [{ message: /characters that reports cannot carry, or too many/ }] },
      name,
    );
  t.end();
});

t.test('a variable has a name as shells know them', (t) => {
  const shortOfAKey = 'shortname1x';
  for (const variable of [
    ...['A', '_', 'petstore_key', 'PETSTORE_FREE_KEY_2', 'Petstore_Free_Key', shortOfAKey],
    'X'.repeat(128),
  ])
    t.match(keyOf('a', variable), { ok: true, profile: { keys: [{ env: variable }] } }, variable);
  for (const variable of ['', '1A', 'A-B', 'A B', 'A=', '$A', 'A$', 'X'.repeat(129)])
    t.match(
      keyOf('a', variable),
      { problems: [{ message: /^env is not the name of an environment variable$/ }] },
      variable,
    );
  t.end();
});

t.test('small letters and digits, twelve and more, are a key that was written in place of its name', (t) => {
  const remedy =
    /^write a name like PETSTORE_FREE_KEY; if this is the key, put it into an environment variable/;
  for (const key of ['shortname12x', 'PKLIVE4FD9zq7', '_4fd9zq7trcanary', 'sk_live_4fd9Zq7Tr'])
    t.match(keyOf('a', key), { problems: [{ remedy }] }, key);
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
    `keys: [{ name: a, name: b, plan: free, env: ${CANARY} }]`,
    `keys: [{ name: a, plan: free, env: ${CANARY}`,
    `keys: [{ name: a, plan: free, env: &a ${CANARY} }]`,
    withField(`target: https://${CANARY}@example.com/v1`),
    withField(`target: https://example.com/v1?key=${CANARY}`),
  ];
  for (const text of texts) {
    const problems = problemsOf(text);
    t.ok(problems.length > 0, text);
    t.notOk(JSON.stringify(problems).includes(CANARY.slice(0, 8)), JSON.stringify(problems));
  }
  t.end();
});

t.test('a field for a secret is told from one that is misspelt', (t) => {
  for (const field of [
    ...[
      'key',
      'value',
      'token',
      'secret',
      'password',
      'bearer',
      'Authorization',
      'credential',
      'credentials',
    ],
    ...['apikey', 'apiKey', 'api_key', 'API-KEY'],
  ]) {
    const problems = problemsOf(withField(`${field}: ${CANARY}`));
    const message = `a profile holds no keys, but here is a field "${field}"`;
    t.match(problems, [
      { message, remedy: /^put it into an environment variable and name that in env; .*replace the key$/ },
    ]);
    t.equal(problems.length, 1, field);
  }
  for (const field of ['keysmith', 'monkey', 'tokens', 'rapikey'])
    t.match(
      problemsOf(withField(`${field}: 1`)),
      [{ message: `the profile has no field "${field}"` }],
      field,
    );
  t.end();
});
