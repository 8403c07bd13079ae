// Save as conformance.test.mjs and run `vitest run`. Each requirement is a test, with time for windows and bans.
import { conformance } from 'petstore-harness';
import { test } from 'vitest';

for (const { title, run } of conformance({ profile: 'petstore-profile.yaml' }))
  test(title, { timeout: 60 * 60_000 }, run);
