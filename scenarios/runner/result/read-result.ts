import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fileText } from '../../../checks/profile/file-text.ts';
import { packageRoot } from '../../../spec/package-root.ts';
import { histogramFrom } from './figures.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult } from './load-result.ts';

/** A file that is no load result, or one of another format; the message names the file and the place. */
export class ResultUnreadable extends Error {
  override readonly name = 'ResultUnreadable';
}

const schema: unknown = JSON.parse(
  readFileSync(new URL('scenarios/runner/result/load-result.schema.json', packageRoot), 'utf8'),
);
if (typeof schema !== 'object' || schema === null)
  throw new TypeError('load-result.schema.json holds no schema');
const isLoadResult = new Ajv2020({ strict: true, allowUnionTypes: true }).compile<LoadResult>(schema);

/**
 * Reads a load result: a file, or a folder with load-report.json in it.
 *
 * @throws ResultUnreadable
 */
export async function readLoadResult(path: string): Promise<LoadResult> {
  let file = path;
  let parsed: unknown;
  try {
    if ((await stat(path)).isDirectory()) file = join(path, 'load-report.json');
    parsed = JSON.parse(fileText(file));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ResultUnreadable(`${file} is not JSON`);
    if (error instanceof Error && 'code' in error)
      throw new ResultUnreadable(`${file} cannot be read (${String(error.code)})`);
    throw new ResultUnreadable(`${file} ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof parsed === 'object' && parsed !== null && 'formatVersion' in parsed) {
    if (parsed.formatVersion !== LOAD_RESULT_FORMAT_VERSION) {
      throw new ResultUnreadable(
        `${file} has format ${String(parsed.formatVersion)}; this version reads ${LOAD_RESULT_FORMAT_VERSION}`,
      );
    }
  }
  if (!isLoadResult(parsed)) {
    const [first] = isLoadResult.errors ?? [];
    throw new ResultUnreadable(
      `${file} is not a load result: ${first?.instancePath || 'the whole'} ${first?.message ?? ''}`,
    );
  }
  try {
    for (const { latency } of parsed.series) if (latency !== null) histogramFrom(latency.histogram);
  } catch {
    throw new ResultUnreadable(`${file} has a histogram that cannot be decoded`);
  }
  return parsed;
}
