// `tap tap.mjs`: each requirement a subtest of tap, which ends as soon as the requirement is settled.
import { conformance } from 'petstore-harness';
import t from 'tap';

// Windows and bans take minutes, more than a test is usually given.
t.setTimeout(20 * 60_000);
for (const { title, run } of conformance({ profile: 'petstore.yaml' })) {
  t.test(title, (t) => run({ skip: (why) => t.plan(0, why), pass: (why) => t.pass(why) }));
}
