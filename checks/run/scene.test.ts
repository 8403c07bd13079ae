import t from 'tap';
import { answered } from '../wire/testing/answered.ts';
import { allOf, firstInTurn, inTurn, sideBySide } from './scene.ts';
import { TOGETHER } from './sending/key-lane.ts';
import { RunEnded, Unsettled } from './unsettled.ts';

/** Ten things that take a while, and how many of them were under way at most from each on. */
async function tried(way: typeof inTurn, fails: (thing: number) => Error | undefined = () => undefined) {
  let underWay = 0;
  const beside: number[] = [];
  const result = await way(
    Array.from({ length: 10 }, (_, index) => index),
    async (thing) => {
      underWay += 1;
      beside.push(underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      const error = fails(thing);
      if (error !== undefined) throw error;
      return thing;
    },
  );
  return { ...result, beside };
}

const TEN = Array.from({ length: 10 }, (_, index) => index);
const lost =
  (...things: readonly number[]) =>
  (thing: number) =>
    things.includes(thing)
      ? new Unsettled(`lost ${thing}`, [
          { ...answered(), outcome: { kind: 'failure', reason: 'reset', message: 'reset' } },
        ])
      : undefined;
const refused = (thing: number) =>
  thing === 0 ? new Unsettled('429', [answered({ status: 429 })]) : undefined;

t.test('things are tried one by one, side by side, or the first of them one by one', async (t) => {
  for (const [way, most, alone] of [
    [inTurn, 1, 10],
    [sideBySide, TOGETHER, 0],
    [firstInTurn, 5, 5],
  ] as const) {
    const { done, unsettled, beside } = await tried(way);
    t.strictSame([done, unsettled], [TEN, []], way.name);
    t.equal(Math.max(...beside), most);
    t.ok(beside.slice(0, alone).every((count) => count === 1));
  }
});

t.test('a lost answer costs only the thing that needed it', async (t) => {
  for (const way of [inTurn, sideBySide, firstInTurn]) {
    const { done, unsettled } = await tried(way, lost(3, 7));
    t.strictSame(done, [0, 1, 2, 4, 5, 6, 8, 9]);
    t.match(unsettled, [{ reason: 'lost 3' }, { reason: 'lost 7' }]);
  }
});

t.test('after a refusal nothing more is begun', async (t) => {
  const unsettled = [{ reason: '429' }];
  t.match(await tried(inTurn, refused), { done: { length: 0 }, unsettled });
  t.match(await tried(firstInTurn, refused), { done: { length: 0 }, unsettled });
  t.match(
    await tried(sideBySide, refused),
    { done: { length: TOGETHER - 1 }, unsettled },
    'it was under way',
  );
});

t.test('where the run ends nothing is settled', async (t) => {
  for (const way of [inTurn, sideBySide])
    await t.rejects(
      tried(way, (thing) => (thing === 1 ? new RunEnded('interrupted') : undefined)),
      { message: 'interrupted' },
    );
});

t.test('all of them, or why not', async (t) => {
  t.strictSame(await allOf(TEN, async (thing) => thing), TEN);
  await t.rejects(
    allOf(TEN, async (thing) => {
      if (thing === 4) throw new Unsettled('lost');
      return thing;
    }),
    { name: 'Unsettled', message: 'lost' },
  );
});
