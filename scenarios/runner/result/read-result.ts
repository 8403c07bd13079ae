import { ResultReader } from '../../../checks/run/stored-result.ts';
import { histogramFrom } from './figures.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult } from './load-result.ts';

/** The file is not a load result, or has another format; the message names the file and the place. */
export class ResultUnreadable extends Error {
  override readonly name = 'ResultUnreadable';
}

/** Name of the result in a folder of results. */
export const LOAD_FILE = 'load-report.json';

const reader = new ResultReader<LoadResult>({
  name: LOAD_FILE,
  what: 'a load result',
  schema: 'scenarios/runner/result/load-result.schema.json',
  versions: [LOAD_RESULT_FORMAT_VERSION],
});

/**
 * Reads a load result: a file, or a folder with load-report.json in it.
 *
 * @throws ResultUnreadable
 */
export function readLoadResult(path: string): LoadResult {
  const read = reader.read(path);
  if (!read.ok) throw new ResultUnreadable(read.problem);
  try {
    for (const { latency } of read.value.series) if (latency !== null) histogramFrom(latency.histogram);
  } catch {
    throw new ResultUnreadable(`${read.file} has a histogram that cannot be decoded`);
  }
  return read.value;
}
