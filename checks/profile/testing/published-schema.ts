/** `npm run schemas`: writes the schema that the package publishes, from the one definition of a profile. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../spec/package-root.ts';
import { profileSchema } from '../target-profile.ts';

export const SCHEMA_FILE = new URL('checks/profile/profile.schema.json', packageRoot);

/** A part of the schema as editors read it: what has a default need not be written. */
function published(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(published);
  if (typeof part !== 'object' || part === null) return part;
  const { required, ...others }: { required?: unknown } & object = part;
  const needed = Array.isArray(required)
    ? { required: required.filter((name) => !('default' in Object(Object(others).properties)[name])) }
    : {};
  return {
    ...needed,
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, published(value)])),
  };
}

/** The schema as editors read it. */
export function publishedSchema(): string {
  const named = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Target profile of petstore-harness',
  };
  return `${JSON.stringify({ ...named, ...Object(published(profileSchema)) }, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SCHEMA_FILE, publishedSchema());
