import t from 'tap';
import { commandOf, required } from './check-options.ts';

t.test('what must not be skipped: all, permissions, plans, requirements', async (t) => {
  t.strictSame(required('all'), ['all']);
  t.strictSame(required('ban,pro', ['list-limit-range']), ['list-limit-range', 'ban', 'pro']);
  t.throws(() => required('bann'), {
    message: /^"bann" is not a permission, plan or requirement; did you mean "ban"\?/,
  });
});

t.test('the command that repeats a run carries what was required', async (t) => {
  const options = {
    profile: 'a b.yaml',
    permit: ['writes'],
    require: ['ban', 'pro'],
    only: ['4.1'],
  } as const;
  t.equal(
    commandOf(options),
    "npx petstore-harness check --profile 'a b.yaml' --permit writes --require ban,pro --only 4.1",
  );
});
