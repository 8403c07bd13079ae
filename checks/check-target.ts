import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { profileKeys } from './profile/keys-with-values.ts';
import type { TargetProfile } from './profile/target-profile.ts';
import { type Clock, createClock, standingClock } from './run/clock.ts';
import { HARNESS_VERSION } from './run/harness-version.ts';
import { Journal, type JournalContent } from './run/journal.ts';
import { preflight } from './run/preflight.ts';
import { Run } from './run/run.ts';
import { runTime, type TimeLimit } from './run/run-budget.ts';
import { type RunResult, runChecks } from './run/run-checks.ts';
import type { RunEvent } from './run/run-events.ts';
import type { Permission } from './run/verdict.ts';
import { allChecks, allGapObservers } from './sections/all-checks.ts';
import { spendingLanes } from './sections/lanes.ts';
import { createClient, type TimeLimits } from './wire/client.ts';

/** What is to be checked, and how. */
export interface CheckRequest {
  readonly profile: TargetProfile & { readonly target: string };
  /** Key values by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly permissions: readonly Permission[];
  /** Requirement ids to restrict the run to. */
  readonly only?: readonly string[];
  /** Where the journal goes; undefined keeps none. */
  readonly directory?: string;
  /** An earlier run to go on with: its exchanges are taken instead of sent again. */
  readonly resume?: Extract<JournalContent, { ok: true }>;
  /** With `resume`: judge its exchanges and send nothing. */
  readonly offline?: boolean;
  /** In place of the client's own; what an exchange takes beyond them is a failed one. */
  readonly timeouts?: Partial<TimeLimits>;
  /** How long a target that stops answering is waited for, in real milliseconds; by default a minute. */
  readonly patience?: number;
  /** When it is over the run is judged by what it has; by default it takes as long as it takes. */
  readonly timeLimit?: TimeLimit;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
}

/** A finished run, or why there was nothing to judge. */
export type CheckedTarget =
  | {
      readonly kind: 'checked';
      readonly run: Run;
      readonly result: RunResult;
      /** Milliseconds since 1970 by the run's clock. */
      readonly startedAt: number;
      readonly endedAt: number;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'not-ready'; readonly message: string };

/** The journal's name in a results folder. */
export const JOURNAL_FILE = 'journal.ndjson';

/** Letters that are not mistaken for one another when read aloud; a target may want no digits in a name. */
const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz';
const newRunId = () => Array.from({ length: 8 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');

/** The clock of a run, which goes on where the clock of the run that it resumes stood. */
export function runClock({ profile, resume }: Pick<CheckRequest, 'profile' | 'resume'>): Clock {
  if (resume === undefined) return createClock(profile.clock.speed);
  const { startedAt } = resume.header;
  return createClock(profile.clock.speed, {
    startedAt,
    lastAt: lastReceipt(startedAt, resume.exchanges.values()),
  });
}

/** Without spreading them: a day's exchanges are more than a call takes arguments. */
function lastReceipt(startedAt: number, answers: Iterable<{ readonly receivedAt: number }>): number {
  let last = startedAt;
  for (const { receivedAt } of answers) last = Math.max(last, receivedAt);
  return last;
}

/** Checks a target: every check, or those asked for, against the address and keys of a profile. */
export async function checkTarget(request: CheckRequest): Promise<CheckedTarget> {
  const { profile, values, permissions, only, resume } = request;
  const clock =
    request.offline === true && resume !== undefined
      ? standingClock(lastReceipt(resume.header.startedAt, resume.exchanges.values()), profile.clock.speed)
      : runClock(request);
  const startedAt = resume?.header.startedAt ?? clock.now();
  const runId = resume?.header.runId ?? newRunId();
  const keys = profileKeys(profile, values).filter(({ roles }) => roles.some((role) => role !== 'load'));
  const client = createClient({
    baseUrl: profile.target,
    now: () => clock.now(),
    secrets: values.values(),
    ...(request.timeouts === undefined ? {} : { timeouts: request.timeouts }),
  });
  const journal =
    request.directory === undefined ? undefined : openJournal(request.directory, request, runId, startedAt);
  const time = runTime(request.offline === true ? undefined : request.timeLimit, request.signal);
  const run = new Run({
    baseUrl: profile.target,
    runId,
    client,
    clock,
    keys,
    permissions: new Set(permissions),
    sampleCategoryId: profile.samples.categoryId,
    ...(journal === undefined ? {} : { journal }),
    ...(resume === undefined
      ? {}
      : {
          recorded: resume.exchanges,
          lost: resume.lost,
          unanswered: resume.unanswered,
          resumedWith: resume.resumedWith,
          besideLost: resume.besideLost,
          decidedAt: resume.decidedAt,
        }),
    ...(request.patience === undefined ? {} : { patience: request.patience }),
    ...(request.offline === undefined ? {} : { offline: request.offline }),
    signal: time.signal,
    ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
  });
  try {
    const ready = await preflight(run);
    if (ready.kind === 'not-ready') return ready;
    const checks = allChecks.filter(({ id }) => only === undefined || only.includes(id));
    const result = await runChecks(run, {
      checks,
      gapObservers: only === undefined ? allGapObservers : [],
      lanes: (probe) => spendingLanes(probe, checks),
      ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
    });
    const warnings = [...ready.warnings, ...(result.doubt === undefined ? [] : [result.doubt])];
    const cutShort = run.presence.gone ?? time.over();
    if (cutShort !== undefined) warnings.push(`${cutShort}; --resume goes on from there`);
    const endedAt = request.offline === true ? lastReceipt(startedAt, run.readings) : clock.now();
    return { kind: 'checked', run, result, startedAt, endedAt, warnings };
  } finally {
    time.release();
    journal?.close();
    await client.close();
  }
}

function openJournal(
  directory: string,
  { profile, permissions, only, resume }: CheckRequest,
  runId: string,
  startedAt: number,
): Journal {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const header = {
    journal: 1 as const,
    runId,
    startedAt,
    target: profile.target,
    permissions,
    keys: profile.keys.map(({ name }) => name),
    clockSpeed: profile.clock.speed,
    harnessVersion: HARNESS_VERSION,
    ...(only === undefined ? {} : { only }),
  };
  return new Journal(join(directory, JOURNAL_FILE), resume === undefined ? header : undefined);
}
