import t from 'tap';
import { GAP_FACTOR, MOST_GAP_MS, OUTCOMES, STATUS_FACTOR, seriesCode } from '../../lib/sample.ts';
import { combine } from './figures.ts';
import { SampleStore } from './sample-store.ts';

const names = {
  streams: ['clients', 'noise'],
  keys: [
    { name: 'p', plan: 'pro' },
    { name: 'b', plan: 'business' },
  ],
} as const;

const START = 1_700_000_000_000;

function code(
  stream: number,
  key: number,
  operation: number,
  status: number,
  outcome: (typeof OUTCOMES)[number],
): number {
  return seriesCode(stream, key, operation) + status * STATUS_FACTOR + OUTCOMES.indexOf(outcome);
}

t.test('a line becomes counts by stream, operation and plan', async (t) => {
  const store = new SampleStore(names, 1);
  const ok = code(0, 0, 0, 200, 'ok');
  const line = [
    START,
    ok,
    0,
    1500,
    code(0, 1, 1, 201, 'ok'),
    300,
    2500,
    code(1, 0, 0, 429, 'refused'),
    900,
    500,
  ];
  t.equal(store.addLine(line.join(',')), true);
  t.equal(store.addLine([START + 2000, code(0, 0, 0, 1050, 'error'), 0, 10_000_000].join(',')), true);
  const series = store.series();
  t.match(series, [
    { stream: 'clients', operation: 'listPets', plan: 'pro', requests: 2, statuses: { 200: 1, 1050: 1 } },
    { stream: 'clients', operation: 'createPet', plan: 'business', requests: 1, outcomes: { ok: 1 } },
    { stream: 'noise', operation: 'listPets', plan: 'pro', requests: 1, outcomes: { refused: 1 } },
  ]);
  t.match(series[0]?.blocks, [
    { at: START, requests: 1, errors: 0, p50: 1.5 },
    { at: START + 2000, requests: 1, errors: 1 },
  ]);
  t.same(store.keys().get('p'), { sent: 3, refused: 1 });
  t.same(store.span(), { first: START, last: START + 12_000 });
});

t.test('a sample like the one before it is one negative number', async (t) => {
  const store = new SampleStore(names, 1);
  const ok = code(0, 0, 0, 200, 'ok');
  const like = (gap: number, microseconds: number) => -1 - gap * GAP_FACTOR - microseconds;
  const last = MOST_GAP_MS - 1;
  const line = [START, ok, 0, 1000, like(0, 0), like(7, 3000), like(last - 7, 60_000_000)];
  t.equal(store.addLine(line.join(',')), true);
  t.same(store.keys().get('p'), { sent: 4, refused: 0 });
  t.match(store.series(), [
    { requests: 4, statuses: { 200: 4 }, blocks: [{ at: START, requests: 3, p50: 1 }, { requests: 1 }] },
  ]);
  t.same(store.span(), { first: START, last: START + last + 60_000 });
  t.ok(Number.isSafeInteger(like(last, GAP_FACTOR - 1)), 'exact whatever the duration');
  t.equal(store.addLine(`${START},${like(0, 5)}`), false, 'none is before it');
});

t.test('a line that is none changes nothing it should not', async (t) => {
  const store = new SampleStore(names, 1);
  for (const line of [
    '',
    'x',
    '1,2',
    '1,2,3',
    `${START},${code(0, 9, 0, 200, 'ok')},0,5`,
    `${START},1.5,0,5`,
  ]) {
    t.equal(store.addLine(line), false, JSON.stringify(line));
  }
  t.same(store.series(), []);
});

t.test('a block that is told of late is complete all the same', async (t) => {
  const store = new SampleStore(names, 1);
  const ok = code(0, 0, 0, 200, 'ok');
  store.addLine([START, ok, 0, 1000].join(','));
  store.addLine([START + 60_000, ok, 0, 1000].join(','));
  store.addLine([START + 500, ok, 0, 3000].join(','));
  const [series] = store.series();
  t.same(
    series?.blocks.map(({ at, requests }) => [at - START, requests]),
    [
      [0, 2],
      [60_000, 1],
    ],
  );
  t.equal(series?.requests, 3);
});

/** Latencies as they occur: most around 2 ms, a tail, some stalls. Repeatable. */
function recorded(count: number): number[] {
  let state = 12_345;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state + 1) / (2 ** 31 + 1);
  };
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const stall = random() < 0.004 ? 200_000 * random() : 0;
    return Math.round(2000 * Math.exp(0.6 * normal) + stall);
  });
}

t.test('shards merged are as one process: counts exactly, percentiles within 1 %', async (t) => {
  const all = recorded(40_000);
  const ok = code(0, 0, 0, 200, 'ok');
  const stores = [0, 1, 2, 3].map((shard) => {
    const store = new SampleStore(names, 1);
    // Unequal shards, and unlike: the slow ones gather in the last.
    const own = all
      .toSorted((a, b) => a - b)
      .filter((_, index) => Math.floor((index / all.length) ** 2 * 4) === shard);
    store.addLine(`${START},${own.map((value, index) => `${ok},${index % 3},${value}`).join(',')}`);
    return store;
  });
  const merged = combine(
    stores.flatMap((store) => store.series()),
    60,
  );
  t.equal(merged.requests, all.length);
  t.same(merged.statuses, { 200: all.length });
  const sorted = all.toSorted((a, b) => a - b);
  for (const [percentile, found] of [
    [50, merged.latency?.p50],
    [90, merged.latency?.p90],
    [95, merged.latency?.p95],
    [99, merged.latency?.p99],
    [99.9, merged.latency?.p999],
  ] as const) {
    const true_ = (sorted[Math.ceil((percentile / 100) * sorted.length) - 1] ?? 0) / 1000;
    t.ok(Math.abs((found ?? 0) / true_ - 1) < 0.01, `p${percentile}: ${found} of ${true_}`);
  }
});

t.test('looking at the figures so far takes nothing away', async (t) => {
  const store = new SampleStore(names, 1);
  store.addLine([START, code(0, 0, 0, 200, 'ok'), 0, 1500].join(','));
  const before = store.series();
  t.same(store.series(), before);
  t.match(
    store.since(START).histogram,
    { totalCount: 1, maxValue: 1500 },
    'the last seconds are still at hand',
  );
  store.addLine([START + 10, code(0, 0, 0, 200, 'ok'), 0, 2500].join(','));
  t.match(store.series()[0]?.blocks, [{ at: START, requests: 2, p50: 1.5 }]);
  // A straggler, long after its block was looked at.
  store.addLine([START + 60_000, code(0, 0, 0, 200, 'ok'), 0, 100].join(','));
  store.addLine([START + 20, code(0, 0, 0, 200, 'ok'), 0, 500].join(','));
  t.match(store.series()[0]?.blocks, [
    { at: START, requests: 3 },
    { at: START + 60_000, requests: 1 },
  ]);
});
