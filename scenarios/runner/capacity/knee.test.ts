import t from 'tap';
import { seeded } from '../testing/made-results.ts';
import { kneeOf, type StepOutcome } from './knee.ts';

/** Searches as capacity-search.ts does around the knee, at a server that holds with a probability. */
function search(truth: number, width: number, lapse: number, random: () => number) {
  const steps: StepOutcome[] = [];
  for (let step = 0; step < 18; step += 1) {
    const rate = kneeOf(steps, 60, 200)([0.5, 0.25, 0.75][step % 3] ?? 0);
    const chance = 1 / (1 + (rate / truth) ** (1 / width));
    steps.push({ rate, held: random() < lapse ? random() < 0.5 : random() < chance });
  }
  const knee = kneeOf(steps, 60, 200);
  return { low: knee(0.025), high: knee(0.975) };
}

for (const [name, width, lapse] of [
  ['a sharp knee', 0.001, 0],
  ['a soft knee', 0.02, 0],
  ['a sharp knee with steps that come out wrong', 0.002, 0.03],
] as const) {
  t.test(`${name}: the interval holds the truth in 19 of 20 searches`, async (t) => {
    const random = seeded(11);
    const searches = 20;
    let holds = 0;
    for (let run = 0; run < searches; run += 1) {
      const truth = 70 + 110 * random();
      const { low, high } = search(truth, width, lapse, random);
      // The grid is 0.3 % fine; a razor-sharp knee is found to within that.
      if (low * 0.997 <= truth && truth <= high * 1.003) holds += 1;
    }
    t.ok(holds >= 19, `${holds} of ${searches}`);
  });
}

t.test('steps narrow the interval', async (t) => {
  const steps = [
    ...[90, 95, 97, 99].map((rate) => ({ rate, held: true })),
    ...[101, 103, 105, 110].map((rate) => ({ rate, held: false })),
  ];
  const [before, after] = [kneeOf([], 50, 200), kneeOf(steps, 50, 200)];
  t.ok(after(0.975) - after(0.025) < (before(0.975) - before(0.025)) / 10);
  t.ok(after(0.025) < 100 && 100 < after(0.975));
});
