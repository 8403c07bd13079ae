import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../checks/profile/usage-error.ts';
import type { Way } from '../../checks/wire/exchange-shape.ts';
import { wayTo } from '../../reports/facts.ts';
import { readCapacity } from '../../scenarios/runner/capacity/capacity.ts';
import { compareCapacities } from '../../scenarios/runner/compare/compare-capacities.ts';
import {
  type CompareFinding,
  type Comparison,
  compareSeries,
  ESTIMATOR,
} from '../../scenarios/runner/compare/compare-series.ts';
import { readLoadResult } from '../../scenarios/runner/result/load-result.ts';
import { isCapacity } from '../report/report-load.ts';
import { EXIT } from '../shared/exit-codes.ts';

function percentage(text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text.trim() !== '' && value >= 0 && value <= 1000) return value / 100;
  throw new InvalidArgumentError('Write it like 4%.');
}

/** What compares the two, what a reader must know of it, and whether one of them says nothing of its target. */
interface Compared extends Comparison {
  readonly notes: readonly string[];
  readonly isUnsure?: boolean;
}

interface Options {
  readonly tolerance: number;
}

function compareCapacityResults(basePath: string, headPath: string, { tolerance }: Options): Compared {
  const [base, head] = [readCapacity(basePath), readCapacity(headPath)];
  for (const [what, of] of [
    ['objectives', ({ run }: typeof base) => run.slo],
    ['mixes', ({ run }: typeof base) => JSON.stringify(run.mix)],
  ] as const)
    if (of(base) !== of(head)) throw new UsageError(`${of(base)} and ${of(head)} are different ${what}`);
  return {
    ...compareCapacities(base, head, { toleratedSlowdown: tolerance }),
    notes: waysApart(base.run, head.run),
  };
}

/** A warning where the two reached their targets in different ways. */
function waysApart(base: { way?: Way }, head: { way?: Way }): string[] {
  const [before, now] = [wayTo(base.way), wayTo(head.way)];
  if (before === undefined || now === undefined || before === now) return [];
  return [`different ways to the target: ${before}; ${now}`];
}

function compareLoads(basePath: string, headPath: string, { tolerance }: Options): Compared {
  const [base, head] = [readLoadResult(basePath), readLoadResult(headPath)];
  if (base.run.scenario !== head.run.scenario)
    throw new UsageError(
      `${base.run.scenario} and ${head.run.scenario} are different scenarios: compare two runs of one`,
    );
  const compared = compareSeries(base.series, head.series, { toleratedSlowdown: tolerance });
  const notes = [...(compared.findings.length === 0 ? [] : [ESTIMATOR]), ...waysApart(base.run, head.run)];
  for (const [name, { verdict }] of Object.entries({ base, head }))
    if (verdict !== 'held' && verdict !== 'broken') notes.push(`${name} is ${verdict}`);
  const [early, late] = [base.total.perSecond, head.total.perSecond];
  if (Math.abs(late / early - 1) > 0.1)
    notes.push(`different rates: ${early.toFixed(1)} and ${late.toFixed(1)} requests/s`);
  return {
    ...compared,
    notes,
    isUnsure: [base, head].some(({ verdict }) => verdict === 'generator-limited'),
  };
}

const WORDS: Readonly<Record<CompareFinding['verdict'], string>> = {
  worse: '✗ worse',
  better: '✓ better',
  same: '✓',
  unclear: '? cannot tell',
};

/** @throws UsageError for results that cannot be read or compared */
async function compare(basePath: string, headPath: string, options: Options): Promise<void> {
  const capacities = [basePath, headPath].filter(isCapacity).length;
  if (capacities === 1) throw new UsageError('one is a load and the other a capacity: compare two of a kind');
  const { findings, notCompared, notes, isUnsure } = (
    capacities === 2 ? compareCapacityResults : compareLoads
  )(basePath, headPath, options);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  for (const finding of findings) say(`  ${WORDS[finding.verdict]} ${finding.metric}: ${finding.actual}`);
  for (const reason of notCompared) say(`  not compared: ${reason}`);
  for (const line of notes) say(`  note: ${line}`);
  const isAny = (verdict: CompareFinding['verdict']) => findings.some((one) => one.verdict === verdict);
  if (isAny('worse')) {
    say('\nWORSE than the base');
    process.exitCode = EXIT.notConformant;
  } else if (isUnsure === true || findings.length === 0 || isAny('unclear')) {
    say('\nCANNOT TELL: run both longer, on a quieter machine, or tolerate more');
    process.exitCode = EXIT.inconclusive;
  } else say('\nnot worse than the base');
}

const EXIT_CODES = `
Exit codes: 0 not worse, 1 HEAD is worse, 2 wrong usage or two that cannot be compared, 3 cannot tell.`;

/** `compare`: whether one load result is worse than another, by a rank test over time blocks. */
export const command = new Command('compare')
  .argument('<base>', 'folder, load-report.json or capacity.json of the run to compare with')
  .argument('<head>', 'the same of the run in question')
  .addOption(
    new Option(
      '--tolerance <percent>',
      'tolerated slow-down of the median, or loss of capacity; four times that for p99',
    )
      .default(0.04, '4%')
      .argParser(percentage),
  )
  .addHelpText('after', EXIT_CODES)
  .action(compare);
