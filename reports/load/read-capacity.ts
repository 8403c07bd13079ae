import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { schemaProblem, storedText } from '../read-report.ts';

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
  const { file, ...stored } = storedText(path, CAPACITY_FILE, LARGEST_BYTES);
  const refused = (problem: string) => ({ ok: false, problem: `${file}: ${problem}` }) as const;
  if ('problem' in stored) return refused(stored.problem);
  let result: unknown;
  try {
    result = JSON.parse(stored.text);
  } catch {
    return refused('is not JSON; was it cut off?');
  }
  if (isCapacity(result)) return { ok: true, result };
  return refused(`is not the result of a capacity search: ${schemaProblem(isCapacity.errors)}`);
}
