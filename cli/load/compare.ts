import { Command, Option } from '@commander-js/extra-typings';
import { UsageError } from '../../checks/profile/usage-error.ts';
import type { Way } from '../../checks/wire/exchange-shape.ts';
import { wayTo } from '../../reports/facts.ts';
import { mixText } from '../../reports/load/load-report.ts';
import { readCapacity } from '../../scenarios/runner/capacity/result.ts';
import {
  type CompareFinding,
  compareCapacities,
  compareSeries,
  ESTIMATOR,
} from '../../scenarios/runner/compare/compare-series.ts';
import { readLoadResult } from '../../scenarios/runner/result/load-result.ts';
import { wrap } from '../../spec/text-table.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { numberFrom } from '../shared/option-values.ts';
import { columnsOf } from '../shared/screen.ts';
import { isCapacity } from './load-folder.ts';

/** @throws UsageError for two that do not have the same in common */
function refuseOthers(what: string, base: string, head: string): void {
  if (base !== head)
    throw new UsageError(`${base} and ${head} are different ${what}: compare two runs of one`);
}

/** A warning where the two reached their targets in different ways. */
function waysApart(base: { way?: Way }, head: { way?: Way }): string[] {
  const [before, now] = [wayTo(base.way), wayTo(head.way)];
  if (before === undefined || now === undefined || before === now) return [];
  return [`different ways to the target: ${before}; ${now}`];
}

/** @returns what compares the two, what a reader must know of it, and whether one of them says nothing of its target */
function compareCapacityResults(basePath: string, headPath: string, tolerance: number) {
  const [base, head] = [readCapacity(basePath), readCapacity(headPath)];
  refuseOthers('objectives', base.run.slo, head.run.slo);
  refuseOthers('mixes', mixText(base.run.mix), mixText(head.run.mix));
  const compared = compareCapacities(base, head, tolerance);
  return { ...compared, notes: waysApart(base.run, head.run), isUnsure: false };
}

/** The same of two loads. */
function compareLoads(basePath: string, headPath: string, tolerance: number) {
  const [base, head] = [readLoadResult(basePath), readLoadResult(headPath)];
  refuseOthers('scenarios', base.run.scenario, head.run.scenario);
  const compared = compareSeries(base.series, head.series, tolerance);
  const notes = [...(compared.findings.length === 0 ? [] : [ESTIMATOR]), ...waysApart(base.run, head.run)];
  for (const [name, { verdict }] of Object.entries({ base, head }))
    if (verdict !== 'held' && verdict !== 'broken') notes.push(`${name} is ${verdict}`);
  const [early, late] = [base.total.perSecond, head.total.perSecond];
  if (Math.abs(late / early - 1) > 0.1)
    notes.push(`different rates: ${early.toFixed(1)} and ${late.toFixed(1)} requests/s`);
  const isUnsure = [base, head].some(({ verdict }) => verdict === 'generator-limited');
  return { ...compared, notes, isUnsure };
}

const WORDS: Readonly<Record<CompareFinding['verdict'], string>> = {
  worse: '✗ worse',
  better: '✓ better',
  same: '✓',
  unclear: '? cannot tell',
};

/** @throws UsageError for results that cannot be read or compared */
function compare(base: string, head: string, { tolerance }: { readonly tolerance: number }): void {
  const compared = isCapacity(base) ? compareCapacityResults : compareLoads;
  const { findings, notCompared, notes, isUnsure } = compared(base, head, tolerance);
  const columns = columnsOf(process.stdout);
  const say = (line: string, sign = '') =>
    void process.stdout.write(`${wrap(line, { columns }, sign).join('\n')}\n`);
  for (const { verdict, metric, actual } of findings) say(`${metric}: ${actual}`, `  ${WORDS[verdict]} `);
  for (const reason of notCompared) say(reason, '  not compared: ');
  for (const line of notes) say(line, '  note: ');
  const isAny = (verdict: CompareFinding['verdict']) => findings.some((one) => one.verdict === verdict);
  if (isAny('worse')) {
    say('\nWORSE than the base');
    process.exitCode = EXIT.notConformant;
  } else if (isUnsure || findings.length === 0 || isAny('unclear')) {
    say('\nCANNOT TELL: run both longer, on a quieter machine, or tolerate more');
    process.exitCode = EXIT.inconclusive;
  } else say('\nnot worse than the base');
}

const EXIT_CODES = `
Exit codes: 0 not worse, 1 HEAD is worse, 2 wrong usage or two that cannot be
compared, 3 cannot tell.`;

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
      .argParser((text) => numberFrom(0, 1000)(text.replace(/%$/, '')) / 100),
  )
  .addHelpText('after', EXIT_CODES)
  .action(compare);
