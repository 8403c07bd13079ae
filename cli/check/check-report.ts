import { relative } from 'node:path';
import { checkTarget } from '../../checks/check-target.ts';
import type { TimeLimit } from '../../checks/run/run-budget.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { type RunSurroundings, reportOf, requirementRow } from '../../reports/from-run.ts';
import type { Report, RequirementResult } from '../../reports/report.ts';
import type { Gate } from '../../reports/verdict.ts';
import { requirement } from '../../spec/contract.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { CheckSubject } from './check-subject.ts';

/** A requirement that is decided. */
export type DecidedEvent = Extract<RunEvent, { kind: 'check-ended' }>;

/** How a subject is checked, and what the report says about that. */
export interface CheckManner extends Gate {
  readonly signal: AbortSignal;
  readonly timeLimit: TimeLimit;
  /** More requests are not sent. */
  readonly mostRequests: number;
  /** Where the journal goes; undefined keeps none. */
  readonly directory?: string;
  readonly onEvent: (event: RunEvent) => void;
  readonly command: string;
  /** The file of the target profile, where there is one. */
  readonly profile?: string | undefined;
  /** The command that resumes the run, if it is interrupted. */
  readonly resume?: string;
  /** What ended the run early; called when it is over. */
  readonly interrupted: () => string | undefined;
}

type Facts = RunSurroundings['facts'];

/** A judged run; a text says why there was nothing to judge. */
export type JudgedCheck = { readonly report: Report; readonly warnings: readonly string[] } | string;

/** Checks the subject and makes the report. */
export async function judgedCheck(subject: CheckSubject, manner: CheckManner): Promise<JudgedCheck> {
  const { profile, values, permissions, only, clock, stored } = subject;
  const { signal, timeLimit, directory, onEvent } = manner;
  const checked = await checkTarget({
    profile,
    values,
    permissions,
    signal,
    timeLimit,
    mostRequests: manner.mostRequests,
    onEvent,
    ...withoutUndefined({
      ...{ only, clock, resume: stored?.journal, offline: stored?.offline },
      directory: stored?.offline === true ? undefined : directory,
    }),
  });
  if (checked.kind === 'not-ready') return checked.message;
  const interrupted = manner.interrupted();
  const report = reportOf(checked, {
    anyEnv: anyEnvOf(profile),
    pinned: profile.gaps,
    baseline: manner.baseline,
    required: manner.required,
    facts: {
      ...factsOf(subject, manner.command),
      ...withoutUndefined({
        interrupted,
        profile: manner.profile && relative(process.cwd(), manner.profile),
        resume: interrupted === undefined ? undefined : manner.resume,
      }),
    },
  });
  return { report, warnings: checked.warnings };
}

/** What is known of a run before it begins. */
export function factsOf({ profile, permissions, only, clock }: CheckSubject, command: string): Facts {
  return {
    id: 'not-begun',
    startedAt: new Date().toISOString(),
    durationSeconds: 0,
    harnessVersion: HARNESS_VERSION,
    target: profile.target,
    permissions,
    keys: profile.keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
    clockSpeed: profile.clock.speed,
    command,
    ...withoutUndefined({ sharedClock: clock === undefined ? undefined : true, only }),
  };
}

/** The variable of a key, from which a command derives wrong keys. */
const anyEnvOf = ({ keys }: CheckSubject['profile']) => keys[0]?.env;

/** A requirement's row as soon as it is decided. The end of the run may still change it. */
export const decidedRow = (event: DecidedEvent, { profile }: CheckSubject): RequirementResult =>
  requirementRow(requirement(event.id), event, {
    baseUrl: profile.target,
    anyEnv: anyEnvOf(profile),
    keyOf: ({ key }) => profile.keys.find(({ name }) => name === key),
  });
