import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { renderLoadHtml } from '../reports/load-html.ts';
import { REPORT_FILE } from '../reports/read-report.ts';
import type { LoadResult } from '../scenarios/runner/load-result.ts';
import { ResultUnreadable, readLoadResult } from '../scenarios/runner/read-result.ts';
import { type Fail, put } from './report-output.ts';

const LOAD_FILE = 'load-report.json';

/** Whether the path is, or holds, the result of a load run rather than the report of a check. */
export function isLoadResult(path: string): boolean {
  return (
    basename(path) === LOAD_FILE ||
    (existsSync(join(path, LOAD_FILE)) && !existsSync(join(path, REPORT_FILE)))
  );
}

/** The page on a load result, compared with an earlier one where that is named. */
export async function renderLoad(
  fail: Fail,
  path: string,
  options: { readonly format?: readonly string[]; readonly out?: string; readonly base?: string },
): Promise<void> {
  if (options.format !== undefined && options.format.join() !== 'html')
    fail('a load result has the format html');
  const read = async (from: string): Promise<LoadResult> => {
    try {
      return await readLoadResult(from);
    } catch (error) {
      if (error instanceof ResultUnreadable) return fail(error.message);
      throw error;
    }
  };
  const result = await read(path);
  const base = options.base === undefined ? undefined : await read(options.base);
  await put(
    renderLoadHtml(base === undefined ? { result } : { result, base: { result: base } }),
    options.out,
  );
}
