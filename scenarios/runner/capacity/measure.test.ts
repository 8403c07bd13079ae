import { join } from 'node:path';
import t from 'tap';
import { assertAsStored } from '../../../checks/testing/as-stored.ts';
import { DIRECT } from '../../../checks/wire/access.ts';
import type { LoadRun } from '../load-run.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import type { BudgetKey } from '../quota/quota.ts';
import type { LoadResult } from '../result/load-result.ts';
import { resultOf } from '../testing/made-results.ts';
import { measureCapacity, type Spent, searchBill, waitFor } from './measure.ts';

const BUSINESS: BudgetKey = {
  name: 'b',
  plan: 'business',
  env: 'B',
  roles: ['load'],
  perMinute: 1000,
  perDay: 2000,
};
const NOW = 1_800_000_000_000;

const BOOKS = { keys: [BUSINESS], clockSpeed: 1 };

const spent = (...steps: readonly (readonly [secondsAgo: number, requests: number])[]): Spent[] =>
  steps.map(([secondsAgo, sent]) => ({ at: NOW - secondsAgo * 1000, name: 'b', sent }));

t.test('what the last minute leaves is spent without waiting', async (t) => {
  t.equal(waitFor({ rate: 100, seconds: 3 }, BOOKS, spent([40, 300], [10, 300]), NOW).waitSeconds, 0);
});

t.test('a step that the next minute can pay waits for it, no longer than it must', async (t) => {
  const { waitSeconds } = waitFor({ rate: 200, seconds: 3 }, BOOKS, spent([40, 300], [10, 300]), NOW);
  t.ok(waitSeconds > 20 && waitSeconds < 21, `${waitSeconds} s`);
});

t.test('the look at the target before each step is on the books', async (t) => {
  t.equal(waitFor({ rate: 1, seconds: 1 }, BOOKS, spent([10, 995]), NOW).waitSeconds, 0);
  t.not(waitFor({ rate: 1, seconds: 1 }, BOOKS, spent([10, 996]), NOW).waitSeconds, 0);
});

t.test(
  'a search may take every minute of its three, but no more than a day or than its fastest step',
  async (t) => {
    const row = {
      name: 'b',
      env: 'B',
      plan: 'business',
      requests: 25,
      busiestMinute: 25,
      perMinute: 1000,
      perDay: 100_000,
    } as const;
    for (const [given, clockSpeed, requests, busiestMinute] of [
      [row, 1, 3000, 1000],
      [{ ...row, perDay: 2000 }, 60, 2000, 1000],
      [{ ...row, perMinute: 1e8, perDay: 1e9 }, 1, 3_400_000, 1_200_000],
    ] as const)
      t.match(searchBill([given], clockSpeed), [{ requests, busiestMinute }]);
  },
);

/** What a try of a rate comes to in place of what the target makes of it. */
type Otherwise = (rate: number, tries: number) => Partial<LoadResult['generator']> | undefined;

/** What a search that sends nothing does and says, at a target that holds up to a rate. A wait ends it. */
async function searched(holds: number, otherwise: Otherwise = () => undefined, more: Partial<LoadRun> = {}) {
  const stop = new AbortController();
  const lines: string[] = [];
  const tried: number[] = [];
  const run = async ({ rate = 0, seconds = 0, graceSeconds, target: { keys } }: LoadRun) => {
    tried.push(rate);
    const left = keys.map(({ minuteLeft, dayLeft }) => [minuteLeft, dayLeft].map((one) => one?.toFixed()));
    lines.push(`${rate.toFixed(2)}/s for ${seconds} s and ${graceSeconds} s, left ${left.join()}`);
    const told = otherwise(rate, tried.filter((one) => one === rate).length);
    const result = resultOf('b', Array<number>(200).fill(rate > holds ? 300_000 : 9000));
    return {
      ...result,
      verdict: told?.errorLines === undefined ? result.verdict : 'failed-to-run',
      generator: { ...result.generator, ...told },
      keys: result.keys.map((key) => ({ ...key, sent: rate * seconds })),
    } as const;
  };
  const found = await measureCapacity(
    {
      ...{ target: RICH, runId: 'a1', k6: { path: '', version: '2' }, out: '', slo: 'p99<280ms' },
      ...more,
      stop: stop.signal,
      onWait: (seconds) => {
        lines.push(`waits for ${(seconds / 60).toFixed(1)} min`);
        stop.abort();
      },
    },
    run,
  );
  const { startedAt, durationSeconds, harnessVersion, ...facts } = found.run;
  const short = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  const told = [{ ...found, run: facts, steps: undefined }, ...found.steps];
  return [...lines, ...told.map((one) => JSON.stringify(one, short))].join('\n');
}

const RICH = {
  ...{ address: 'http://127.0.0.1:9/v1', access: DIRECT, secrets: {}, permit: [], clockSpeed: 1 },
  keys: [{ ...BUSINESS, perMinute: 1e7, perDay: 1e8 }],
};
const stumbling = (from: number, to: number, times = 9): Otherwise => {
  return (rate, tries) => (rate > from && rate < to && tries <= times ? { limit: 'k6 was busy' } : undefined);
};
const poor = (perMinute: number, perDay = 1e8, clockSpeed = 1) => ({
  target: { ...RICH, clockSpeed, keys: [{ ...BUSINESS, perMinute, perDay }] },
});
const gone = () => {
  throw new TargetNotReady('it is gone');
};

t.test('what a search does and says is as stored', async (t) => {
  assertAsStored(t, join(import.meta.dirname, 'testing', 'searches.txt'), {
    'a target that holds 100/s': await searched(100),
    'one that holds whatever comes': await searched(1e6),
    'one that holds nothing': await searched(0),
    'one that holds half a request a second': await searched(0.5, undefined, { rate: 1 }),
    'one that holds three, asked for less than one': await searched(3, undefined, { rate: 0.8 }),
    'a machine that carries nothing': await searched(0, stumbling(0, 200)),
    'a first guess that is too high': await searched(100, undefined, { rate: 300 }),
    'a machine that stumbles six times': await searched(100, stumbling(100, 200, 6)),
    'one that stumbles seven times': await searched(100, stumbling(100, 200, 7)),
    'one that stumbles near the knee': await searched(100, stumbling(100, 150)),
    'one that stumbles at the knee': await searched(100, stumbling(100.2, 101)),
    'arrivals that are late': await searched(100, (rate) => ({ scheduleLagP95Ms: rate > 120 ? 28.1 : 28 })),
    'a step that cannot be run': await searched(1e6, (rate) =>
      rate > 100 ? { errorLines: ['oh'] } : undefined,
    ),
    'a target that goes': await searched(1e6, (rate) => (rate > 100 ? gone() : undefined)),
    'a minute that is spent': await searched(100, undefined, poor(1000)),
    'no minute that is large enough': await searched(100, undefined, poor(100)),
    'a minute that ends too late': await searched(100, undefined, poor(1000, 1e8, 0.356)),
    'a day that is spent': await searched(1e6, undefined, poor(1000, 400)),
    'a day that is spent at the knee': await searched(100, undefined, poor(1e5, 3000)),
    'a day that is spent before anything held': await searched(0, undefined, poor(1000, 80)),
    'a day that pays nothing': await searched(0, undefined, poor(1000, 60)),
  });
});
