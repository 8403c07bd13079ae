// Run `node --test node-test.mjs`. Each requirement is a test; petstore.yaml is a target profile.
import { test } from 'node:test';
import { conformance } from 'petstore-harness';

for (const { title, run } of conformance({ profile: 'petstore.yaml' })) test(title, run);
