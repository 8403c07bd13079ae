// `node --test node-test.mjs`: each requirement a test of node:test. petstore.yaml is a target profile.
import { test } from 'node:test';
import { conformance } from 'petstore-harness';

for (const { title, run } of conformance({ profile: 'petstore.yaml' })) test(title, run);
