// Run `tap tap.mjs`. Each requirement is a subtest, which ends as soon as its verdict is known.
import { conformance } from 'petstore-harness';
import t from 'tap';

// The run has a limit of its own, which windows and bans make longer than the default of a test.
t.setTimeout(60 * 60_000);
for (const { title, run } of conformance({ profile: 'petstore-profile.yaml' })) {
  t.test(title, (t) => run({ skip: (why) => t.plan(0, why), pass: (why) => t.pass(why) }));
}
