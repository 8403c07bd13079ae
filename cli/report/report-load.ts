import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FormatName } from '../../reports/formats.ts';
import { renderCapacityHtml } from '../../reports/load/capacity-html.ts';
import { LOAD_FORMATS, loadFile } from '../../reports/load/load-formats.ts';
import { renderLoadHtml } from '../../reports/load/load-html.ts';
import { capacityOutcome, type LoadOutcome, loadOutcome } from '../../reports/load/load-outcome.ts';
import { CAPACITY_FILE, readCapacity } from '../../reports/load/read-capacity.ts';
import { REPORT_FILE } from '../../reports/read-report.ts';
import { renderCapacity } from '../../scenarios/runner/capacity/render-capacity.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { ResultUnreadable, readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import type { Fail } from './report-output.ts';

const LOAD_FILE = 'load-report.json';

function holds(path: string, file: string): boolean {
  return basename(path) === file || (existsSync(join(path, file)) && !existsSync(join(path, REPORT_FILE)));
}

/** Whether the path is, or holds, the result of a load run or of a search, rather than the report of a check. */
export function isLoadResult(path: string): boolean {
  return holds(path, LOAD_FILE) || holds(path, CAPACITY_FILE);
}

/** A load result, or a search for a capacity, with what shows it. */
interface Shown {
  readonly outcome: LoadOutcome;
  readonly html: () => string;
  readonly terminal: () => string;
}

/** A rendering: its format and its text. */
export interface Rendering {
  readonly file: string;
  readonly text: string;
}

/**
 * A load result in the formats asked for: the summary, or where a base to compare with is named the page, which alone
 * shows a comparison.
 */
export async function loadRenderings(
  fail: Fail,
  path: string,
  options: { readonly formats: readonly FormatName[] | undefined; readonly base: string | undefined },
): Promise<(Rendering & { readonly markdown: () => string })[]> {
  const { base } = options;
  const formats = options.formats ?? [base === undefined ? 'terminal' : 'html'];
  if (base !== undefined && formats.some((name) => name !== 'html'))
    fail('--base is for the format html; see compare for an exit code');
  const shown = holds(path, CAPACITY_FILE) ? capacity(fail, path, base) : await load(fail, path, base);
  return formats.map((name) => ({
    file: loadFile(name),
    text: name === 'html' || name === 'terminal' ? shown[name]() : LOAD_FORMATS[name](shown.outcome),
    markdown: () => LOAD_FORMATS.markdown(shown.outcome),
  }));
}

function capacity(fail: Fail, path: string, base: string | undefined): Shown {
  if (base !== undefined) fail('--base is for a load result; two capacities are compared by their intervals');
  const read = readCapacity(path);
  if (!read.ok) return fail(read.problem);
  const { result } = read;
  return {
    outcome: capacityOutcome(result),
    html: () => renderCapacityHtml(result),
    terminal: () => renderCapacity(result),
  };
}

async function load(fail: Fail, path: string, base: string | undefined): Promise<Shown> {
  const read = async (from: string): Promise<LoadResult> => {
    try {
      return await readLoadResult(from);
    } catch (error) {
      if (error instanceof ResultUnreadable) return fail(error.message);
      throw error;
    }
  };
  const result = await read(path);
  const compared = base === undefined ? {} : { base: { result: await read(base) } };
  return {
    outcome: loadOutcome(result),
    html: () => renderLoadHtml({ result, ...compared }),
    terminal: () => renderLoadResult(result),
  };
}
