import type { CheckedTarget } from '../../checks/check-target.ts';
import { reportOf } from '../../reports/from-run.ts';
import type { Report } from '../../reports/report.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { costOfSkipped } from './check-plan.ts';
import type { CheckSubject } from './check-subject.ts';

/** Writes a finished run down. */
export function judgedRun(
  checked: Extract<CheckedTarget, { kind: 'checked' }>,
  subject: CheckSubject,
  about: {
    readonly command: string;
    readonly baseline: readonly BaselineEntry[];
    readonly required?: 'all' | readonly string[];
    readonly interrupted: string | undefined;
  },
): Report {
  const { trace, result, requestsByKey, banned, startedAt, endedAt } = checked;
  const { profile, permissions, only, clock } = subject;
  const skipped = only === undefined ? costOfSkipped(subject) : undefined;
  const { run } = trace;
  return reportOf({ trace, baseUrl: run.baseUrl, requestsByKey, banned }, result, {
    startedAt,
    pinned: profile.gaps,
    baseline: about.baseline,
    ...(about.required === undefined ? {} : { required: about.required }),
    facts: {
      id: run.id,
      startedAt: new Date(startedAt).toISOString(),
      durationSeconds: (endedAt - startedAt) / 1000,
      harnessVersion: HARNESS_VERSION,
      target: profile.target,
      permissions,
      keys: run.keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
      clockSpeed: profile.clock.speed,
      ...(clock === undefined ? {} : { sharedClock: true }),
      command: about.command,
      ...(about.interrupted === undefined ? {} : { interrupted: about.interrupted }),
      ...(only === undefined ? {} : { only }),
      ...(skipped === undefined ? {} : { costOfSkipped: skipped }),
    },
  });
}
