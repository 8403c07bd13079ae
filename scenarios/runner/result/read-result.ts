import { resultReader } from '../../../checks/run/stored-result.ts';
import { CAPACITY_FORMAT_VERSION, type CapacityResult, CapacityShape } from '../capacity/capacity.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult, LoadResultShape } from './load-result.ts';

/** Names of the results in a folder. */
export const LOAD_FILE = 'load-report.json';
export const CAPACITY_FILE = 'capacity.json';

/**
 * Reads a load result: a file, or a folder with load-report.json in it.
 *
 * @throws UsageError
 */
export const readLoadResult = resultReader<LoadResult>({
  name: LOAD_FILE,
  what: 'a load result',
  schema: LoadResultShape,
  version: LOAD_RESULT_FORMAT_VERSION,
});

/**
 * Reads the result of a search for a capacity: a file, or a folder with capacity.json in it.
 *
 * @throws UsageError
 */
export const readCapacity = resultReader<CapacityResult>({
  name: CAPACITY_FILE,
  what: 'the result of a capacity search',
  schema: CapacityShape,
  version: CAPACITY_FORMAT_VERSION,
});
