// Run `node --test node-test.mjs`. Each requirement is a test; petstore-profile.yaml is a target profile.
import { test } from 'node:test';
import { conformance } from 'petstore-harness';

for (const { title, run } of conformance({ profile: 'petstore-profile.yaml' })) test(title, run);
