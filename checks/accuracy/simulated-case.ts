import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { createClient } from '../harness/client.ts';
import { profileKeys } from '../harness/keys-with-values.ts';
import { preflight } from '../harness/preflight.ts';
import { Run } from '../harness/run.ts';
import { runChecks } from '../harness/run-checks.ts';
import { allChecks, allGapObservers } from '../sections/all-checks.ts';
import { spendingLanes } from '../sections/lanes.ts';
import { type AccuracyCase, type CaseResult, profileOf, serverOf, settingOf } from './case.ts';
import { simulatedTime } from './simulated-time.ts';

/** What a busy machine may take over an exchange, in real milliseconds: that time does not pass. */
const PATIENCE = { connect: 300_000, headers: 300_000, body: 300_000 };

/** Runs a case in time that is skipped where everybody waits: what takes seconds on a fast clock takes a quarter of one. */
export async function simulateCase(accuracyCase: AccuracyCase): Promise<CaseResult> {
  const { clock, holding } = simulatedTime();
  const server = await startReferenceServer({
    ...serverOf(accuracyCase),
    clock: { speed: clock.speed, now: () => Math.floor(clock.now()) },
  });
  const setting = { ...settingOf(accuracyCase), clockSpeed: clock.speed };
  const values = new Map(server.keys.map(({ name, value }) => [name, value]));
  const client = createClient({
    baseUrl: server.baseUrl,
    now: () => clock.now(),
    secrets: values.values(),
    timeouts: PATIENCE,
  });
  try {
    const run = new Run({
      baseUrl: server.baseUrl,
      runId: 'abcd2345',
      client: holding(client),
      clock,
      keys: profileKeys(profileOf(server.baseUrl, setting), values),
      permissions: new Set(setting.permissions),
      sampleCategoryId: undefined,
    });
    const ready = await preflight(run);
    if (ready.kind === 'not-ready') return { verdicts: [], requests: 0, problem: ready.message };
    const result = await runChecks(run, {
      checks: allChecks,
      gapObservers: allGapObservers,
      lanes: (probe) => spendingLanes(probe, allChecks),
    });
    return {
      verdicts: [...result.requirements].map(([id, { verdict, reason }]) => ({ id, verdict, reason })),
      requests: run.readings.length,
    };
  } finally {
    await client.close();
    await server.close();
  }
}
