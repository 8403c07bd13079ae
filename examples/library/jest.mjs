// Save as conformance.test.mjs and run `NODE_OPTIONS=--experimental-vm-modules jest --testMatch "**/*.test.mjs"`.
// A jest test cannot skip itself, so each one is run before jest hears of it.
import { test } from '@jest/globals';
import { conformance } from 'petstore-harness';

for (const { title, run } of conformance({ profile: 'petstore-profile.yaml' })) {
  let isSkipped = false;
  const skip = () => {
    isSkipped = true;
  };
  const [{ reason }] = await Promise.allSettled([run({ skip })]);
  (isSkipped ? test.skip : test)(title, () => {
    if (reason !== undefined) throw reason;
  });
}
