import { Command, InvalidArgumentError, Option } from 'commander';
import { compareBlocks } from '../../scenarios/runner/compare/compare-blocks.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { ResultUnreadable, readLoadResult } from '../../scenarios/runner/result/read-result.ts';

const USAGE_ERROR = 2;
const INCONCLUSIVE = 3;
const WORSE = 1;

interface CompareCommandOptions {
  readonly tolerance: number;
}

function percentage(text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text.trim() !== '' && value >= 0 && value <= 1000) return value / 100;
  throw new InvalidArgumentError('Write it like 4%.');
}

function warnings(base: LoadResult, head: LoadResult): string[] {
  const lines: string[] = [];
  if (base.run.scenario !== head.run.scenario) {
    lines.push(`different scenarios: ${base.run.scenario} and ${head.run.scenario}`);
  }
  for (const [name, { verdict }] of Object.entries({ base, head })) {
    if (verdict !== 'held' && verdict !== 'broken') lines.push(`${name} is ${verdict}`);
  }
  const [early, late] = [base.total.perSecond, head.total.perSecond];
  if (Math.abs(late / early - 1) > 0.1) {
    lines.push(`different rates: ${early.toFixed(1)} and ${late.toFixed(1)} requests/s`);
  }
  return lines;
}

async function compare(
  basePath: string,
  headPath: string,
  options: CompareCommandOptions,
  command: Command,
): Promise<void> {
  let base: LoadResult;
  let head: LoadResult;
  try {
    [base, head] = [await readLoadResult(basePath), await readLoadResult(headPath)];
  } catch (error) {
    if (!(error instanceof ResultUnreadable)) throw error;
    command.error(`error: ${error.message}`, { exitCode: USAGE_ERROR });
  }
  const { findings, notCompared } = compareBlocks(base.series, head.series, {
    toleratedSlowdown: options.tolerance,
  });
  for (const { metric, alarm, better, actual } of findings) {
    const word = alarm ? '✗ worse' : better ? '✓ better' : '✓';
    process.stdout.write(`  ${word} ${metric}: ${actual}\n`);
  }
  for (const reason of notCompared) process.stdout.write(`  not compared: ${reason}\n`);
  const doubts = warnings(base, head);
  for (const line of doubts) process.stdout.write(`  note: ${line}\n`);
  const alarm = findings.some((finding) => finding.alarm);
  const unsure = findings.length === 0 || [base, head].some(({ verdict }) => verdict === 'generator-limited');
  const words = alarm ? 'WORSE than the base' : unsure ? 'NO VERDICT' : 'not worse than the base';
  process.stdout.write(`\n${words}\n`);
  process.exitCode = alarm ? WORSE : unsure ? INCONCLUSIVE : 0;
}

/** `compare`: whether one load result is worse than another, by a rank test over time blocks. */
export const compareCommand = new Command('compare')
  .description('compare two load results; exit code 1 where HEAD is worse')
  .argument('<base>', 'folder or load-report.json of the run to compare with')
  .argument('<head>', 'folder or load-report.json of the run in question')
  .addOption(
    new Option(
      '--tolerance <percent>',
      'a slow-down of the median that nobody minds; four times that for p99',
    )
      .default(0.04, '4%')
      .argParser(percentage),
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : USAGE_ERROR))
  .action(compare);
