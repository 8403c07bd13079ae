import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fileText } from '../../checks/profile/file-text.ts';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { packageRoot } from '../../spec/package-root.ts';

/** Name of the file in a folder of results. */
export const CAPACITY_FILE = 'capacity.json';

const schema: unknown = JSON.parse(
  readFileSync(new URL('reports/capacity.schema.json', packageRoot), 'utf8'),
);
if (typeof schema !== 'object' || schema === null)
  throw new Error('reports/capacity.schema.json is no schema');
const isCapacity = new Ajv2020({ strict: true, allowUnionTypes: true }).compile<CapacityResult>(schema);

/** The largest that a search can write is a few kilobytes a step. */
const LARGEST_BYTES = 16 * 2 ** 20;

/**
 * Reads the result of a search for a capacity and validates it against reports/capacity.schema.json.
 *
 * @param path a capacity.json, or a folder that holds one
 */
export function readCapacity(
  path: string,
): { readonly ok: true; readonly result: CapacityResult } | { readonly ok: false; readonly problem: string } {
  let file = path;
  let value: unknown;
  try {
    if (statSync(path).isDirectory()) file = join(path, CAPACITY_FILE);
    value = JSON.parse(fileText(file, LARGEST_BYTES));
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: `${file}: is not JSON; was it cut off?` };
    return { ok: false, problem: `${file}: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (isCapacity(value)) return { ok: true, result: value };
  const [first] = isCapacity.errors ?? [];
  return {
    ok: false,
    problem: `${file}: is no result of a search for a capacity: ${first?.instancePath || '/'} ${first?.message ?? ''}`,
  };
}
