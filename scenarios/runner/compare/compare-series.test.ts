import { join } from 'node:path';
import t from 'tap';
import type { LoadOperation } from '../../lib/scenario.ts';
import { assertAnsweredAsStored } from '../../testing/answered-as-stored.ts';
import { readCapacity } from '../capacity/result.ts';
import { judgeWhole } from '../result/conclude.ts';
import type { LoadSeries } from '../result/load-result.ts';
import { resultOf, START, seeded, series } from '../testing/made-results.ts';
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
      if (
        compareSeries(base, simulated(random, 1), TOLERATED).findings.some(
          ({ verdict }) => verdict === 'worse',
        )
      )
        alarms += 1;
      if (
        compareSeries(base, simulated(random, 1.1), TOLERATED).findings.some(
          ({ verdict }) => verdict === 'worse',
        )
      )
        found += 1;
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
  assertAnsweredAsStored(t, join(import.meta.dirname, 'testing', 'comparisons.txt'), (asked) => {
    const { findings, notCompared } = compared(JSON.parse(asked));
    const rows = findings.map(({ metric, verdict, actual }) => `${metric}: ${verdict}, ${actual}`);
    return [...rows, ...notCompared].join('\n');
  });
});

/** So many seconds of ten requests; how long they take follows the second in which they begin. */
const lasting = (seconds: number, microseconds: (second: number) => number) =>
  series(seconds, (second) =>
    Array.from({ length: 10 }, (_, place) => [place * 100, microseconds(second) + place * 7] as const),
  );

t.test('a run is judged as a whole, or says that it was too short for it', async (t) => {
  const slowAtPeak = lasting(100, (second) => (second >= 40 && second < 66 ? 50_000 : 1000));
  const slowAfter = lasting(100, (second) => (second >= 40 ? 5000 : 1000));
  const even = lasting(42, () => 1000);
  const judged = (scenario: string) => (all: LoadSeries[]) => {
    const seconds = scenario === 'spike' ? 100 : (all[0]?.blocks.length ?? 0);
    const run = {
      ...resultOf('k', [1]).run,
      scenario,
      seconds,
      startedAt: new Date(START).toISOString(),
    };
    return judgeWhole(run, all)[0];
  };
  const [recovery, trend, neighbour] = ['spike', 'soak', 'noisy-neighbour'].map(judged);
  if (recovery === undefined || trend === undefined || neighbour === undefined) throw new Error('none');
  for (const [outcome, held, actual] of [
    [recovery(slowAtPeak), true, /slower than usual for 4 s$/],
    [recovery(slowAfter), false, /listPets p50 1\.0\d ms → 5\.0\d ms/],
    [recovery(even), null, /^listPets: \d+ and \d+ time blocks, 6 are needed: run it longer$/],
    [trend(even), true, /^listPets p50 .*\+0\.0 %/],
    [trend(lasting(40, (second) => 1000 + 50 * second)), false, /^listPets p50 .* → /],
    [trend(lasting(5, () => 1000)), null, /time blocks, 6 are needed: run it longer$/],
    [
      neighbour([
        ...even,
        ...named(
          lasting(42, () => 9000),
          'noise',
        ),
      ]),
      true,
      /\+0\.0 %/,
    ],
    [neighbour(lasting(42, (second) => (second < 21 ? 1000 : 5000))), false, /1\.0\d ms → 5\.0\d ms/],
  ] as const)
    t.match(outcome, { held, actual });
});

const named = (all: LoadSeries[], stream: string) => all.map((one) => ({ ...one, stream }));
