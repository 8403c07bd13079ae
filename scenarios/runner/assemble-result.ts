import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { arrivedBy, slopes } from '../lib/load-profiles.ts';
import { round } from '../lib/slo.ts';
import { judgeRecovery } from './compare/judge-recovery.ts';
import { judgeIds, judgeNeighbour, judgeTrend, type Undecided } from './compare/judges.ts';
import type { EventLog } from './k6/event-log.ts';
import type { K6Binary } from './k6/k6-binary.ts';
import type { K6Exit } from './k6/k6-process.ts';
import type { LoadRequest, PreparedLoad } from './quota/load-request.ts';
import type { QuotaBill } from './quota/quota.ts';
import {
  LOAD_RESULT_FORMAT_VERSION,
  type LoadResult,
  type LoadSeries,
  NOT_JUDGED,
  type ThresholdOutcome,
} from './result/load-result.ts';
import { peakOf, recorded, verdictOf } from './result/recorded.ts';
import type { SampleStore } from './result/sample-store.ts';
import type { Broken } from './result/stop-when-broken.ts';

export interface RunRemains {
  readonly request: LoadRequest & { readonly k6: K6Binary; readonly stop?: AbortSignal };
  readonly prepared: PreparedLoad;
  readonly id: string;
  readonly startedAt: Date;
  readonly store: SampleStore;
  readonly events: EventLog;
  readonly exits: readonly K6Exit[];
  readonly vus: number;
  readonly broken: Broken | undefined;
  /** k6 still runs. This result is on disk in case the run is killed. */
  readonly soFar?: true;
}

/** k6 ended on the signal that we sent. */
const K6_SIGNALLED = 105;

/** The result of a run. */
export function assembleResult(remains: RunRemains): LoadResult {
  const { request, prepared, store, events, exits, soFar } = remains;
  const { facts } = prepared;
  const interrupted = request.stop?.aborted === true || soFar === true;
  const { durationSeconds, ...measured } = recorded(store, {
    events,
    clauses: interrupted && store.span() === undefined ? [] : prepared.clauses,
    soFar,
    usages: exits.map(({ usage }) => usage),
    droppedIterations: events.droppedIterations(),
    peakRate: peakOf(facts, prepared.rate),
    vus: remains.vus,
  });
  const judged = judgeWhole(remains, measured.series);
  const undecided = [
    ...judged.filter((outcome) => 'undecided' in outcome),
    ...events.undecided.map(({ name, key, why }) => ({ name: `${name} [${key}]`, undecided: why })),
  ];
  const thresholds = [
    ...measured.thresholds,
    ...judged.filter((outcome) => 'held' in outcome),
    ...(interrupted ? [] : judgeSilence(remains)),
  ];
  const figures = verdictOf({ ...measured, thresholds });
  const failed = exits.find(({ code, signal }) => signal !== null || (code !== 0 && code !== K6_SIGNALLED));
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run: {
      id: remains.id,
      scenario: facts.name,
      answers: facts.answers,
      target: request.target.address,
      startedAt: remains.startedAt.toISOString(),
      durationSeconds,
      harnessVersion: HARNESS_VERSION,
      k6Version: request.k6.version,
      k6ExitCode: (failed ?? exits.find(({ code }) => code !== 0) ?? exits[0])?.code ?? null,
      shards: prepared.parts.length,
      clockSpeed: request.target.clockSpeed,
      animalsAdded: events.addedIds.length,
      ...(interrupted ? { interrupted: soFar === true ? 'before its end' : 'by a signal' } : {}),
    },
    verdict: interrupted
      ? 'interrupted'
      : failed !== undefined
        ? 'failed-to-run'
        : verdictWhole(figures, remains, undecided.length > 0),
    notes: [
      ...prepared.notes,
      ...undecided.map(({ name, undecided: why }) => `${NOT_JUDGED}${name}: ${why}`),
      ...runNotes(remains, measured.generator, interrupted),
    ],
    ...measured,
    thresholds,
    bill: paidBill(remains),
  };
}

/** The verdict of a run that ended as it should. */
function verdictWhole(
  figures: LoadResult['verdict'],
  { broken, prepared: { facts } }: RunRemains,
  isOpen: boolean,
): LoadResult['verdict'] {
  if (figures !== 'held') return figures;
  // A climbing rate is meant to break the objective: then the run did its work.
  if (broken !== undefined && facts.stopWhenBroken === true) return 'broken';
  return isOpen ? 'failed-to-run' : 'held';
}

/** What the scenario judges over all samples together. */
function judgeWhole(
  { prepared: { facts, seconds }, store, events }: RunRemains,
  series: readonly LoadSeries[],
): (ThresholdOutcome | Undecided)[] {
  return (facts.judges ?? []).flatMap((judge): (ThresholdOutcome | Undecided)[] => {
    if (judge === 'latency-trend') return [judgeTrend(series)];
    if (judge === 'recovery') return judgeRecovery(facts, series, seconds, store.span()?.first ?? 0);
    return judge === 'neighbour' ? judgeNeighbour(series) : [judgeIds(events.addedIds)];
  });
}

/** A broken threshold if a client whose behaviour is measured reported nothing. */
function judgeSilence({ request, prepared, events }: RunRemains): ThresholdOutcome[] {
  const heard = new Set(
    [...events.assertions, ...events.undecided, ...events.measurements].map(({ key }) => key),
  );
  const silent = prepared.streams
    .filter(({ stream }) => stream.kind === 'clients' && stream.overLimit === true && stream.name !== 'noise')
    .flatMap(({ keys }) => keys.flatMap((key) => request.target.keys[key]?.name ?? []))
    .filter((name) => !heard.has(name));
  if (silent.length === 0) return [];
  return [
    {
      name: 'every client finishes',
      held: false,
      expected: 'a report from each',
      actual: `none from ${silent.join(', ')}`,
    },
  ];
}

function runNotes(
  { request, prepared: { facts, rate, seconds }, broken, store }: RunRemains,
  { limit, droppedIterations }: LoadResult['generator'],
  interrupted: boolean,
): string[] {
  const notes: string[] = [];
  if (broken !== undefined) notes.push(brokenNote(broken));
  else if (facts.stopWhenBroken && !interrupted)
    notes.push(`nothing broke up to ${round(rate)} requests/s; set --rate to go further`);
  if (limit !== null) notes.push(`the generator was the limit: ${limit}`);
  else if (droppedIterations > 0)
    notes.push(`${droppedIterations} arrivals were not sent: every virtual user was waiting for the target`);
  const { clockSpeed } = request.target;
  if (clockSpeed !== 1) notes.push(`the target's clock runs ${clockSpeed} times as fast`);
  return notes;

  function brokenNote({ at, clause, actual }: Broken): string {
    const since = (at - (store.span()?.first ?? at)) / 1000;
    const [stream] = facts.streams;
    if (stream?.kind !== 'rate') return `${clause} broke after ${round(since)} s (${actual})`;
    const climb = slopes(stream.profile, rate, seconds);
    const around = arrivedBy(climb, since + 0.5) - arrivedBy(climb, since - 0.5);
    return `${clause} broke at about ${round(around)} requests/s, after ${round(since)} s (${actual})`;
  }
}

/** The bill with what was sent, including the look at the target before the load. */
function paidBill({ request, prepared: { bill, looksFirst }, store }: RunRemains): QuotaBill {
  const keys = bill.keys.map((row) => {
    const { sent, refused } = store.keys().get(row.key) ?? { sent: 0, refused: 0 };
    const look = row.key === request.target.keys[looksFirst]?.name ? 1 : 0;
    return { ...row, sent: sent + look, refused };
  });
  return { ...bill, keys };
}
