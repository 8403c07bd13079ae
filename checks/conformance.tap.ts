/**
 * The checks as a tap test, live: `PETSTORE_PROFILE=staging.yaml npx tap checks/conformance.tap.ts`. Without a profile it
 * is the embedded reference server that is checked, with everything permitted but whole days.
 */
import t from 'tap';
import { conformance } from '../cli/library.ts';

const { PETSTORE_PROFILE: profile } = process.env;

// The run has a limit of its own, which a target's windows and bans make longer than that of any test.
t.setTimeout(2 ** 31 - 1);
for (const { title, run } of conformance(
  profile === undefined ? { permit: ['writes', 'exhaust', 'ban'] } : { profile },
)) {
  t.test(title, (t) => run({ skip: (why) => t.plan(0, why), pass: (why) => t.pass(why) }));
}
