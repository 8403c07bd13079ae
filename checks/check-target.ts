import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import type { Permission } from '../spec/permissions.ts';
import { profileKeys } from './profile/environment.ts';
import { makePrivateFolder } from './profile/file-text.ts';
import type { TargetProfile } from './profile/target-profile.ts';
import { UsageError } from './profile/usage-error.ts';
import type { Check } from './run/check.ts';
import { type Clock, createClock } from './run/clock.ts';
import { Journal, keyPrint, type ReadJournal } from './run/journal.ts';
import type { Judging, RunResult } from './run/judge.ts';
import { playRun } from './run/play.ts';
import { preflight } from './run/preflight.ts';
import { whatOf } from './run/reason.ts';
import { Run } from './run/run.ts';
import { runTime, type TimeLimit } from './run/run-budget.ts';
import { lossesIn } from './run/sending/interference.ts';
import type { SenderOptions } from './run/sending/sender.ts';
import type { Trace } from './run/trace.ts';
import { Traffic } from './run/traffic.ts';
import { allChecks, allGapObservers } from './sections/all-checks.ts';
import { bannedAnswers } from './sections/quota/ban-checks.ts';
import { type ClientOptions, createClient, type HttpClient } from './wire/client.ts';
import { type Observed, Observer } from './wire/observed.ts';
import { TimeIsOver } from './wire/time-is-over.ts';

/** What is to be checked, and how. */
export interface CheckRequest
  extends Pick<SenderOptions, 'patience' | 'mostRequests' | 'signal' | 'onEvent'>,
    Pick<ClientOptions, 'access' | 'timeouts'> {
  readonly profile: TargetProfile & { readonly target: string };
  readonly values: ReadonlyMap<string, string>;
  readonly permissions: readonly Permission[];
  /** Requirement ids to restrict the run to. */
  readonly only?: readonly string[];
  /** Checks beside the document's. */
  readonly rules?: readonly Check[];
  /** Where the journal goes; undefined keeps none. */
  readonly directory?: string;
  /** An earlier part of the run: its scenes are not played again. */
  readonly resume?: ReadJournal;
  /** With `resume`: judge what is stored and send nothing. */
  readonly offline?: boolean;
  /** Hands over what passes between other clients and the target, until it ends: that is judged, and nothing is sent. */
  readonly traffic?: (judge: (passed: Observed) => void, request: CheckRequest) => Promise<void>;
  /** In place of the machine's: one that the run shares with a target in this process. */
  readonly clock?: Clock;
  /** What stands between the run and its target. */
  readonly link?: (client: HttpClient) => HttpClient;
  /** When it is over the run is judged by what it has; by default it takes as long as it takes. */
  readonly timeLimit?: TimeLimit;
}

/** A run that is over. */
export interface CheckedTarget {
  /** Why nothing was judged, in one line: the target was not reached, is not the service, or refused every key. */
  readonly nothingToJudge?: string;
  readonly trace: Trace;
  readonly result: RunResult;
  /** Ids of the answers that were a ban. */
  readonly banned: ReadonlySet<string>;
  /** Milliseconds since 1970 by the run's clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly warnings: readonly string[];
}

const NO_RESULT: RunResult = { requirements: new Map(), gaps: new Map() };

/** The journal's name in a results folder. */
export const JOURNAL_FILE = 'journal.ndjson';

/** Letters that are not mistaken for one another when read aloud; a target may want no digits in a name. */
const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz';
const newRunId = () => Array.from({ length: 8 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');

/** The clock of a run; a resumed one goes on where it stood. */
export const runClock = ({
  profile,
  resume,
  clock,
}: Pick<CheckRequest, 'profile' | 'resume' | 'clock'>): Clock =>
  clock ?? createClock(profile.clock.speed, resume?.header.startedAt, resume?.lastAt);

/** What is judged: everything, or the requirements asked for. */
function judgingOf({ only, rules = [] }: Pick<CheckRequest, 'only' | 'rules'>): Judging {
  const isAsked = ({ id }: { readonly id: string }) => only === undefined || only.includes(id);
  const every = [...allChecks, ...rules];
  return {
    checks: every.filter(isAsked),
    // A ban and a day are provoked only for the rows that are about them.
    harmless: [...allChecks, ...allGapObservers]
      .flatMap(({ scenes }) => scenes)
      .filter(({ permit }) => permit !== 'ban' && permit !== 'day'),
    gapObservers: only === undefined ? allGapObservers : [],
    leftOut: every.filter((check) => !isAsked(check)).map(({ id }) => id),
  };
}

/** What is fixed for a run before it begins. */
const factsOf = ({ profile, values, permissions }: CheckRequest, id: string) => ({
  id,
  baseUrl: profile.target,
  clockSpeed: profile.clock.speed,
  keys: profileKeys(profile, values),
  permissions: new Set(permissions),
  sampleCategoryId: profile.samples.categoryId === undefined ? undefined : BigInt(profile.samples.categoryId),
  declined: new Set(Object.keys(profile.readings)),
});

async function judgeTraffic(
  request: CheckRequest,
  source: NonNullable<CheckRequest['traffic']>,
): Promise<CheckedTarget> {
  const startedAt = Date.now();
  const traffic = new Traffic([...allChecks, ...(request.rules ?? [])], factsOf(request, 'traffic'));
  const observer = new Observer(request.values, request.access?.secrets);
  let passedOver = 0;
  await source((observed) => {
    const exchange = observer.exchange(observed);
    if (exchange === undefined) {
      passedOver += 1;
      return;
    }
    request.onEvent?.({ kind: 'exchange', exchange });
    for (const check of traffic.see(exchange))
      request.onEvent?.({ kind: 'check-ended', id: check.id, ...traffic.findingOf(check) });
  }, request);
  const isEmpty = traffic.trace.requestsByKey.size === 0;
  const warning = `${passedOver} answers were not judged: the document does not know the request, or a body is too long`;
  return {
    nothingToJudge: isEmpty ? `no answer of the interface at ${request.profile.target} was seen` : undefined,
    trace: traffic.trace,
    result: isEmpty ? NO_RESULT : traffic.result,
    ...{ startedAt, endedAt: Date.now() },
    banned: new Set(),
    warnings: passedOver === 0 ? [] : [warning],
  };
}

/**
 * Checks a target: every check, or those asked for, against the address and keys of a profile.
 *
 * @throws UsageError where a stored run cannot be judged
 */
export async function checkTarget(request: CheckRequest): Promise<CheckedTarget> {
  if (request.traffic !== undefined) return judgeTraffic(request, request.traffic);
  const { profile, values, resume, offline = false, link = (direct) => direct } = request;
  const clock = runClock(request);
  const startedAt = resume?.header.startedAt ?? clock.now();
  const id = resume?.header.runId ?? newRunId();
  const client = link(
    createClient({
      ...request,
      baseUrl: profile.target,
      now: () => clock.now(),
      secrets: values.values(),
    }),
  );
  const journal = offline ? undefined : openJournal(request, id, startedAt);
  const signal = runTime(offline ? undefined : request.timeLimit, request.signal);
  const judging = judgingOf(request);
  const run = new Run({
    ...request,
    ...factsOf(request, id),
    checks: judging.checks,
    client,
    clock,
    clockSpeed: clock.speed,
    signal,
    journal,
  });
  try {
    const ready = await preflight(run);
    const isReady = ready.kind === 'ready';
    const result = isReady ? await playRun(run, judging, request.onEvent) : NO_RESULT;
    const cutShort =
      run.sender.presence.gone ?? (signal.reason instanceof TimeIsOver ? signal.reason.message : undefined);
    return {
      nothingToJudge: isReady ? undefined : ready.message,
      trace: run.trace,
      result,
      banned: bannedAnswers(run),
      startedAt,
      // A run that is judged again ended when it was played.
      endedAt: offline && resume !== undefined ? resume.lastAt : clock.now(),
      warnings: [
        ...(isReady ? whatOf(ready.unusable.values()) : []),
        ...(result.doubt === undefined ? [] : [result.doubt]),
        ...lossesIn(run.trace.exchanges),
        ...(cutShort === undefined ? [] : [`${cutShort}; --resume continues the run`]),
      ],
    };
  } catch (error) {
    if (resume === undefined || !(error instanceof TypeError)) throw error;
    // What a scene remembers is read as what it wrote. Where that is not so, nothing tells a forgery from a defect.
    const where = `${error.message}${error.stack?.split('\n')[1]?.replace(/ +at /, ' at ') ?? ''}`;
    throw new UsageError(
      `the stored run cannot be judged: its journal was changed, or petstore-harness has a defect (${where}); a new run that ends in the same way shows a defect`,
    );
  } finally {
    journal?.close();
    await client.close();
  }
}

function openJournal(
  { directory, profile, values, permissions, only, resume }: CheckRequest,
  runId: string,
  startedAt: number,
): Journal | undefined {
  if (directory === undefined) return undefined;
  makePrivateFolder(directory);
  const file = join(directory, JOURNAL_FILE);
  if (resume !== undefined) return new Journal(file, resume);
  const header = {
    journal: 7 as const,
    runId,
    startedAt,
    target: profile.target,
    permissions,
    keys: profile.keys.map(({ name }) => name),
    clockSpeed: profile.clock.speed,
    harnessVersion: HARNESS_VERSION,
    keyPrints: Object.fromEntries([...values].map(([name, value]) => [name, keyPrint(runId, value)])),
    ...(only === undefined ? {} : { only }),
  };
  return new Journal(file, header);
}
