/** Scenarios run briefly against the embedded server: what several tests share. */
import type { Test } from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import type { K6Binary } from '../k6/k6-binary.ts';
import { type LoadRun, runLoad } from '../load-run.ts';
import { type EmbeddedOptions, startEmbeddedTarget } from '../quota/load-target.ts';
import type { LoadResult } from '../result/load-result.ts';
import { k6ForTests } from './k6.ts';

const { k6: found, skip: reason } = await k6ForTests();

/** Why tests that need k6 are skipped; false where they are not. */
export const skip: string | false = reason;

/** The k6 of the tests. */
export const k6: K6Binary = found ?? { path: '', version: '', source: 'PATH' };

/** Short enough for a test, long enough to be the scenario. */
export const BRIEFLY: Readonly<Record<string, Partial<LoadRun> & { clockSpeed?: number }>> = {
  smoke: { seconds: 3 },
  'average-load': { seconds: 3, rate: 30 },
  stress: { seconds: 3, rate: 20 },
  spike: { seconds: 3, rate: 60 },
  soak: { seconds: 14, rate: 20 },
  breakpoint: { seconds: 3, rate: 100 },
  mixed: { seconds: 3, rate: 30 },
  'plan-limit-edge': { clockSpeed: 20 },
  'polite-clients': { clockSpeed: 40 },
  'abusive-client': { clockSpeed: 40 },
  'noisy-neighbour': { seconds: 16, rate: 20, clockSpeed: 4 },
  burst: {},
};

/** Runs a scenario against an embedded server of its own. */
export async function briefly(
  out: string,
  name: string,
  more: Partial<LoadRun> = {},
  options: EmbeddedOptions = {},
): Promise<LoadResult> {
  const facts = scenarioNamed(name);
  if (facts === undefined) throw new Error(name);
  const { clockSpeed, ...brief } = BRIEFLY[name] ?? {};
  const target = await startEmbeddedTarget({
    ...(clockSpeed === undefined ? {} : { clockSpeed }),
    ...options,
  });
  try {
    return await runLoad({ facts, target, k6, out, graceSeconds: 0.5, ...brief, ...more });
  } finally {
    await target.close();
  }
}

/** What no machine, however busy, excuses. */
export function assertSound(t: Test, result: LoadResult): void {
  t.same(result.generator.errorLines, [], 'k6 logs no error');
  t.ok(result.total.requests > 0, `${result.total.requests} requests`);
  t.same(result.violations, [], 'the reference server keeps the contract');
  t.equal(result.run.k6ExitCode, 0);
}
