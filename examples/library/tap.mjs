// `tap tap.mjs`: each requirement a subtest of tap, which ends as soon as the requirement is settled.
import { conformance } from 'petstore-harness';
import t from 'tap';

// Windows and bans take minutes, more than a test is usually given.
t.setTimeout(20 * 60_000);
for (const { title, run } of conformance({ profile: 'petstore.yaml' })) {
  t.test(title, async (t) => {
    const { verdict, reason } = await run({ skip: (why) => t.plan(0, why) });
    if (verdict === 'pass') t.pass(reason);
  });
}
