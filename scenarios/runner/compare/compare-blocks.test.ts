import t from 'tap';
import { STATUS_FACTOR, seriesCode } from '../../lib/sample.ts';
import type { LoadSeries } from '../result/load-result.ts';
import { SampleStore } from '../result/sample-store.ts';
import { compareBlocks } from './compare-blocks.ts';

const names = { streams: ['s'], keys: [{ name: 'p', plan: 'pro' }] } as const;
const OPTIONS = { toleratedSlowdown: 0.04 };

/** A run of 30 s at 50 requests/s with latencies around 20 ms, a drift of the machine of its own, and slow seconds. */
function simulated(random: () => number, factor: number, errorPart = 0): LoadSeries[] {
  const store = new SampleStore(names, 1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const machine = Math.exp(0.005 * normal());
  for (let second = 0; second < 30; second += 1) {
    const slow = random() < 0.07 ? 1.15 : 1;
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
  const { findings } = compareBlocks(simulated(random, 1), simulated(random, 1, 0.05), OPTIONS);
  t.match(
    findings.find(({ metric }) => metric.endsWith('errors')),
    { alarm: true },
  );
});

t.test('too few blocks are no comparison', async (t) => {
  const random = seeded(1);
  const short = simulated(random, 1).map((series) => ({ ...series, blocks: series.blocks.slice(0, 4) }));
  const comparison = compareBlocks(short, simulated(random, 1), OPTIONS);
  t.same(comparison.findings, []);
  t.match(comparison.notCompared, [/time blocks/]);
});
