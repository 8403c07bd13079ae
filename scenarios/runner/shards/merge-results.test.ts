import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { STATUS_FACTOR, seriesCode } from '../../lib/sample.ts';
import { combine } from '../result/figures.ts';
import type { LoadResult } from '../result/load-result.ts';
import { LOAD_RESULT_FORMAT_VERSION } from '../result/load-result.ts';
import { ResultUnreadable, readLoadResult } from '../result/read-result.ts';
import { SampleStore } from '../result/sample-store.ts';
import { MergeRefused, mergeResults } from './merge-results.ts';

const START = 1_700_000_000_000;

/** What a runner would have written that made these requests, in microseconds. */
function result(key: string, durations: readonly number[], startedAt = START): LoadResult {
  const store = new SampleStore({ streams: ['clients'], keys: [{ name: key, plan: 'pro' }] }, 1);
  const ok = seriesCode(0, 0, 0) + 200 * STATUS_FACTOR;
  store.addLine(`${startedAt},${durations.map((duration) => `${ok},10,${duration}`).join(',')}`);
  const series = store.series();
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run: {
      id: 'a1',
      scenario: 'mixed',
      answers: '?',
      target: 'http://127.0.0.1:1/v1',
      startedAt: new Date(startedAt).toISOString(),
      durationSeconds: 10,
      harnessVersion: '0.1.0',
      k6Version: '2.2.0',
      k6ExitCode: 0,
      shards: 1,
      clockSpeed: 1,
      animalsAdded: 2,
    },
    verdict: 'held',
    notes: [],
    series,
    total: combine(series, 10),
    thresholds: [{ name: 'p99<5ms', held: true, actual: '1 ms' }],
    generator: {
      droppedIterations: 1,
      scheduleLagP95Ms: 2,
      cpuMeanPart: 0.1,
      cpuPeakPart: 0.2,
      memoryPeakBytes: 1e6,
      errorLines: [],
      limit: null,
    },
    violations: [],
    measurements: [],
    bill: {
      keys: [
        {
          key,
          plan: 'pro',
          requests: 9,
          busiestMinute: 9,
          perMinute: 300,
          perDay: 10_000,
          sent: durations.length,
          refused: 0,
        },
      ],
      total: 9,
    },
  };
}

const fast = Array.from({ length: 300 }, () => 1000);
const slow = Array.from({ length: 100 }, () => 9000);

t.test('thresholds are judged on the whole, not on what each runner found', async (t) => {
  const merged = mergeResults([result('a', fast), result('b', slow, START + 2000)]);
  t.match(merged, {
    verdict: 'broken',
    run: { shards: 2, animalsAdded: 4, durationSeconds: 12 },
    total: { requests: 400, statuses: { 200: 400 } },
    thresholds: [{ name: 'p99<5ms', held: false }],
    generator: { droppedIterations: 2 },
    bill: {
      keys: [
        { key: 'a', sent: 300 },
        { key: 'b', sent: 100 },
      ],
      total: 18,
    },
  });
  t.ok(Math.abs((merged.total.latency?.p50 ?? 0) - 1) < 0.01, 'the median of all, not the mean of medians');
  t.match(mergeResults([result('a', fast), result('b', slow)], 'p99<10ms'), { verdict: 'held' });
});

t.test('merged shards are as one process that measured all: recorded samples', async (t) => {
  // Microseconds, a line a process: load mixed --shards 3 --rate 300 against a server that stalls now and then.
  const recorded = await readFile(new URL('testing/recorded-shards.csv', import.meta.url), 'utf8');
  const shards = recorded
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number));
  t.equal(shards.length, 3);
  const { total } = mergeResults(shards.map((durations, index) => result(`key-${index}`, durations)));
  const all = shards.flat().toSorted((a, b) => a - b);
  t.equal(total.requests, all.length);
  for (const [percentile, merged] of [
    [50, total.latency?.p50],
    [90, total.latency?.p90],
    [95, total.latency?.p95],
    [99, total.latency?.p99],
    [99.9, total.latency?.p999],
    [100, total.latency?.max],
  ] as const) {
    const measured = (all[Math.ceil((percentile / 100) * all.length) - 1] ?? 0) / 1000;
    const off = Math.abs((merged ?? 0) / measured - 1);
    t.ok(off < 0.01, `p${percentile}: ${merged} ms merged, ${measured} ms measured`);
  }
});

t.test('blocks of the same second become one', async (t) => {
  const merged = mergeResults([result('a', fast), result('b', slow)]);
  const [series] = merged.series;
  t.equal(
    series?.blocks.reduce((sum, { requests }) => sum + requests, 0),
    400,
  );
  t.equal(new Set(series?.blocks.map(({ at }) => at)).size, series?.blocks.length);
});

t.test('what does not belong together is not merged', async (t) => {
  const one = result('a', fast);
  const other = { ...one, run: { ...one.run, scenario: 'spike' } };
  t.throws(() => mergeResults([one, other]), MergeRefused);
  t.throws(() => mergeResults([]), MergeRefused);
  t.throws(
    () => mergeResults([one, { ...one, run: { ...one.run, target: 'http://127.0.0.1:2/v1' } }]),
    MergeRefused,
  );
});

t.test('a file is read as it was written, or refused with its name and the place', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'load-report.json');
  await writeFile(file, JSON.stringify(result('a', fast)));
  t.same(readLoadResult(folder), result('a', fast));
  t.same(readLoadResult(file), result('a', fast));
  const { series: _, ...without } = result('a', fast);
  const [spoiled] = result('a', fast).series;
  for (const [content, words] of [
    ['{', /load-report\.json: is not JSON/],
    ['[]', /is not a load result/],
    [JSON.stringify({ ...result('a', fast), formatVersion: 2 }), /has format version 2/],
    [JSON.stringify(without), /must have required property 'series'/],
    [
      JSON.stringify({
        ...result('a', fast),
        series: [{ ...spoiled, latency: { ...spoiled?.latency, histogram: 'x' } }],
      }),
      /histogram that cannot be decoded/,
    ],
  ] as const) {
    await writeFile(file, content);
    t.throws(() => readLoadResult(folder), { name: 'ResultUnreadable', message: words });
  }
  t.throws(() => readLoadResult(join(folder, 'absent')), ResultUnreadable);
});
