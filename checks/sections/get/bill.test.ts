/** What the scenes of section 4.3 spend, and what they declare that they do. */
import t from 'tap';
import type { Run } from '../../run/run.ts';
import type { Scene } from '../../run/scene.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { type Animal, animals, type Own } from '../list/testing/listed.ts';
import { malformedIds, unknownIdsRetrieved } from './ids.ts';
import { retrievals, retrievedAgain, retrievedWithOthers } from './scenes.ts';
import { retrievalRun, serving } from './testing/retrieved.ts';

const SCENES: readonly Scene<unknown>[] = [
  retrievals,
  retrievedAgain,
  retrievedWithOthers,
  unknownIdsRetrieved,
  malformedIds,
];

const spentBy = (run: Run, { id }: Scene<unknown>) =>
  run.trace.exchanges.filter(({ sentBy }) => sentBy === id).length;

/** What a scene declares to spend where there is one key; one of them asks only the others. */
const billed = (scene: Scene<unknown>) =>
  (scene.requests ?? 0) + (scene === retrievedWithOthers ? 0 : (scene.onEveryKey ?? 0));

t.test('no scene spends what it does not declare', async (t) => {
  const { run } = testRun(serving(animals(3)));
  for (const scene of SCENES) {
    await run.play(scene);
    t.ok(spentBy(run, scene) <= billed(scene), `${scene.id}: ${spentBy(run, scene)} of ${billed(scene)}`);
  }
});

t.test('nor declares more than it may come to', async (t) => {
  const own = Array.from({ length: 9 }, (_, index): Own => ({ id: index + 5, label: 'sold', sent: 'sold' }));
  const large = 2n ** 53n + 1n;
  const store: readonly Animal[] = [...own.map(({ id }): Animal => [id, 'sold']), [20], [large], [21]];
  const { run } = await retrievalRun({ store, own });
  for (const scene of SCENES) {
    await run.play(scene);
    t.equal(spentBy(run, scene), billed(scene), scene.id);
  }
});
