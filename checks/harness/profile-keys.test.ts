import t from 'tap';
import { KEY, type Misplaced, problemsOf, withField } from './profile-for-tests.ts';

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
