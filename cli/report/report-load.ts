import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FormatName } from '../../reports/formats.ts';
import { LOAD_FORMATS, type LoadFormatName } from '../../reports/load/load-formats.ts';
import { renderCapacityHtml, renderLoadHtml } from '../../reports/load/load-html.ts';
import { capacityOutcome, loadOutcome } from '../../reports/load/load-outcome.ts';
import { CAPACITY_FILE, capacityReader } from '../../reports/load/read-capacity.ts';
import { REPORT_FILE } from '../../reports/read-report.ts';
import type { TestRun } from '../../reports/test-run.ts';
import { renderCapacity } from '../../scenarios/runner/capacity/render-capacity.ts';
import { LOAD_FILE, readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import { UsageError } from '../shared/exit-codes.ts';

/** A stored run, which can be rendered. */
export interface Stored {
  /** The default format. */
  readonly usual: FormatName;
  render(format: FormatName): string;
  /** The run as test cases. */
  readonly run: TestRun;
}

function holds(path: string, file: string): boolean {
  return basename(path) === file || (existsSync(join(path, file)) && !existsSync(join(path, REPORT_FILE)));
}

/** Whether the path is or holds the result of a load or of a search, not the report of a check. */
export function isLoadResult(path: string): boolean {
  return holds(path, LOAD_FILE) || holds(path, CAPACITY_FILE);
}

/**
 * A load result, or a search for a capacity.
 *
 * @param base an earlier load result to compare with, which only the page shows
 * @throws UsageError, ResultUnreadable
 */
export function storedLoad(path: string, base: string | undefined): Stored {
  if (holds(path, CAPACITY_FILE)) return storedCapacity(path, base);
  const result = readLoadResult(path);
  const compared = base === undefined ? undefined : readLoadResult(base);
  const outcome = loadOutcome(result);
  return {
    run: outcome,
    usual: base === undefined ? 'terminal' : 'html',
    render(format) {
      if (format === 'html') return renderLoadHtml(result, compared);
      if (base !== undefined)
        throw new UsageError('--base is for the format html; see compare for an exit code');
      return format === 'terminal' ? renderLoadResult(result) : LOAD_FORMATS[kept(format)](outcome);
    },
  };
}

/** @throws UsageError for the format of exchanges, which a load does not keep */
function kept(format: LoadFormatName | 'har'): LoadFormatName {
  if (format === 'har') throw new UsageError('a load keeps no exchanges for the format har');
  return format;
}

function storedCapacity(path: string, base: string | undefined): Stored {
  if (base !== undefined)
    throw new UsageError('--base is for a load result; two capacities are compared by their intervals');
  const read = capacityReader.read(path);
  if (!read.ok) throw new UsageError(read.problem);
  const result = read.value;
  const outcome = capacityOutcome(result);
  return {
    run: outcome,
    usual: 'terminal',
    render(format) {
      if (format === 'html') return renderCapacityHtml(result);
      return format === 'terminal' ? renderCapacity(result) : LOAD_FORMATS[kept(format)](outcome);
    },
  };
}
