import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { packageRoot } from './package-root.ts';

/** The version of this package, as reports and the user-agent name it. */
export const HARNESS_VERSION = Value.Parse(
  Type.Object({ version: Type.String() }),
  JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')),
).version;
