import { Command } from '@commander-js/extra-typings';
import { conclude } from '../../scenarios/runner/result/conclude.ts';
import { readLoadResult } from '../../scenarios/runner/result/load-result.ts';
import { type ResultPart, readRunnerLog } from '../../scenarios/runner/result/recording.ts';
import { loadExitCode, tellLoad } from './load-folder.ts';

/** @throws UsageError that names what is wrong */
async function merge(
  paths: string[],
  { out, slo }: { readonly out: string; readonly slo?: string },
): Promise<void> {
  const parts: ResultPart[] = [];
  for (const path of paths)
    parts.push(path.endsWith('.log') ? await readRunnerLog(path) : readLoadResult(path));
  const merged = conclude(parts, slo);
  await tellLoad(out, merged);
  process.exitCode = loadExitCode(merged);
}

/** `merge`: the results of several runners of one load as one. */
export const command = new Command('merge')
  .argument('<dirs...>', 'folders with load-report.json, or logs of k6 runners (*.log)')
  .option('--out <dir>', 'folder for the merged result', 'petstore-results/merged')
  .option('--slo <objective>', 'judge this objective instead of the one in the results')
  .action(merge);
