/** Faults that only load shows, and exact counts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { assertSound, briefly, skip } from './brief-runs.ts';
import type { LoadRequest } from './load-run.ts';

t.test('counts are exact: every request is in the report once', { skip }, async (t) => {
  const out = join(t.testdir({}), 'out');
  const result = await briefly(out, 'mixed', { seconds: 4, rate: 150 });
  const summary = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'));
  t.equal(result.total.requests, summary.metrics.http_reqs.values.count);
  t.equal(
    result.bill.keys.reduce((sum, { sent = 0 }) => sum + sent, 0),
    result.total.requests,
  );
});

t.test('three shards are one load: keys apart, counts added up', { skip }, async (t) => {
  const out = join(t.testdir({}), 'out');
  const result = await briefly(out, 'mixed', { seconds: 4, rate: 60, shards: 3 });
  assertSound(t, result);
  t.equal(result.run.shards, 3);
  const used = await Promise.all(
    [1, 2, 3].map(async (shard) => {
      const plan = JSON.parse(await readFile(join(out, 'k6', `shard-${shard}`, 'plan.json'), 'utf8'));
      return plan.streams[0].keys as number[];
    }),
  );
  t.equal(new Set(used.flat()).size, used.flat().length, 'no two shards share a key');
  let counted = 0;
  for (const shard of [1, 2, 3]) {
    const summary = JSON.parse(await readFile(join(out, 'k6', `shard-${shard}`, 'summary.json'), 'utf8'));
    counted += summary.metrics.http_reqs.values.count;
  }
  t.equal(result.total.requests, counted);
  t.ok(Math.abs(counted - 240) <= 3, `${counted} of 240 arrivals`);
});

t.test(
  'faults that only load shows are found by the scenario meant for them',
  { skip, timeout: 120_000 },
  async (t) => {
    const faults: readonly [fault: string, scenario: string, sign: RegExp, more?: Partial<LoadRequest>][] = [
      ['limiter-races', 'plan-limit-edge', /offered to/],
      ['id-races', 'burst', /its own id/],
      ['load-ids-collide', 'burst', /its own id/],
      ['load-latency-leaks', 'soak', /creep/, { rate: 60 }],
      ['load-errors', 'average-load', /errors<0\.1%/, { seconds: 4, rate: 250 }],
      ['ban-of-everybody', 'abusive-client', /errors==0/],
    ];
    for (const [fault, scenario, sign, more] of faults) {
      await t.test(`${fault}: ${scenario}`, async (t) => {
        // A race shows only where requests overlap, which a busy machine may prevent: three runs, one has to show it.
        let broken: string[] = [];
        for (let run = 1; run <= 3 && !broken.some((name) => sign.test(name)); run += 1) {
          const result = await briefly(join(t.testdir({}), `out-${run}`), scenario, more, { fault });
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
