import { join } from 'node:path';
import { Command } from 'commander';
import { renderLoadHtml } from '../../reports/load/load-html.ts';
import { loadOutcome } from '../../reports/load/load-outcome.ts';
import { writePrivately } from '../../reports/write-reports.ts';
import { SloError } from '../../scenarios/lib/slo.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { ResultUnreadable, readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import { MergeRefused, mergeResults } from '../../scenarios/runner/shards/merge-results.ts';
import { readRunnerLog } from '../../scenarios/runner/shards/runner-log.ts';
import { writeLoadReports } from './load-folder.ts';

const USAGE_ERROR = 2;
const INCONCLUSIVE = 3;
const THRESHOLD_BROKEN = 99;

interface MergeCommandOptions {
  readonly out: string;
  readonly slo?: string;
}

async function merge(paths: string[], { out, slo }: MergeCommandOptions, command: Command): Promise<void> {
  try {
    const results: LoadResult[] = [];
    for (const path of paths)
      results.push(await (path.endsWith('.log') ? readRunnerLog(path) : readLoadResult(path)));
    const merged = mergeResults(results, slo);
    await writePrivately(join(out, 'load-report.json'), `${JSON.stringify(merged, null, 1)}\n`);
    process.stdout.write(renderLoadResult(merged));
    const page = await writeLoadReports(out, loadOutcome(merged), renderLoadHtml({ result: merged }));
    process.stderr.write(`report: ${page}\n`);
    const { verdict } = merged;
    process.exitCode = verdict === 'held' ? 0 : verdict === 'broken' ? THRESHOLD_BROKEN : INCONCLUSIVE;
  } catch (error) {
    const known =
      error instanceof ResultUnreadable || error instanceof MergeRefused || error instanceof SloError;
    if (!known) throw error;
    command.error(`error: ${error.message}`, { exitCode: USAGE_ERROR });
  }
}

/** `merge`: what several runners of one load wrote, as one result. */
export const mergeCommand = new Command('merge')
  .argument('<dirs...>', 'folders with load-report.json, or logs of k6 runners (*.log)')
  .option('--out <dir>', 'folder for the merged result', 'petstore-results/merged')
  .option('--slo <objective>', 'judge this objective instead of the results’ own')
  .action(merge);
