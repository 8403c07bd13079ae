/** Faults that only load shows, and exact counts. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenarioNamed } from '../lib/catalogue.ts';
import { type LoadRun, runLoad } from './load-run.ts';
import type { LoadTarget } from './quota/load-target.ts';
import type { LoadResult } from './result/load-result.ts';
import { assertSound, briefly, k6, skip } from './testing/brief-runs.ts';

/** The requests of a load that came to their end: k6 counts none that it cut off, as happens on a busy machine. */
const finished = ({ total }: LoadResult) => total.requests - total.outcomes.unfinished;

/** No key is sent more than was said before. */
function assertWithinBill(t: Test, { bill }: LoadResult): void {
  for (const { key, sent = 0, requests } of bill.keys)
    t.ok(sent <= requests, `${key}: ${sent} of ${requests} on the bill`);
}

/** Time for the last answers on a busy machine: of a request that k6 cut off its own count may not know. */
const graceSeconds = 5;

t.test('counts are exact: every request is in the report once', { skip }, async (t) => {
  const out = join(t.testdir({}), 'out');
  const result = await briefly(out, 'mixed', { seconds: 4, rate: 150, graceSeconds });
  const summary = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'));
  t.equal(finished(result), summary.metrics.http_reqs.values.count);
  t.equal(
    result.bill.keys.reduce((sum, { sent = 0 }) => sum + sent, 0),
    result.total.requests + 1,
    'with the look at the target before the load',
  );
  assertWithinBill(t, result);
  // A machine that is busy in the last moment sends less; the bill has no room for guesses.
  t.equal(result.bill.total, 601);
});

t.test('a request that is never answered is in the report all the same', { skip }, async (t) => {
  let received = 0;
  const server = createServer((request, response) => {
    const isPreflight = request.url?.endsWith('limit=100') && received === 0;
    if (!isPreflight) received += 1;
    if (received > 60) return;
    const headers = {
      'content-type': 'application/json',
      'x-ratelimit-limit': 1e6,
      'x-ratelimit-remaining': 1e6 - received,
      'x-ratelimit-reset': Math.ceil(Date.now() / 1000) + 60,
    };
    response.writeHead(200, headers).end('[{"id":1,"name":"Rex","categoryId":1}]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const facts = scenarioNamed('mixed');
  if (facts === undefined || address === null || typeof address === 'string') throw new Error('no server');
  const target: LoadTarget = {
    address: `http://127.0.0.1:${address.port}/v1`,
    keys: [
      {
        name: 'load',
        plan: 'enterprise',
        env: 'PETSTORE_TEST_KEY',
        roles: ['load'],
        perMinute: 1e6,
        perDay: 1e9,
      },
    ],
    secrets: { PETSTORE_TEST_KEY: 'a-key-for-the-test' },
    permit: [],
    clockSpeed: 1,
    categoryId: undefined,
  };
  const out = join(t.testdir({}), 'out');
  const timing = { rate: 50, seconds: 2, graceSeconds: 0.3 };
  const { total, verdict } = await runLoad({ facts, target, k6, out, ...timing });
  t.equal(total.requests, received);
  const { unfinished, error } = total.outcomes;
  t.ok(unfinished + error > 10, `${unfinished} cut off, ${error} without a response`);
  t.equal(verdict, 'broken');
});

t.test('three shards are one load: keys apart, counts added up', { skip }, async (t) => {
  const out = join(t.testdir({}), 'out');
  const result = await briefly(out, 'mixed', { seconds: 4, rate: 60, shards: 3, graceSeconds });
  assertSound(t, result);
  assertWithinBill(t, result);
  t.equal(result.run.shards, 3);
  const streams = await Promise.all(
    [1, 2, 3].map(async (shard) => {
      const plan = JSON.parse(await readFile(join(out, 'k6', `shard-${shard}`, 'plan.json'), 'utf8'));
      return plan.streams[0] as { readonly keys: number[]; readonly constantRate: number };
    }),
  );
  const used = streams.flatMap(({ keys }) => keys);
  t.equal(new Set(used).size, used.length, 'no two shards share a key');
  const rate = streams.reduce((sum, { constantRate }) => sum + constantRate, 0);
  t.ok(Math.abs(rate - 60) < 0.001, `${rate} requests a second in all`);
  let counted = 0;
  for (const shard of [1, 2, 3]) {
    const summary = JSON.parse(await readFile(join(out, 'k6', `shard-${shard}`, 'summary.json'), 'utf8'));
    counted += summary.metrics.http_reqs.values.count;
  }
  t.equal(finished(result), counted);
  // A busy machine does not get to send some, and goes on a moment longer.
  const { droppedIterations } = result.generator;
  const arrivals = result.total.requests + droppedIterations;
  t.ok(Math.abs(arrivals - 240) <= 24, `${arrivals} of 240 arrivals, ${droppedIterations} not sent`);
});

t.test('a client that is never refused keeps to its bill', { skip }, async (t) => {
  const result = await briefly(join(t.testdir({}), 'out'), 'polite-clients', {}, { fault: 'free-unlimited' });
  assertWithinBill(t, result);
});

type More = Partial<LoadRun> & { readonly clockSpeed?: number };

t.test(
  'faults that only load shows are found by the scenario meant for them',
  // They mostly wait for windows: three at a time.
  { skip, jobs: 3 },
  async (t) => {
    const faults: readonly [fault: string, scenario: string, sign: RegExp, more?: More][] = [
      // What a bucket would give back while a minute's requests are sent is no sign: that has to be little.
      ['limiter-races', 'plan-limit-edge', /offered to/, { clockSpeed: 8 }],
      ['limiter-races-on-lists', 'plan-limit-edge', /offered to/, { clockSpeed: 8 }],
      ['id-races', 'burst', /its own id/],
      ['load-ids-collide', 'burst', /its own id/],
      // The more requests, the more it adds to what a busy machine takes anyway.
      ['load-latency-leaks', 'soak', /creep/, { rate: 150, seconds: 36 }],
      ['load-errors', 'average-load', /errors<0\.1%/, { seconds: 4, rate: 250 }],
      ['load-stalls', 'soak', /p99\.95/, { rate: 250 }],
      ['ban-of-everybody', 'abusive-client', /errors==0/],
      ['ban-of-the-plan', 'abusive-client', /errors==0/, { rate: 40 }],
      ['ban-of-all-but-itself', 'abusive-client', /errors==0/, { rate: 40 }],
    ];
    for (const [fault, scenario, sign, { clockSpeed, ...request } = {}] of faults) {
      const target = { fault, ...(clockSpeed === undefined ? {} : { clockSpeed }) };
      void t.test(`${fault}: ${scenario}`, { buffered: true }, async (t) => {
        // A race shows only where requests overlap, which a busy machine may prevent: three runs, one has to show it.
        let broken: string[] = [];
        for (let run = 1; run <= 3 && !broken.some((name) => sign.test(name)); run += 1) {
          const result = await briefly(join(t.testdir({}), `out-${run}`), scenario, request, target);
          broken = result.thresholds.filter(({ held }) => !held).map(({ name }) => name);
        }
        t.ok(
          broken.some((name) => sign.test(name)),
          broken.join('; ') || 'nothing was found',
        );
      });
    }
  },
);
