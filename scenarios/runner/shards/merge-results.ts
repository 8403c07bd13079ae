/** Several runners' results as one. */

import { parseSlo } from '../../lib/slo.ts';
import { billOf, type KeyBill } from '../quota/quota.ts';
import { blockOf, combine, mergedHistogram } from '../result/figures.ts';
import type {
  GeneratorHealth,
  LoadBlock,
  LoadResult,
  LoadSeries,
  ThresholdOutcome,
} from '../result/load-result.ts';
import { judgeClauses } from '../result/recorded.ts';

/** Results that do not belong together. */
export class MergeRefused extends Error {
  override readonly name = 'MergeRefused';
}

/**
 * Merges what runners of one load wrote. Counts are added up exactly; percentiles come from the added histograms, not
 * from the runners' percentiles. Thresholds are judged again on the whole.
 *
 * @param slo the objective; without one the results' own clauses are judged
 * @throws MergeRefused for results of different scenarios or targets
 */
export function mergeResults(results: readonly LoadResult[], slo?: string): LoadResult {
  const [first] = results;
  if (first === undefined) throw new MergeRefused('there is nothing to merge');
  for (const { run } of results) {
    if (run.scenario !== first.run.scenario) {
      throw new MergeRefused(`${run.scenario} and ${first.run.scenario} are different scenarios`);
    }
    if (run.target !== first.run.target)
      throw new MergeRefused(`${run.target} and ${first.run.target} are different targets`);
  }
  const begins = results.map(({ run }) => Date.parse(run.startedAt));
  const begin = Math.min(...begins);
  const end = Math.max(
    ...results.map(({ run }, index) => (begins[index] ?? begin) + run.durationSeconds * 1000),
  );
  const durationSeconds = (end - begin) / 1000;
  const series = mergeSeries(results, durationSeconds);
  const isClause = ({ expected, key }: ThresholdOutcome) => expected === undefined && key === undefined;
  const clauses =
    slo ??
    first.thresholds
      .filter(isClause)
      .map(({ name }) => name)
      .join(',');
  const thresholds = [
    ...(clauses === '' ? [] : judgeClauses(parseSlo(clauses), series)),
    ...results.flatMap((result) => result.thresholds.filter((outcome) => !isClause(outcome))),
  ];
  const generator = mergeHealth(results.map((result) => result.generator));
  const total = combine(series, durationSeconds);
  const worst = results.find(({ verdict }) => verdict === 'failed-to-run' || verdict === 'interrupted');
  const held = thresholds.length > 0 && thresholds.every((outcome) => outcome.held);
  return {
    ...first,
    run: {
      ...first.run,
      startedAt: new Date(begin).toISOString(),
      durationSeconds,
      shards: results.reduce((sum, { run }) => sum + run.shards, 0),
      animalsAdded: results.reduce((sum, { run }) => sum + run.animalsAdded, 0),
      k6ExitCode: results.map(({ run }) => run.k6ExitCode).find((code) => code !== 0) ?? 0,
    },
    verdict: worst?.verdict ?? (generator.limit !== null ? 'generator-limited' : held ? 'held' : 'broken'),
    notes: [...new Set(results.flatMap(({ notes }) => notes))],
    series,
    total,
    thresholds,
    generator,
    violations: mergeViolations(results),
    measurements: results.flatMap(({ measurements }) => measurements),
    bill: mergeBills(results),
  };
}

function mergeSeries(results: readonly LoadResult[], seconds: number): LoadSeries[] {
  const groups = new Map<string, LoadSeries[]>();
  for (const each of results.flatMap((result) => result.series)) {
    const id = `${each.stream} ${each.operation} ${each.plan}`;
    groups.set(id, [...(groups.get(id) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    if (group.some(({ blockSeconds }) => blockSeconds !== first.blockSeconds)) {
      throw new MergeRefused('the results have time blocks of different lengths');
    }
    const { stream, operation, plan, blockSeconds } = first;
    return [
      { stream, operation, plan, ...combine(group, seconds), blockSeconds, blocks: mergeBlocks(group) },
    ];
  });
}

function mergeBlocks(group: readonly LoadSeries[]): LoadBlock[] {
  const byTime = new Map<number, LoadBlock[]>();
  for (const block of group.flatMap(({ blocks }) => blocks)) {
    byTime.set(block.at, [...(byTime.get(block.at) ?? []), block]);
  }
  return [...byTime]
    .toSorted(([a], [b]) => a - b)
    .map(([at, blocks]) => {
      const [only, ...more] = blocks;
      if (only !== undefined && more.length === 0) return only;
      return blockOf(at, mergedHistogram(blocks), {
        errors: blocks.reduce((sum, { errors }) => sum + errors, 0),
        refused: blocks.reduce((sum, { refused }) => sum + refused, 0),
      });
    });
}

function mergeHealth(parts: readonly GeneratorHealth[]): GeneratorHealth {
  const most = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const limits = parts.map(({ limit }) => limit).filter((limit) => limit !== null);
  return {
    droppedIterations: parts.reduce((sum, { droppedIterations }) => sum + droppedIterations, 0),
    scheduleLagP95Ms: most(parts.map(({ scheduleLagP95Ms }) => scheduleLagP95Ms)),
    cpuMeanPart: most(parts.map(({ cpuMeanPart }) => cpuMeanPart)),
    cpuPeakPart: most(parts.map(({ cpuPeakPart }) => cpuPeakPart)),
    memoryPeakBytes: most(parts.map(({ memoryPeakBytes }) => memoryPeakBytes)),
    errorLines: [...new Set(parts.flatMap(({ errorLines }) => errorLines))],
    limit: limits.length === 0 ? null : [...new Set(limits)].join('; '),
  };
}

function mergeViolations(results: readonly LoadResult[]): LoadResult['violations'] {
  const merged = new Map<string, LoadResult['violations'][number]>();
  for (const violation of results.flatMap(({ violations }) => violations)) {
    const known = merged.get(violation.requirement);
    merged.set(violation.requirement, {
      ...(known ?? violation),
      reported: (known?.reported ?? 0) + violation.reported,
    });
  }
  return [...merged.values()];
}

function mergeBills(results: readonly LoadResult[]): LoadResult['bill'] {
  const keys = new Map<string, KeyBill>();
  for (const row of results.flatMap(({ bill }) => bill.keys)) {
    const known = keys.get(row.key);
    keys.set(row.key, {
      ...row,
      requests: row.requests + (known?.requests ?? 0),
      busiestMinute: row.busiestMinute + (known?.busiestMinute ?? 0),
      sent: (row.sent ?? 0) + (known?.sent ?? 0),
      refused: (row.refused ?? 0) + (known?.refused ?? 0),
    });
  }
  return billOf([...keys.values()]);
}
