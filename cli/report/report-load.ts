import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ResultReader } from '../../checks/run/stored-result.ts';
import type { FormatName } from '../../reports/formats.ts';
import { LOAD_FORMATS } from '../../reports/load/load-formats.ts';
import { renderCapacityHtml, renderLoadHtml } from '../../reports/load/load-html.ts';
import { capacityOutcome, type LoadOutcome, loadOutcome } from '../../reports/load/load-outcome.ts';
import { REPORT_FILE } from '../../reports/read-report.ts';
import type { TestRun } from '../../reports/test-run.ts';
import { CAPACITY_FORMAT_VERSION, type CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { renderCapacity } from '../../scenarios/runner/capacity/render-capacity.ts';
import { LOAD_FILE, readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import { UsageError } from '../shared/exit-codes.ts';

/** A stored run, which can be rendered. */
export interface Stored {
  /** The default format. */
  readonly usual: FormatName;
  render(format: FormatName): string;
  readonly run: TestRun;
}

const CAPACITY_FILE = 'capacity.json';

const capacityReader = new ResultReader<CapacityResult>({
  name: CAPACITY_FILE,
  what: 'the result of a capacity search',
  schema: 'reports/capacity.schema.json',
  versions: [CAPACITY_FORMAT_VERSION],
  // A search writes a few kilobytes for each step.
  mostBytes: 16 * 2 ** 20,
});

function holds(path: string, file: string): boolean {
  return basename(path) === file || (existsSync(join(path, file)) && !existsSync(join(path, REPORT_FILE)));
}

/** Whether the path is or holds the result of a load or of a search, not the report of a check. */
export function isLoadResult(path: string): boolean {
  return holds(path, LOAD_FILE) || holds(path, CAPACITY_FILE);
}

/** Rendered alike: a load result and a search for a capacity. */
const storedAs = (outcome: LoadOutcome, page: () => string, summary: () => string): Stored => ({
  run: outcome,
  usual: 'terminal',
  render(format) {
    if (format === 'html') return page();
    if (format === 'terminal') return summary();
    if (format === 'har') throw new UsageError('a load keeps no exchanges for the format har');
    return LOAD_FORMATS[format](outcome);
  },
});

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
  const stored = storedAs(
    loadOutcome(result),
    () => renderLoadHtml(result, compared),
    () => renderLoadResult(result),
  );
  if (base === undefined) return stored;
  return {
    ...stored,
    usual: 'html',
    render(format) {
      if (format === 'html') return stored.render(format);
      throw new UsageError('--base is for the format html; see compare for an exit code');
    },
  };
}

function storedCapacity(path: string, base: string | undefined): Stored {
  if (base !== undefined)
    throw new UsageError('--base is for a load result; two capacities are compared by their intervals');
  const read = capacityReader.read(path);
  if (!read.ok) throw new UsageError(read.problem);
  const result = read.value;
  return storedAs(
    capacityOutcome(result),
    () => renderCapacityHtml(result),
    () => renderCapacity(result),
  );
}
