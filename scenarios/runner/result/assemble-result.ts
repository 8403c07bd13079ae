import { HARNESS_VERSION } from '../../../checks/run/harness-version.ts';
import { arrivedBy, peakRate, slopes } from '../../lib/load-profiles.ts';
import type { EventLog } from '../k6/event-log.ts';
import { generatorHealth } from '../k6/generator-health.ts';
import type { K6Exit } from '../k6/k6-process.ts';
import type { Broken } from '../k6/stop-when-broken.ts';
import type { LoadRequest, PreparedLoad } from '../load-run.ts';
import { recovers } from './judge-recovery.ts';
import { idsAreUnique, latencyTrend, neighbourFeels, type Undecided } from './judges.ts';
import {
  LOAD_RESULT_FORMAT_VERSION,
  type LoadFigures,
  type LoadResult,
  type LoadSeries,
  NOT_JUDGED,
  type ThresholdOutcome,
} from './load-result.ts';
import { combine, histogramFrom, type SampleStore } from './sample-store.ts';
import { judgeClause, round, type SloClause, type SloFigures } from './slo.ts';

/** Everything that a run left. */
export interface RunRemains {
  readonly request: LoadRequest;
  readonly prepared: PreparedLoad;
  readonly id: string;
  readonly startedAt: Date;
  readonly store: SampleStore;
  readonly events: EventLog;
  readonly exits: readonly K6Exit[];
  readonly vus: number;
  readonly broken: Broken | undefined;
  /** k6 is still at it: the result is what a run leaves that is killed now. */
  readonly soFar?: true;
}

/** k6 ended on a signal: ours. */
const K6_SIGNALLED = 105;

/** The figures of all series, or of one operation's, for an objective. */
export function sloFigures(series: readonly LoadFigures[], total: LoadFigures): SloFigures {
  const { outcomes } = total;
  const histogram = total.latency === null ? undefined : histogramFrom(total.latency.histogram);
  return {
    requests: total.requests,
    errors: outcomes.error + outcomes['unexpected-429'] + outcomes.unfinished,
    violations: series.reduce((sum, each) => sum + each.outcomes.violation, 0),
    latency: (percentile) =>
      histogram === undefined ? Number.NaN : histogram.getValueAtPercentile(percentile) / 1000,
  };
}

/** Judges an objective on the series of a result; a refusal that the scenario is about takes part in no latency. */
export function judgeClauses(
  clauses: readonly SloClause[],
  series: readonly LoadSeries[],
): ThresholdOutcome[] {
  return clauses.map((clause) => {
    const concerned = series.filter(
      ({ operation }) => clause.operation === undefined || operation === clause.operation,
    );
    const { clause: name, held, actual } = judgeClause(clause, sloFigures(concerned, combine(concerned, 1)));
    return { name, held, actual };
  });
}

/** The result of a run. */
export function assembleResult(remains: RunRemains): LoadResult {
  const { request, prepared, id, startedAt, store, events, exits } = remains;
  const { facts, rate, seconds, quota } = prepared;
  const series = store.series();
  const span = store.span();
  const durationSeconds = span === undefined ? 0 : (span.last - span.first) / 1000;
  const total = combine(series, durationSeconds);
  const shapes = facts.streams.flatMap((stream) =>
    stream.kind === 'rate' ? [slopes(stream.profile, rate * (stream.share ?? 1), 1)] : [],
  );
  const generator = generatorHealth({
    usages: exits.map(({ usage }) => usage),
    // They are many, and nobody judges a part of them.
    lags: remains.soFar === true ? [] : events.lags(),
    droppedIterations: events.droppedIterations(),
    errorLines: events.errorLines,
    total,
    peakRate: Math.max(0, ...shapes.map(peakRate)),
    vus: remains.vus,
  });
  const interrupted = request.stop?.aborted === true || remains.soFar === true;
  const notes = [...prepared.notes];
  const thresholds = interrupted && total.requests === 0 ? [] : judgeClauses(prepared.clauses, series);
  thresholds.push(...events.outcomes());
  const judged = (facts.judges ?? []).flatMap((judge): (ThresholdOutcome | Undecided)[] => {
    if (judge === 'latency-trend') return [latencyTrend(series)];
    if (judge === 'recovery') return recovers(facts, series, seconds, span?.first ?? 0);
    return judge === 'neighbour' ? neighbourFeels(series) : [idsAreUnique(events.addedIds)];
  });
  const undecided = [
    ...judged.filter((outcome) => 'undecided' in outcome),
    ...events.undecided.map(({ name, key, why }) => ({ name: `${name} [${key}]`, undecided: why })),
  ];
  thresholds.push(...judged.filter((outcome) => 'held' in outcome));
  notes.push(...undecided.map(({ name, undecided: why }) => `${NOT_JUDGED}${name}: ${why}`));
  const silent = interrupted ? [] : silentClients(remains);
  if (silent.length > 0) {
    thresholds.push({
      name: 'every client comes to an end',
      held: false,
      expected: 'a report from each',
      actual: `none from ${silent.join(', ')}`,
    });
  }
  if (remains.broken !== undefined) notes.push(brokenNote(remains.broken, remains));
  else if (facts.stopWhenBroken && !interrupted) {
    notes.push(`nothing broke up to ${round(rate)} requests/s: --rate says how far to go`);
  }
  if (generator.limit !== null) notes.push(`the generator was the limit: ${generator.limit}`);
  else if (generator.droppedIterations > 0) {
    notes.push(
      `${generator.droppedIterations} arrivals were not sent: every virtual user was waiting for the target`,
    );
  }
  if (request.target.clockSpeed !== 1)
    notes.push(`the target's clock runs ${request.target.clockSpeed} times as fast`);
  const failed = exits.find(({ code, signal }) => signal !== null || (code !== 0 && code !== K6_SIGNALLED));
  const k6ExitCode = (failed ?? exits.find(({ code }) => code !== 0) ?? exits[0])?.code ?? null;
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run: {
      id,
      scenario: facts.name,
      answers: facts.answers,
      target: request.target.address,
      startedAt: startedAt.toISOString(),
      durationSeconds,
      harnessVersion: HARNESS_VERSION,
      k6Version: request.k6.version,
      k6ExitCode,
      shards: request.shards ?? 1,
      clockSpeed: request.target.clockSpeed,
      animalsAdded: events.addedIds.length,
      ...(interrupted ? { interrupted: remains.soFar === true ? 'before its end' : 'by a signal' } : {}),
    },
    verdict: verdictOf(),
    notes,
    series,
    total,
    thresholds,
    generator,
    violations: events.violations(),
    measurements: events.measurements.map(({ name, key, value, unit }) => ({ name, key, value, unit })),
    bill: {
      ...quota.bill,
      keys: quota.bill.keys.map((row) => {
        const { sent, refused } = store.keys().get(row.key) ?? { sent: 0, refused: 0 };
        const look = row.key === request.target.keys[quota.looksFirst]?.name ? 1 : 0;
        return { ...row, sent: sent + look, refused };
      }),
    },
  };

  function verdictOf(): LoadResult['verdict'] {
    if (interrupted) return 'interrupted';
    if (failed !== undefined || events.errorLines.length > 0 || total.requests === 0) return 'failed-to-run';
    // A climb that is meant to break has done its work when it breaks.
    if (remains.broken !== undefined && facts.stopWhenBroken)
      return generator.limit === null ? 'broken' : 'generator-limited';
    if (generator.limit !== null) return 'generator-limited';
    if (thresholds.some(({ held }) => !held)) return 'broken';
    return undecided.length > 0 ? 'failed-to-run' : 'held';
  }

  function brokenNote({ at, clause, actual }: Broken, { store }: RunRemains): string {
    const since = (at - (store.span()?.first ?? at)) / 1000;
    const [stream] = facts.streams;
    if (stream?.kind !== 'rate') return `${clause} broke after ${round(since)} s (${actual})`;
    const climb = slopes(stream.profile, rate * (stream.share ?? 1), seconds);
    const around = (arrivedBy(climb, since + 0.5) - arrivedBy(climb, since - 0.5)) / 1;
    return `${clause} broke at about ${round(around)} requests/s, after ${round(since)} s (${actual})`;
  }
}

/** Keys of clients whose behaviour is the subject and that told nothing of it. */
function silentClients({ request, prepared, events }: RunRemains): string[] {
  const told = new Set(
    [...events.assertions, ...events.undecided, ...events.measurements].map(({ key }) => key),
  );
  return prepared.quota.streams.flatMap(({ stream, keys }) => {
    if (stream.kind !== 'clients' || stream.overLimit !== true || stream.name === 'noise') return [];
    const names = keys.flatMap((key) => request.target.keys[key]?.name ?? []);
    return names.filter((name) => !told.has(name));
  });
}
