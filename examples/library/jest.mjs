// Save it as conformance.test.mjs; `NODE_OPTIONS=--experimental-vm-modules jest --testMatch "**/*.test.mjs"`. jest knows no
// skipping from within a test: what was skipped passes, and says so.
import { test } from '@jest/globals';
import { conformance } from 'petstore-harness';

const skip = (reason) => console.log(`skipped: ${reason}`);
for (const { title, run } of conformance({ profile: 'petstore.yaml' }))
  test(title, () => run({ skip }), 20 * 60_000);
