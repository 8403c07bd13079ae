/** The result of a load from what each of its processes measured, on this machine or on several. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { groupBy } from '../../../spec/group-by.ts';
import { scenarioNamed } from '../../lib/catalogue.ts';
import type { ThresholdOutcome } from '../../lib/messages.ts';
import { ARRIVALS } from '../../lib/scenario.ts';
import { judgeClause, parseSlo, round } from '../../lib/slo.ts';
import { quantile, sum } from '../../lib/statistics.ts';
import { compareSeries } from '../compare/compare-series.ts';
import { blocksOf, figuresOf, type LoadBlock, mergedSeries, readingOf } from './figures.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult, type LoadSeries } from './load-result.ts';
import { type ResultPart, versions } from './recording.ts';

/**
 * The result of a load. Counts are added up exactly, and so are histograms, which give the percentiles. Thresholds are
 * judged on the whole.
 *
 * @param slo the objective; by default that of the load
 * @throws UsageError for parts of different loads
 */
export function conclude(parts: readonly ResultPart[], slo?: string): LoadResult {
  const [first] = parts;
  if (first === undefined) throw new UsageError('there is nothing to merge');
  refuseStrangers(parts);
  const begin = Math.min(...parts.map(({ run }) => Date.parse(run.startedAt)));
  const end = Math.max(...parts.map(({ run }) => Date.parse(run.startedAt) + run.durationSeconds * 1000));
  const durationSeconds = (end - begin) / 1000;
  const interrupted = parts.find((part) => part.run.interrupted !== undefined)?.run.interrupted;
  const run: LoadResult['run'] = {
    ...first.run,
    startedAt: new Date(begin).toISOString(),
    durationSeconds,
    slo: slo ?? first.run.slo,
    shards: sum(parts.map((part) => part.run.shards)),
    animalsAdded: sum(parts.map((part) => part.run.animalsAdded)),
    k6ExitCode: parts.map((part) => part.run.k6ExitCode).find((code) => code !== 0) ?? first.run.k6ExitCode,
    ...(interrupted === undefined ? {} : { interrupted }),
    way: {
      ...first.run.way,
      ...versions(parts.flatMap((part) => part.run.way?.httpVersion?.split(', ') ?? [])),
    },
  };
  const series = mergeSeries(parts, durationSeconds);
  const total = figuresOf(series, durationSeconds);
  const generator = mergeHealth(parts);
  const all = readingOf(series.flatMap(({ blocks }) => blocks));
  const reading = total.latency === null ? { ...all, latency: () => Number.NaN } : all;
  // What ended a part; a comparison within the run is made anew.
  const lasting = scenarioNamed(run.scenario).compares === undefined ? 'run' : undefined;
  const thresholds = [
    ...parseSlo(run.slo).map((clause) => judgeClause(clause, reading)),
    ...parts.flatMap((part) => part.thresholds.filter(({ kind }) => kind === 'client' || kind === lasting)),
    ...(run.interrupted === undefined ? judgeWhole(run, series) : []),
  ];
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run,
    verdict: run.interrupted === undefined ? verdictOf(total, generator, thresholds) : 'interrupted',
    notes: [...new Set(parts.flatMap(({ notes }) => notes))],
    series,
    total,
    thresholds,
    generator,
    violations: mergedBy(
      parts.flatMap(({ violations }) => violations),
      ({ requirement }) => requirement,
      (same) => ({ ...same[0], reported: sum(same.map(({ reported }) => reported)) }),
    ),
    measurements: parts.flatMap(({ measurements }) => measurements),
    keys: mergedBy(
      parts.flatMap(({ keys }) => keys),
      ({ name }) => name,
      (same) => ({
        ...same[0],
        requests: sum(same.map(({ requests }) => requests)),
        busiestMinute: sum(same.map(({ busiestMinute }) => busiestMinute)),
        sent: sum(same.map(({ sent = 0 }) => sent)),
        refused: sum(same.map(({ refused = 0 }) => refused)),
      }),
    ),
  };
}

/** A block is as fast as usual if its p99 is at most this many times the usual one. */
const USUAL_FACTOR = 2;

/** Seconds from `since` to the end of the last block that was slower than usual or had errors. */
function troubledFor(usual: readonly LoadBlock[], later: readonly LoadBlock[], since: number): number {
  const p99 = quantile(
    usual.map(({ latency }) => latency(99)),
    0.95,
  );
  const troubled = later.filter(({ latency, errors }) => latency(99) > p99 * USUAL_FACTOR || errors > 0);
  const ends = troubled.map(({ at }) => (later.find((block) => block.at > at)?.at ?? at) - since);
  return Math.max(0, ...ends) / 1000;
}

/** Whether a later part of a run is as good as an earlier one. `held` is null where the run was too short to tell. */
export function judgeWhole(
  { scenario, seconds, startedAt }: LoadResult['run'],
  series: readonly LoadSeries[],
): ThresholdOutcome[] {
  const { compares } = scenarioNamed(scenario);
  if (compares === undefined) return [];
  const { name, earlier, later, tolerated } = compares;
  const [from, to, since] = [...earlier, later].map((part) => Date.parse(startedAt) + part * seconds * 1000);
  const between = (first = 0, last = Number.POSITIVE_INFINITY) =>
    series
      .filter(({ stream }) => stream === ARRIVALS)
      .map((each) => ({ ...each, blocks: each.blocks.filter(({ at }) => at >= first && at < last) }));
  const [usual, judged] = [between(from, to), between(since)];
  const { findings, notCompared } = compareSeries(usual, judged, tolerated);
  if (findings.length === 0)
    return [{ kind: 'run', name, held: null, actual: `${notCompared.join('; ')}: run it longer` }];
  const worse = findings.filter(({ verdict }) => verdict === 'worse');
  const shown = worse.length > 0 ? worse : findings.slice(0, 1);
  const slow = `slower than usual for ${round(troubledFor(blocksOf(usual), blocksOf(judged), since ?? 0))} s`;
  const actual = [...shown.map((finding) => `${finding.metric} ${finding.actual}`), slow].join('; ');
  return [{ kind: 'run', name, held: worse.length === 0, expected: 'no slower, no more errors', actual }];
}

/** @throws UsageError unless the parts ran at the same time, with the same scenario against the same target */
function refuseStrangers(parts: readonly ResultPart[]): void {
  const runs = parts.map(({ run }) => run);
  for (const what of ['scenario', 'target'] as const) {
    const names = new Set(runs.map((run) => run[what]));
    if (names.size > 1) throw new UsageError(`${[...names].join(' and ')} are different ${what}s`);
  }
  const startOf = ({ startedAt }: LoadResult['run']) => Date.parse(startedAt);
  const ran = runs.filter(({ durationSeconds }) => durationSeconds > 0);
  const firstEnd = Math.min(...ran.map((run) => startOf(run) + run.durationSeconds * 1000));
  if (runs.some((run) => startOf(run) >= firstEnd))
    throw new UsageError('the runs came one after the other: merge joins parts of one load; see compare');
  const paid = parts.flatMap(({ run, keys }) => keys.map(({ name }) => `${run.id} ${name}`));
  if (new Set(paid).size < paid.length)
    throw new UsageError('two of the results are the same part of one run');
}

function verdictOf(
  total: LoadResult['total'],
  generator: LoadResult['generator'],
  thresholds: readonly ThresholdOutcome[],
): LoadResult['verdict'] {
  if (total.requests === 0 || generator.errorLines.length > 0) return 'failed-to-run';
  if (generator.limit !== null) return 'generator-limited';
  if (thresholds.some(({ held }) => held === false)) return 'broken';
  return thresholds.some(({ held }) => held === null) ? 'failed-to-run' : 'held';
}

/** Rows of all parts, those of a name as one. */
const mergedBy = <Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  merged: (same: [Row, ...Row[]]) => Row,
): Row[] => [...groupBy(rows, nameOf).values()].map(merged);

const mergeSeries = (parts: readonly ResultPart[], seconds: number): LoadSeries[] =>
  mergedBy(
    parts.flatMap((part) => part.series),
    ({ stream, operation, plan }) => `${stream} ${operation} ${plan}`,
    (same) => {
      if (same.some(({ blockSeconds }) => blockSeconds !== same[0].blockSeconds))
        throw new UsageError('the results have time blocks of different lengths');
      return mergedSeries(same, seconds);
    },
  );

function mergeHealth(parts: readonly ResultPart[]): LoadResult['generator'] {
  const all = parts.map(({ generator }) => generator);
  const most = (field: 'scheduleLagP95Ms' | 'cpuMeanPart' | 'memoryPeakBytes') => {
    const known = all.flatMap((part) => part[field] ?? []);
    return known.length === 0 ? null : Math.max(...known);
  };
  return {
    droppedIterations: sum(all.map(({ droppedIterations }) => droppedIterations)),
    scheduleLagP95Ms: most('scheduleLagP95Ms'),
    cpuMeanPart: most('cpuMeanPart'),
    memoryPeakBytes: most('memoryPeakBytes'),
    errorLines: [...new Set(all.flatMap(({ errorLines }) => errorLines))],
    limit: all.flatMap(({ limit }) => limit ?? []).join('; ') || null,
  };
}
