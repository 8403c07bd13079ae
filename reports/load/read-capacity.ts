import { ResultReader } from '../../checks/run/stored-result.ts';
import { CAPACITY_FORMAT_VERSION, type CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';

/** Name of the file in a folder of results. */
export const CAPACITY_FILE = 'capacity.json';

/** Reads the result of a search for a capacity. A search writes a few kilobytes for each step. */
export const capacityReader = new ResultReader<CapacityResult>({
  name: CAPACITY_FILE,
  what: 'the result of a capacity search',
  schema: 'reports/capacity.schema.json',
  versions: [CAPACITY_FORMAT_VERSION],
  mostBytes: 16 * 2 ** 20,
});
