import fc from 'fast-check';
import t from 'tap';
import { parseProfile } from './parse-profile.ts';
import { PERMISSIONS } from './permissions.ts';
import { KEY_ROLES, type TargetProfile } from './target-profile.ts';
import { pinnedProfileYaml, profileYaml } from './write-profile.ts';

const profiles: fc.Arbitrary<TargetProfile> = fc.record({
  target: fc.constantFrom(undefined, 'https://staging.example.com/v1', 'http://[::1]:8080/v1'),
  keys: fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9._-]{0,10}$/),
      plan: fc.constantFrom('free', 'pro', 'business', 'enterprise'),
      env: fc.stringMatching(/^PETSTORE_[A-Z]{1,8}$/),
      roles: fc.uniqueArray(fc.constantFrom(...KEY_ROLES), { minLength: 1 }),
      unusedToday: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4, comparator: (a, b) => a.name === b.name || a.env === b.env },
  ),
  plans: fc.constant({ enterprise: { perMinute: 5000, perDay: 1_000_000 } }),
  permit: fc.uniqueArray(fc.constantFrom(...PERMISSIONS)),
  load: fc.record({ allowed: fc.boolean() }),
  gaps: fc.constantFrom({}, { 'limit-out-of-range': 'clamped' }, { 'ban-threshold': '10' }),
  clock: fc.record({ speed: fc.constantFrom(1, 60, 12.5) }),
  samples: fc.constantFrom({}, { categoryId: 2n ** 63n - 1n }),
});

t.test('whatever is written is read back the same', (t) => {
  fc.assert(
    fc.property(profiles, (profile) => {
      const read = parseProfile(profileYaml(profile), 'written');
      if (!read.ok) throw new Error(JSON.stringify(read.problems));
      t.same({ ...read.profile, gaps: { ...read.profile.gaps } }, profile);
    }),
    { numRuns: 60 },
  );
  t.end();
});

t.test('a pinned profile keeps comments, replaces old answers and says what was asked', (t) => {
  const written = `# ours
target: https://staging.example.com/v1 # moves in May
keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]
gaps:
  limit-out-of-range: clamped # for now
samples: { categoryId: 9223372036854775807 }
`;
  const read = parseProfile(written, 'p');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  const text = pinnedProfileYaml(written, read.profile, [
    { id: 'limit-out-of-range', question: 'What about 0?', answer: 'rejected-400' },
    { id: 'ban-threshold', question: 'How many requests?', answer: '10' },
  ]);
  t.match(text, '# ours\n');
  t.match(text, '# moves in May\n');
  t.match(text, /^ {2}limit-out-of-range: rejected-400/m);
  t.match(text, '  # How many requests?\n  ban-threshold: "10"\n');
  t.match(text, 'categoryId: 9223372036854775807');
  const again = parseProfile(text, 'p');
  t.match(again, {
    ok: true,
    profile: { gaps: { 'limit-out-of-range': 'rejected-400', 'ban-threshold': '10' } },
  });
  t.end();
});

t.test('what was pinned and is not observed this time stays, each answer at its place', (t) => {
  const written = `keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]
gaps:
  limit-out-of-range: clamped
  ban-threshold: 3
  # asked for by the app
  retry-after-format: seconds
  ban-answer: banned-401
`;
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]', 'p');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  const text = pinnedProfileYaml(written, read.profile, [
    { id: 'limit-out-of-range', question: 'What about 0?', answer: 'rejected-400' },
    { id: 'ban-answer', question: 'How is a ban answered?', answer: 'banned-403' },
    { id: 'list-order', question: 'In which order?', answer: 'oldest-first' },
  ]);
  t.equal(
    text,
    `keys: [ { name: free-1, plan: free, env: PETSTORE_FREE_KEY } ]
gaps:
  limit-out-of-range: rejected-400
  ban-threshold: 3
  # asked for by the app
  retry-after-format: seconds
  ban-answer: banned-403
  # In which order?
  list-order: oldest-first
`,
  );
  t.end();
});

t.test('a profile says no more than was said to it', (t) => {
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]', 'p');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  t.equal(
    profileYaml(read.profile),
    `# yaml-language-server: $schema=https://unpkg.com/petstore-harness/checks/profile/profile.schema.json

keys:
  - name: free-1
    plan: free
    env: PETSTORE_FREE_KEY
    roles:
      - functional
permit: []
`,
  );
  t.end();
});

t.test('an answer is on one line, which a comparison of two profiles shows as one', (t) => {
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]', 'p');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  const answer = '400 invalid_animal, 401 no_such_key, 404 no_such_animal, 429 too_many_requests';
  const line = `  error-codes: ${answer}\n`;
  t.ok(line.length > 80);
  const { profile } = read;
  t.match(profileYaml({ ...profile, gaps: { 'error-codes': answer } }), line);
  t.match(pinnedProfileYaml(undefined, profile, [{ id: 'error-codes', question: 'Which?', answer }]), line);
  t.end();
});

t.test('without a file of its own the profile is written from what was used', (t) => {
  const read = parseProfile('keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]', 'p');
  if (!read.ok) throw new Error('the test’s profile is wrong');
  const text = pinnedProfileYaml(undefined, read.profile, [
    { id: 'ban-threshold', question: 'How many?', answer: 'no-ban-seen' },
  ]);
  t.match(parseProfile(text, 'p'), {
    ok: true,
    profile: { keys: [{ name: 'free-1' }], gaps: { 'ban-threshold': 'no-ban-seen' } },
  });
  t.end();
});
