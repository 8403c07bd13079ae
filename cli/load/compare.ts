import { Command, InvalidArgumentError, Option } from 'commander';
import { type CompareFinding, compareBlocks } from '../../scenarios/runner/compare/compare-blocks.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { EXIT, UsageError } from '../shared/exit-codes.ts';

function percentage(text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text.trim() !== '' && value >= 0 && value <= 1000) return value / 100;
  throw new InvalidArgumentError('Write it like 4%.');
}

function warnings(base: LoadResult, head: LoadResult): string[] {
  const lines: string[] = [];
  for (const [name, { verdict }] of Object.entries({ base, head }))
    if (verdict !== 'held' && verdict !== 'broken') lines.push(`${name} is ${verdict}`);
  const [early, late] = [base.total.perSecond, head.total.perSecond];
  if (Math.abs(late / early - 1) > 0.1)
    lines.push(`different rates: ${early.toFixed(1)} and ${late.toFixed(1)} requests/s`);
  return lines;
}

const wordOf = ({ alarm, better, undecided }: CompareFinding) =>
  alarm ? '✗ worse' : undecided ? '? cannot tell' : better ? '✓ better' : '✓';

/** @throws ResultUnreadable, or UsageError for results of two scenarios */
async function compare(
  basePath: string,
  headPath: string,
  { tolerance: toleratedSlowdown }: { readonly tolerance: number },
): Promise<void> {
  const [base, head] = [readLoadResult(basePath), readLoadResult(headPath)];
  if (base.run.scenario !== head.run.scenario)
    throw new UsageError(
      `${base.run.scenario} and ${head.run.scenario} are different scenarios: compare two runs of one`,
    );
  const { findings, notCompared } = compareBlocks(base.series, head.series, { toleratedSlowdown });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  for (const finding of findings) {
    say(`  ${wordOf(finding)} ${finding.metric}: ${finding.actual}`);
    if (finding.spread !== undefined) say(`  note: ${finding.metric}: ${finding.spread}`);
  }
  for (const reason of notCompared) say(`  not compared: ${reason}`);
  for (const line of warnings(base, head)) say(`  note: ${line}`);
  const isUnsure =
    findings.length === 0 ||
    findings.some(({ undecided }) => undecided) ||
    [base, head].some(({ verdict }) => verdict === 'generator-limited');
  if (findings.some(({ alarm }) => alarm)) {
    say('\nWORSE than the base');
    process.exitCode = EXIT.notConformant;
  } else if (isUnsure) {
    say('\nCANNOT TELL: run both longer, on a quieter machine, or tolerate more');
    process.exitCode = EXIT.inconclusive;
  } else say('\nnot worse than the base');
}

const EXIT_CODES = `
Exit codes: 0 not worse, 1 HEAD is worse, 2 wrong usage or different scenarios, 3 cannot tell.`;

/** `compare`: whether one load result is worse than another, by a rank test over time blocks. */
export const compareCommand = new Command('compare')
  .argument('<base>', 'folder or load-report.json of the run to compare with')
  .argument('<head>', 'folder or load-report.json of the run in question')
  .addOption(
    new Option('--tolerance <percent>', 'tolerated slow-down of the median; four times that for p99')
      .default(0.04, '4%')
      .argParser(percentage),
  )
  .addHelpText('after', EXIT_CODES)
  .action(compare);
