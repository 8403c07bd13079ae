/** Scenarios run briefly: what several tests share. */

import { createServer, type RequestListener } from 'node:http';
import type { Test } from 'tap';
import { DIRECT } from '../../../checks/wire/access.ts';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { findK6, type K6Binary, provideK6 } from '../k6/k6-binary.ts';
import { type LoadRun, runLoad } from '../load-run.ts';
import { type LoadTarget, startEmbeddedTarget } from '../quota/load-target.ts';
import type { LoadResult } from '../result/load-result.ts';

const { CI } = process.env;
// In CI there is no skipping: k6 is built where it is missing.
const found = CI === 'true' || CI === '1' ? await provideK6(() => {}) : await findK6();

/** Why tests that need k6 are skipped; false where they are not. */
export const skip: string | false =
  found === undefined && 'there is no k6 2.x on this machine; "petstore-harness load smoke" builds one';

/** The k6 of the tests. */
export const k6: K6Binary = found ?? { path: '', version: '' };

/** Short enough for a test, long enough to be the scenario, where three seconds at 30 requests/s are not. */
const BRIEFLY: Readonly<Record<string, Partial<LoadRun> & { clockSpeed?: number }>> = {
  soak: { seconds: 14, rate: 20 },
  burst: { clockSpeed: 20 },
  'plan-limit-edge': { clockSpeed: 20 },
  'polite-clients': { clockSpeed: 10 },
  'abusive-client': { clockSpeed: 40 },
  'noisy-neighbour': { seconds: 16, rate: 20, clockSpeed: 4 },
};

/** Runs a scenario against an embedded server of its own. */
export async function briefly(
  out: string,
  name: string,
  more: Partial<LoadRun> = {},
  options: Parameters<typeof startEmbeddedTarget>[0] = {},
): Promise<LoadResult> {
  const { clockSpeed = 1, ...brief } = BRIEFLY[name] ?? {};
  const target = await startEmbeddedTarget({ clockSpeed, ...options });
  try {
    return await runAt(target, out, name, { ...brief, ...more });
  } finally {
    await target.close();
  }
}

/** Runs a scenario for three seconds. */
export function runAt(target: LoadTarget, out: string, name: string, more: Partial<LoadRun> = {}) {
  return runLoad({
    facts: scenarioNamed(name),
    target,
    k6,
    out,
    runId: 'abcd1234',
    seconds: 3,
    rate: 30,
    graceSeconds: 0.5,
    ...more,
  });
}

/** A server of the test's own as a target, with one key that nothing exhausts. */
export async function targetThat(t: Test, listener: RequestListener): Promise<LoadTarget> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no server');
  const key = { name: 'load', plan: 'enterprise', env: 'PETSTORE_TEST_KEY', roles: ['load'] } as const;
  return {
    address: `http://127.0.0.1:${address.port}/v1`,
    access: DIRECT,
    keys: [{ ...key, perMinute: 1e6, perDay: 1e9 }],
    secrets: { PETSTORE_TEST_KEY: 'canary-9b7e1f42d08c55aa' },
    permit: [],
    clockSpeed: 1,
  };
}
