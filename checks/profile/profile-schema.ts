/** The schema of profiles, which editors read too. */
import { readFileSync } from 'node:fs';
import { packageRoot } from '../../spec/package-root.ts';

/** Where editors find the schema. */
export const SCHEMA_ADDRESS = 'https://unpkg.com/petstore-harness/checks/profile/profile.schema.json';

export const profileSchema = JSON.parse(
  readFileSync(new URL('checks/profile/profile.schema.json', packageRoot), 'utf8'),
);
