import { join } from 'node:path';
import { Command } from 'commander';
import { writePrivately } from '../../reports/write-reports.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import { mergeResults } from '../../scenarios/runner/shards/merge-results.ts';
import { readRunnerLog } from '../../scenarios/runner/shards/runner-log.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { writeLoadReports } from './load-folder.ts';

/** @throws ResultUnreadable, MergeRefused, SloError and UnwritableReport, which name what is wrong */
async function merge(
  paths: string[],
  { out, slo }: { readonly out: string; readonly slo?: string },
): Promise<void> {
  const results: LoadResult[] = [];
  for (const path of paths)
    results.push(path.endsWith('.log') ? await readRunnerLog(path) : readLoadResult(path));
  const merged = mergeResults(results, slo);
  await writePrivately(join(out, 'load-report.json'), `${JSON.stringify(merged, null, 1)}\n`);
  process.stdout.write(renderLoadResult(merged));
  process.stderr.write(`report: ${await writeLoadReports(out, merged)}\n`);
  const { verdict } = merged;
  process.exitCode = verdict === 'held' ? 0 : verdict === 'broken' ? EXIT.thresholdBroken : EXIT.inconclusive;
}

/** `merge`: the results of several runners of one load as one. */
export const mergeCommand = new Command('merge')
  .argument('<dirs...>', 'folders with load-report.json, or logs of k6 runners (*.log)')
  .option('--out <dir>', 'folder for the merged result', 'petstore-results/merged')
  .option('--slo <objective>', 'judge this objective instead of the one in the results')
  .action(merge);
