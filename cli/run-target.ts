import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../checks/harness/client.ts';
import { createClock } from '../checks/harness/clock.ts';
import { HARNESS_VERSION } from '../checks/harness/harness-version.ts';
import { Journal } from '../checks/harness/journal.ts';
import { preflight } from '../checks/harness/preflight.ts';
import { profileKeys } from '../checks/harness/profile-keys.ts';
import { Run } from '../checks/harness/run.ts';
import { runChecks } from '../checks/harness/run-checks.ts';
import type { RunEvent } from '../checks/harness/run-events.ts';
import type { TargetProfile } from '../checks/harness/target-profile.ts';
import type { Permission } from '../checks/harness/verdict.ts';
import { allChecks, allGapObservers } from '../checks/sections/all-checks.ts';
import { spendingLanes } from '../checks/sections/lanes.ts';
import { reportOf } from '../reports/from-run.ts';
import type { Report } from '../reports/report.ts';

/** What is to be checked, and how. */
export interface RunRequest {
  readonly profile: TargetProfile & { readonly target: string };
  /** Key values by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly permissions: readonly Permission[];
  readonly only?: readonly string[];
  readonly baseline: ReadonlySet<string>;
  /** Where the journal goes; undefined keeps none. */
  readonly directory?: string;
  readonly command: string;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
  readonly onWarning?: (warning: string) => void;
}

/** A finished run, or why there was nothing to judge. */
export type RunOutcome =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'not-ready'; readonly message: string };

/** Letters and digits that are not mistaken for one another when read aloud. */
const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const newRunId = () => Array.from({ length: 8 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');

/** Checks a target and reports. */
export async function runTarget(request: RunRequest): Promise<RunOutcome> {
  const { profile, values, permissions, only } = request;
  const clock = createClock(profile.clock.speed);
  const startedAt = clock.now();
  const began = performance.now();
  const runId = newRunId();
  const keys = profileKeys(profile, values).filter(({ roles }) => roles.some((role) => role !== 'load'));
  const client = createClient({ baseUrl: profile.target, now: () => clock.now(), secrets: values.values() });
  let journal: Journal | undefined;
  if (request.directory !== undefined) {
    mkdirSync(request.directory, { recursive: true, mode: 0o700 });
    journal = new Journal(join(request.directory, 'journal.ndjson'), {
      journal: 1,
      runId,
      startedAt,
      target: profile.target,
      permissions,
      keys: keys.map(({ name }) => name),
      clockSpeed: profile.clock.speed,
      ...(only === undefined ? {} : { only }),
    });
  }
  const run = new Run({
    baseUrl: profile.target,
    runId,
    client,
    clock,
    keys,
    permissions: new Set(permissions),
    sampleCategoryId: profile.samples.categoryId,
    ...(journal === undefined ? {} : { journal }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
    ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
  });
  try {
    const ready = await preflight(run);
    if (ready.kind === 'not-ready') return ready;
    for (const warning of ready.warnings) request.onWarning?.(warning);
    const chosen = (id: string) => only === undefined || only.includes(id);
    const checks = allChecks.filter(({ id }) => chosen(id));
    const result = await runChecks(run, {
      checks,
      gapObservers: only === undefined ? allGapObservers : [],
      lanes: (probe) => spendingLanes(probe, checks),
      ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
    });
    const report = reportOf(run, result, {
      facts: {
        id: runId,
        startedAt: new Date(startedAt).toISOString(),
        durationSeconds: Math.round((performance.now() - began) * profile.clock.speed) / 1000,
        harnessVersion: HARNESS_VERSION,
        target: profile.target,
        permissions,
        keys: keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
        clockSpeed: profile.clock.speed,
        ...(request.signal?.aborted === true ? { interrupted: String(request.signal.reason) } : {}),
        ...(only === undefined ? {} : { only }),
        command: request.command,
      },
      pinned: profile.gaps,
      baseline: request.baseline,
      startedAt,
    });
    return { kind: 'report', report };
  } finally {
    journal?.close();
    await client.close();
  }
}
