/** Merges the results of several runners. */

import { max, min, sum } from 'simple-statistics';
import { groupBy } from '../../../spec/group-by.ts';
import { parseSlo } from '../../lib/slo.ts';
import { billOf } from '../quota/quota.ts';
import { combine, mergedBlocks } from '../result/figures.ts';
import type { GeneratorHealth, LoadResult, LoadSeries, ThresholdOutcome } from '../result/load-result.ts';
import { judgeClauses, verdictOf } from '../result/recorded.ts';

/** The results do not belong together. */
export class MergeRefused extends Error {
  override readonly name = 'MergeRefused';
}

/**
 * Merges the results of the runners of one load. Counts are added up exactly, and so are histograms, which give the
 * percentiles. Thresholds are judged again on the whole.
 *
 * @param slo the objective; by default the clauses of the results
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
  const begin = min(results.map(({ run }) => Date.parse(run.startedAt)));
  const end = max(results.map(({ run }) => Date.parse(run.startedAt) + run.durationSeconds * 1000));
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
  return {
    ...first,
    run: {
      ...first.run,
      startedAt: new Date(begin).toISOString(),
      durationSeconds,
      shards: sum(results.map(({ run }) => run.shards)),
      animalsAdded: sum(results.map(({ run }) => run.animalsAdded)),
      k6ExitCode: results.map(({ run }) => run.k6ExitCode).find((code) => code !== 0) ?? 0,
    },
    verdict: worst?.verdict ?? verdictOf({ total, generator, thresholds }),
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
  const groups = groupBy(
    results.flatMap((result) => result.series),
    ({ stream, operation, plan }) => `${stream} ${operation} ${plan}`,
  );
  return [...groups.values()].map((group) => {
    const [{ stream, operation, plan, blockSeconds }] = group;
    if (group.some((each) => each.blockSeconds !== blockSeconds))
      throw new MergeRefused('the results have time blocks of different lengths');
    return {
      stream,
      operation,
      plan,
      ...combine(group, seconds),
      blockSeconds,
      blocks: mergedBlocks(group),
    };
  });
}

function mergeHealth(parts: readonly GeneratorHealth[]): GeneratorHealth {
  const most = (field: 'scheduleLagP95Ms' | 'cpuMeanPart' | 'cpuPeakPart' | 'memoryPeakBytes') => {
    const known = parts.flatMap((part) => part[field] ?? []);
    return known.length === 0 ? null : max(known);
  };
  const limits = new Set(parts.flatMap(({ limit }) => limit ?? []));
  return {
    droppedIterations: sum(parts.map(({ droppedIterations }) => droppedIterations)),
    scheduleLagP95Ms: most('scheduleLagP95Ms'),
    cpuMeanPart: most('cpuMeanPart'),
    cpuPeakPart: most('cpuPeakPart'),
    memoryPeakBytes: most('memoryPeakBytes'),
    errorLines: [...new Set(parts.flatMap(({ errorLines }) => errorLines))],
    limit: limits.size === 0 ? null : [...limits].join('; '),
  };
}

function mergeViolations(results: readonly LoadResult[]): LoadResult['violations'] {
  const groups = groupBy(
    results.flatMap(({ violations }) => violations),
    ({ requirement }) => requirement,
  );
  return [...groups.values()].map((group) => ({
    ...group[0],
    reported: sum(group.map(({ reported }) => reported)),
  }));
}

function mergeBills(results: readonly LoadResult[]): LoadResult['bill'] {
  const groups = groupBy(
    results.flatMap(({ bill }) => bill.keys),
    ({ key }) => key,
  );
  return billOf(
    [...groups.values()].map((rows) => ({
      ...rows[0],
      requests: sum(rows.map(({ requests }) => requests)),
      busiestMinute: sum(rows.map(({ busiestMinute }) => busiestMinute)),
      sent: sum(rows.map(({ sent = 0 }) => sent)),
      refused: sum(rows.map(({ refused = 0 }) => refused)),
    })),
  );
}
