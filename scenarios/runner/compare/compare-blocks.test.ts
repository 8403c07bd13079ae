import t from 'tap';
import { STATUS_FACTOR, seriesCode } from '../../lib/sample.ts';
import type { LoadSeries } from '../result/load-result.ts';
import { SampleStore } from '../result/sample-store.ts';
import { chanceOfDifference, compareBlocks } from './compare-blocks.ts';

const names = { streams: ['s'], keys: [{ name: 'p', plan: 'pro' }] } as const;
const OPTIONS = { toleratedSlowdown: 0.04 };

/** A run of 30 s at 50 requests/s with latencies around 20 ms, a drift of the machine of its own, and slow seconds. */
function simulated(
  random: () => number,
  factor: number,
  { errorPart = 0, unevenness = 0, seconds = 30 } = {},
): LoadSeries[] {
  const store = new SampleStore(names, 1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const machine = Math.exp(0.005 * normal());
  for (let second = 0; second < seconds; second += 1) {
    const slow = (random() < 0.07 ? 1.15 : 1) * (unevenness === 0 ? 1 : Math.exp(unevenness * normal()));
    const rows = Array.from({ length: 50 }, () => {
      const failed = random() < errorPart;
      const code = seriesCode(0, 0, 0) + (failed ? 500 : 200) * STATUS_FACTOR + (failed ? 3 : 0);
      return `${code},20,${Math.round(20_000 * factor * machine * slow * Math.exp(0.15 * normal()))}`;
    });
    store.addLine(`${1_700_000_000_000 + second * 1000},${rows.join(',')}`);
  }
  return store.series();
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

t.test(
  'identical servers raise at most 1 alarm in 20, a 10 % slower one is found at least 19 times of 20',
  async (t) => {
    const random = seeded(7);
    const runs = 100;
    let [alarms, found] = [0, 0];
    for (let run = 0; run < runs; run += 1) {
      const base = simulated(random, 1);
      if (compareBlocks(base, simulated(random, 1), OPTIONS).findings.some(({ alarm }) => alarm)) alarms += 1;
      if (compareBlocks(base, simulated(random, 1.1), OPTIONS).findings.some(({ alarm }) => alarm))
        found += 1;
    }
    t.ok(alarms <= runs / 20, `${alarms} alarms in ${runs}`);
    t.ok(found >= (runs * 19) / 20, `${found} found in ${runs}`);
  },
);

t.test('a faster server is better, not worse', async (t) => {
  const random = seeded(3);
  const { findings } = compareBlocks(simulated(random, 1), simulated(random, 0.85), OPTIONS);
  t.match(findings[0], { metric: 'listPets p50', alarm: false, better: true });
  t.ok((findings[0]?.ratio ?? 0) > 0.82 && (findings[0]?.ratio ?? 0) < 0.88);
});

t.test('errors that were not there are found', async (t) => {
  const random = seeded(5);
  const { findings } = compareBlocks(
    simulated(random, 1),
    simulated(random, 1, { errorPart: 0.05 }),
    OPTIONS,
  );
  t.match(
    findings.find(({ metric }) => metric.endsWith('errors')),
    { alarm: true },
  );
});

t.test('a run that scatters too much to tell decides nothing', async (t) => {
  const random = seeded(9);
  const { findings } = compareBlocks(
    simulated(random, 1, { unevenness: 0.3 }),
    simulated(random, 1, { unevenness: 0.3 }),
    OPTIONS,
  );
  t.match(findings[0], { alarm: false, better: false, undecided: true });
  const [quiet] = compareBlocks(simulated(random, 1), simulated(random, 1), OPTIONS).findings;
  t.match(quiet, { alarm: false, undecided: false });
});

t.test('a spread that changed around the same median is told, and is no alarm', async (t) => {
  const random = seeded(11);
  const seconds = 120;
  const [base, uneven] = [
    simulated(random, 1, { seconds }),
    simulated(random, 1, { seconds, unevenness: 0.08 }),
  ];
  const [middle] = compareBlocks(base, uneven, OPTIONS).findings;
  t.match(middle, { metric: 'listPets p50', alarm: false, spread: /^the same median, .* scatter more: / });
  const [back] = compareBlocks(uneven, base, OPTIONS).findings;
  t.match(back, { spread: /scatter less/ });
  let told = 0;
  for (let run = 0; run < 15; run += 1) {
    const [same] = compareBlocks(
      simulated(random, 1, { seconds }),
      simulated(random, 1, { seconds }),
      OPTIONS,
    ).findings;
    if (same?.spread !== undefined) told += 1;
  }
  t.ok(told === 0, `told of ${told} of 15 identical pairs`);
});

t.test('how often chance sets two samples so far apart', async (t) => {
  const ramp = (from: number) => Array.from({ length: 50 }, (_, index) => index + from);
  t.equal(chanceOfDifference(ramp(0), ramp(0)), 1);
  // Two samples of 50, 14 apart: 0.0392, counted over all orders of the 100 values.
  t.ok(Math.abs(chanceOfDifference(ramp(0), ramp(14)) - 0.0392) < 0.001);
  t.ok(chanceOfDifference(ramp(0), ramp(40)) < 1e-6);
});

t.test('too few blocks are no comparison', async (t) => {
  const random = seeded(1);
  const short = simulated(random, 1).map((series) => ({ ...series, blocks: series.blocks.slice(0, 4) }));
  const comparison = compareBlocks(short, simulated(random, 1), OPTIONS);
  t.same(comparison.findings, []);
  t.match(comparison.notCompared, [/time blocks/]);
});
