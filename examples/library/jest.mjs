// Save as conformance.test.mjs and run `NODE_OPTIONS=--experimental-vm-modules jest --testMatch "**/*.test.mjs"`.
// A jest test cannot skip itself: a skipped requirement passes and logs the reason.
import { test } from '@jest/globals';
import { conformance } from 'petstore-harness';

const skip = (reason) => console.log(`skipped: ${reason}`);
for (const { title, run } of conformance({ profile: 'petstore-profile.yaml' }))
  test(title, () => run({ skip }), 20 * 60_000);
