import t from 'tap';
import { Knee } from './knee.ts';

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Searches as capacity.ts does around the knee, at a server that holds with a probability. */
function search(truth: number, width: number, lapse: number, random: () => number) {
  const knee = new Knee(60, 200);
  for (let step = 0; step < 18; step += 1) {
    const rate = knee.nextRate();
    const chance = 1 / (1 + (rate / truth) ** (1 / width));
    const held = random() < lapse ? random() < 0.5 : random() < chance;
    knee.learn({ rate, held });
  }
  return knee.estimate();
}

for (const [name, width, lapse] of [
  ['a sharp knee', 0.001, 0],
  ['a soft knee', 0.02, 0],
  ['a sharp knee with steps that come out wrong', 0.002, 0.03],
] as const) {
  t.test(`${name}: the interval holds the truth in 19 of 20 searches`, async (t) => {
    const random = seeded(11);
    const searches = 100;
    let holds = 0;
    for (let run = 0; run < searches; run += 1) {
      const truth = 70 + 110 * random();
      const { low, high } = search(truth, width, lapse, random);
      // The grid is 0.3 % fine; a razor-sharp knee is found to within that.
      if (low * 0.997 <= truth && truth <= high * 1.003) holds += 1;
    }
    // 95 of 100, as far as chance lets that many tell.
    t.ok(holds >= 92, `${holds} of ${searches}`);
  });
}

t.test('steps narrow the interval', async (t) => {
  const knee = new Knee(50, 200);
  const before = knee.estimate();
  for (const rate of [90, 95, 97, 99]) knee.learn({ rate, held: true });
  for (const rate of [101, 103, 105, 110]) knee.learn({ rate, held: false });
  const after = knee.estimate();
  t.ok(after.high - after.low < (before.high - before.low) / 10);
  t.ok(after.low < 100 && 100 < after.high);
});
