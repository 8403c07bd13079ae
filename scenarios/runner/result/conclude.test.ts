import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { logged, planWith, resultOf, START } from '../testing/made-results.ts';
import { conclude } from './conclude.ts';
import { type LoadResult, readLoadResult } from './load-result.ts';
import { Recording, type ResultPart } from './recording.ts';

const fast = Array.from({ length: 300 }, () => 1000);
const slow = Array.from({ length: 100 }, () => 9000);

t.test('thresholds are judged on the whole, not on what each runner found', async (t) => {
  const merged = conclude([resultOf('a', fast), resultOf('b', slow, START + 500)]);
  t.match(merged, {
    verdict: 'broken',
    run: { shards: 2 },
    total: { requests: 400, statuses: { 200: 400 } },
    thresholds: [{ name: 'p99<5ms', held: false }],
    keys: [
      { name: 'a', requests: 9, sent: 300 },
      { name: 'b', requests: 9, sent: 100 },
    ],
  });
  t.ok(Math.abs((merged.total.latency?.p50 ?? 0) - 1) < 0.01, 'the median of all, not the mean of medians');
  t.equal(conclude([resultOf('a', fast), resultOf('b', slow)], 'p99<10ms').verdict, 'held');
  const ended = { kind: 'run', name: 'p99<5ms holds at every rate', held: false, actual: 'broke' } as const;
  const part = { ...resultOf('a', fast), thresholds: [ended] };
  t.equal(conclude([part, resultOf('b', fast)]).verdict, 'broken', 'what ended a part ends the whole');
  const [series] = merged.series;
  t.equal(new Set(series?.blocks.map(({ at }) => at)).size, series?.blocks.length, 'one block a second');
  t.equal(
    series?.blocks.reduce((sum, { outcomes }) => sum + outcomes.ok, 0),
    400,
  );
});

/** Whether merged percentiles are those of all durations, in microseconds, within the histograms' digits. */
function percentilesAgree({ total }: LoadResult, durations: readonly number[]): boolean {
  const all = durations.toSorted((a, b) => a - b);
  return (
    [
      [50, total.latency?.p50],
      [90, total.latency?.p90],
      [95, total.latency?.p95],
      [99, total.latency?.p99],
      [99.9, total.latency?.p999],
      [100, total.latency?.max],
    ] as const
  ).every(([percentile, merged = 0]) => {
    const measured = (all[Math.ceil((percentile / 100) * all.length) - 1] ?? 0) / 1000;
    return Math.abs(merged / measured - 1) < 0.01;
  });
}

t.test('merged shards are as one process that measured all', async (t) => {
  // Microseconds, a line a process: load mixed --shards 3 --rate 300 against a server that stalls now and then.
  const recorded = await readFile(new URL('../testing/recorded-shards.csv', import.meta.url), 'utf8');
  const shards = recorded.trim().split('\n');
  const durations = shards.map((line) => line.split(',').map(Number));
  const merged = conclude(durations.map((own, index) => resultOf(`key-${index}`, own)));
  t.equal(merged.total.requests, durations.flat().length);
  t.ok(percentilesAgree(merged, durations.flat()));
  const shard = fc.array(fc.integer({ min: 200, max: 5_000_000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(fc.array(shard, { minLength: 1, maxLength: 4 }), (all) => {
      const whole = conclude(all.map((own, index) => resultOf(`key-${index}`, own)));
      return whole.total.requests === all.flat().length && percentilesAgree(whole, all.flat());
    }),
    { numRuns: 30 },
  );
});

t.test('what does not belong together is not merged', async (t) => {
  const one = resultOf('a', fast);
  const other = (run: Partial<LoadResult['run']>) => ({
    ...resultOf('b', fast),
    run: { ...one.run, ...run },
  });
  for (const [parts, words] of [
    [[], /nothing to merge/],
    [[one, other({ scenario: 'spike' })], /mixed and spike are different scenarios/],
    [[one, other({ target: 'http://127.0.0.1:2/v1' })], /are different targets/],
    [[one, one], /the same part of one run/],
    [[one, resultOf('b', fast, START + 60_000, { runId: 'b2' })], /one after the other: .* see compare/],
  ] as const)
    t.throws(() => conclude(parts), { name: 'UsageError', message: words });
  t.ok(conclude([one, resultOf('b', fast, START, { runId: 'b2' })]), 'two machines at the same time');
});

/** What a machine measured of 300 requests of 1 ms. */
function machine({ key = 'a', cpu = 0.5, lags = [0, 3], dropped = 0, vus = 4, rate = 10 }): ResultPart {
  const plan = planWith(key, { vus, rate });
  const recording = new Recording({ plan, processes: 1, redact: (text) => text });
  const series = { '0 listPets 200 ok': fast.flatMap((duration, index) => [index * 10, duration]) };
  recording.add(logged({ samples: { since: START, series, lags, added: [] } }));
  recording.add(logged({ end: { plan, dropped, requests: 300 } }));
  return recording.part({ cpuMeanPart: cpu });
}

t.test('a generator that was the limit is no verdict on the target', async (t) => {
  const machines: readonly (readonly [Parameters<typeof machine>[0], RegExp | undefined])[] = [
    [{}, undefined],
    [{ lags: [0, 320] }, /up to 304 ms late/],
    [{ cpu: 0.95 }, /95 % of the CPU/],
    [{ dropped: 50 }, /50 of [\d,]+ arrivals were not sent/],
    // Nine hundred a second of 1 ms each are a busy user: it was waiting for the target.
    [{ dropped: 50, vus: 1, rate: 900 }, undefined],
  ];
  for (const [what, limit] of machines) {
    const { verdict, generator } = conclude([machine(what)]);
    t.equal(verdict, limit === undefined ? 'held' : 'generator-limited');
    if (limit === undefined) t.equal(generator.limit, null);
    else t.match(generator.limit, limit);
  }
  const halves = [machine({}), machine({ key: 'b' })];
  t.equal(conclude(halves).verdict, 'held', 'two machines, none of them at its limit');
});

t.test('a file is read as it was written, or refused with its name and the place', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'load-report.json');
  const written = resultOf('a', fast);
  await writeFile(file, JSON.stringify(written));
  t.same(readLoadResult(folder), written);
  t.same(readLoadResult(file), written);
  const { series: _, ...without } = written;
  const [one] = written.series;
  const blocks = [{ ...one?.blocks[0], histogram: { 1000: 'x' } }];
  for (const [content, words] of [
    ['{', /load-report\.json: is not JSON/],
    ['[]', /is not a load result/],
    [JSON.stringify({ ...written, formatVersion: 1 }), /has format version 1/],
    [JSON.stringify(without), /\/series expected required property/],
    [JSON.stringify({ ...written, verdict: 'fine' }), /\/verdict expected one of held, broken, /],
    [
      JSON.stringify({ ...written, series: [{ ...one, blocks }] }),
      /\/series\/0\/blocks\/0\/histogram\/1000 expected integer/,
    ],
  ] as const) {
    await writeFile(file, content);
    t.throws(() => readLoadResult(folder), { name: 'UsageError', message: words });
  }
  t.throws(() => readLoadResult(join(folder, 'absent')), UsageError);
});
