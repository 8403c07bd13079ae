import type { CheckedTarget } from '../../checks/check-target.ts';
import { HARNESS_VERSION } from '../../checks/run/harness-version.ts';
import { reportOf } from '../../reports/from-run.ts';
import type { Report } from '../../reports/report.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import type { CheckSubject } from './check-subject.ts';

/** Writes a finished run down. */
export function judgedRun(
  { run, result, startedAt, endedAt }: Extract<CheckedTarget, { kind: 'checked' }>,
  { profile, permissions, only }: CheckSubject,
  about: {
    readonly command: string;
    readonly baseline: readonly BaselineEntry[];
    readonly required?: 'all' | readonly string[];
    readonly interrupted: string | undefined;
  },
): Report {
  const { baseUrl, requestsByKey, bannedAnswers: banned } = run;
  return reportOf({ trace: run, baseUrl, requestsByKey, banned }, result, {
    startedAt,
    pinned: profile.gaps,
    baseline: about.baseline,
    ...(about.required === undefined ? {} : { required: about.required }),
    facts: {
      id: run.runId,
      startedAt: new Date(startedAt).toISOString(),
      durationSeconds: (endedAt - startedAt) / 1000,
      harnessVersion: HARNESS_VERSION,
      target: profile.target,
      permissions,
      keys: run.keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
      clockSpeed: profile.clock.speed,
      command: about.command,
      ...(about.interrupted === undefined ? {} : { interrupted: about.interrupted }),
      ...(only === undefined ? {} : { only }),
    },
  });
}
