import { join } from 'node:path';
import t from 'tap';
import { assertAnsweredAsStored } from '../../../checks/testing/answered-as-stored.ts';
import type { LoadOperation } from '../../lib/scenario.ts';
import { readCapacity } from '../capacity/result.ts';
import type { LoadSeries } from '../result/load-result.ts';
import { seeded, series } from '../testing/made-results.ts';
import { type Comparison, compareCapacities, compareSeries } from './compare-series.ts';

const TOLERATED = 0.04;

/** A run of 30 s at 50 requests/s with latencies around 20 ms, a drift of the machine of its own, and slow seconds. */
function simulated(
  random: () => number,
  factor: number,
  { errorPart = 0, unevenness = 0 } = {},
): LoadSeries[] {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const machine = Math.exp(0.005 * normal());
  return series(30, () => {
    const slow = (random() < 0.07 ? 1.15 : 1) * (unevenness === 0 ? 1 : Math.exp(unevenness * normal()));
    return Array.from({ length: 50 }, (_, place) => {
      const outcome = random() < errorPart ? '500 error' : '200 ok';
      const microseconds = Math.round(20_000 * factor * machine * slow * Math.exp(0.15 * normal()));
      return [place * 20 + 20, microseconds, outcome] as const;
    });
  });
}

t.test(
  'identical servers raise at most 1 alarm in 20, a 10 % slower one is found at least 19 times of 20',
  async (t) => {
    const random = seeded(7);
    const runs = 20;
    let [alarms, found] = [0, 0];
    for (let run = 0; run < runs; run += 1) {
      const base = simulated(random, 1);
      const [same, slower] = [1, 1.1].map((factor) =>
        compareSeries(base, simulated(random, factor), TOLERATED).findings.some(
          ({ verdict }) => verdict === 'worse',
        ),
      );
      alarms += Number(same);
      found += Number(slower);
    }
    t.ok(alarms <= runs / 20, `${alarms} alarms in ${runs}`);
    t.ok(found >= (runs * 19) / 20, `${found} found in ${runs}`);
  },
);

/** A run as the name of a stored text has it: of each operation a simulated one. */
interface Run {
  readonly factor?: number;
  readonly errorPart?: number;
  readonly unevenness?: number;
  readonly operations?: readonly LoadOperation[];
  /** How many blocks it has. */
  readonly blocks?: number;
}
/** Two runs, or the capacities and intervals of two searches. */
interface Compared {
  readonly runs?: readonly [base: Run, head: Run];
  readonly capacities?: readonly (readonly [value: number | null, low?: number, high?: number])[];
  readonly tolerated?: number;
}

function compared({ runs, capacities, tolerated = TOLERATED }: Compared): Comparison {
  const random = seeded(3);
  const [early, late] = (runs ?? []).map(({ factor = 1, operations = ['listPets'], blocks, ...more }) =>
    operations.flatMap((operation) =>
      simulated(random, factor, more).map((one) => ({
        ...{ ...one, operation, blocks: one.blocks.slice(0, blocks) },
      })),
    ),
  );
  if (early !== undefined && late !== undefined) return compareSeries(early, late, tolerated);
  const [base, head] = (capacities ?? []).map(([capacity, low = 0, high = 0]) => ({
    ...readCapacity(join(import.meta.dirname, '../../testing')),
    ...{ capacity, interval: capacity === null ? null : ([low, high] satisfies [number, number]) },
  }));
  if (base === undefined || head === undefined) throw new Error('nothing to compare');
  return compareCapacities(base, head, tolerated);
}

t.test('what a comparison says is as stored', async (t) => {
  await assertAnsweredAsStored(t, join(import.meta.dirname, 'testing', 'comparisons.txt'), (asked) => {
    const { findings, notCompared } = compared(JSON.parse(asked));
    const rows = findings.map(({ metric, verdict, actual }) => `${metric}: ${verdict}, ${actual}`);
    return [...rows, ...notCompared].join('\n');
  });
});
