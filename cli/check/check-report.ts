import type { CheckedTarget } from '../../checks/check-target.ts';
import { HARNESS_VERSION } from '../../checks/run/harness-version.ts';
import { reportOf } from '../../reports/from-run.ts';
import type { Report } from '../../reports/report.ts';
import type { BaselineEntry } from './check-baseline.ts';
import type { CheckSubject } from './check-subject.ts';

/** A report, and the baseline's entries that are to be removed because they pass. */
export interface JudgedRun {
  readonly report: Report;
  readonly outdated: readonly BaselineEntry[];
}

/** Writes a finished run down; an outdated baseline makes it not conformant, so that it cannot hide a later failure. */
export function judgedRun(
  { run, result, startedAt, endedAt }: Extract<CheckedTarget, { kind: 'checked' }>,
  { profile, permissions, only }: CheckSubject,
  about: {
    readonly command: string;
    readonly baseline: readonly BaselineEntry[];
    readonly interrupted: string | undefined;
  },
): JudgedRun {
  const report = reportOf(run, result, {
    startedAt,
    pinned: profile.gaps,
    baseline: new Set(about.baseline.map(({ id }) => id)),
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
  const passing = new Set(
    report.requirements.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id),
  );
  const outdated = about.baseline.filter(({ id }) => passing.has(id));
  return { report: outdated.length === 0 ? report : { ...report, verdict: 'not-conformant' }, outdated };
}
