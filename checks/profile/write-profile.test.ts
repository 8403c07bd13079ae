import fc from 'fast-check';
import t from 'tap';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { PLAN_NAMES } from '../../spec/plans.ts';
import { parseProfile } from './parse-profile.ts';
import { KEY_ROLES, type TargetProfile } from './target-profile.ts';
import { pinnedProfileYaml, profileYaml } from './write-profile.ts';

const profiles: fc.Arbitrary<TargetProfile> = fc.record({
  target: fc.constantFrom(undefined, 'https://staging.example.com/v1', 'http://[::1]:8080/v1'),
  keys: fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9._-]{0,10}$/),
      plan: fc.constantFrom(...PLAN_NAMES),
      env: fc.stringMatching(/^PETSTORE_[A-Z]{1,8}$/),
      roles: fc.uniqueArray(fc.constantFrom(...KEY_ROLES), { minLength: 1 }),
      unusedToday: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4, comparator: (a, b) => a.name === b.name || a.env === b.env },
  ),
  plans: fc.constant({ enterprise: { perMinute: 5000, perDay: 1_000_000 } }),
  permit: fc.uniqueArray(fc.constantFrom(...PERMISSIONS)),
  load: fc.record({ allowed: fc.boolean() }),
  headers: fc.constantFrom([], [{ name: 'X-Token', env: 'TOKEN' }], [{ name: 'X-Tenant', value: 'a: #b' }]),
  tls: fc.constantFrom({ insecure: false }, { insecure: true, ca: '/etc/ca.pem', serverName: 'petstore' }),
  readings: fc.constantFrom<TargetProfile['readings']>({}, { 'list-limit-fills': 'declined' }),
  gaps: fc.constantFrom<TargetProfile['gaps']>(
    {},
    { 'limit-out-of-range': 'clamped' },
    { 'ban-threshold': '10' },
  ),
  rules: fc.constantFrom([], ['./our-rules.mjs']),
  clock: fc.record({ speed: fc.constantFrom(1, 60, 12.5) }),
  samples: fc.constantFrom({}, { categoryId: Number.MAX_SAFE_INTEGER }),
});

t.test('whatever is written is read back the same', async (t) => {
  fc.assert(
    fc.property(profiles, (profile) => {
      t.same(parseProfile(profileYaml(profile), 'written'), profile);
    }),
    { numRuns: 60 },
  );
});

const LEAST = 'keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]';
const least = () => parseProfile(LEAST, 'p');

t.test('a profile says no more than was said to it', async (t) => {
  t.equal(
    profileYaml(least()),
    `keys:
  - name: free-1
    plan: free
    env: PETSTORE_FREE_KEY
    roles:
      - functional
permit: []
`,
  );
});

t.test('what is pinned replaces what was, at its place; comments and other answers stay', async (t) => {
  const written = `${LEAST}
gaps:
  limit-out-of-range: clamped # for now
  ban-threshold: "3"
  # asked for by the app
  retry-after-format: seconds
samples: { categoryId: 9007199254740991 }
`;
  const text = pinnedProfileYaml(written, least(), [
    { id: 'limit-out-of-range', question: 'What about 0?', answer: 'rejected-400' },
    { id: 'ban-duration', question: 'How long?', answer: '20-seconds' },
  ]);
  t.equal(
    text,
    `keys: [ { name: free-1, plan: free, env: PETSTORE_FREE_KEY } ]
gaps:
  limit-out-of-range: rejected-400 # for now
  ban-threshold: "3"
  # asked for by the app
  retry-after-format: seconds
  # How long?
  ban-duration: 20-seconds
samples: { categoryId: 9007199254740991 }
`,
  );
  t.ok(parseProfile(text, 'p'));
});

t.test('an answer is on one line, which a comparison of two profiles shows as one', async (t) => {
  const answer = '400 invalid_animal, 401 no_such_key, 404 no_such_animal, 429 too_many_requests';
  const text = pinnedProfileYaml(undefined, least(), [{ id: 'error-codes', question: 'Which?', answer }]);
  t.match(text, `  error-codes: ${answer}\n`);
  t.equal(
    profileYaml({ ...least(), gaps: { 'error-codes': answer } }).includes(`error-codes: ${answer}\n`),
    true,
  );
  t.match(parseProfile(text, 'p'), { gaps: { 'error-codes': answer } });
});
