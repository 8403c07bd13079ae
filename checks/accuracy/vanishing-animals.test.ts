/** Targets whose animals go while a run is at work: somebody removes some, or a restart loses the store. */
import t from 'tap';
import { together } from '../../reference-server/deviations/personality.ts';
import { finding, hiding, identifying, noting } from '../../reference-server/deviations/shapes.ts';
import { startServer } from '../../reference-server/server.ts';
import { checkTarget } from '../check-target.ts';
import { sharedClock } from '../run/clock.ts';
import { profileOf, type Setting } from './case.ts';

const SETTING: Setting = { keys: ['free-1', 'free-2', 'pro-1'], permissions: ['writes'] };

/** What a run says of a target that loses some of the animals that were added, once they were looked at so often. */
async function said(goes: (index: number) => boolean, from: number, animals: number) {
  const clock = sharedClock();
  const losing = () => {
    const added = new Map<string, boolean>();
    let looks = 0;
    const isGone = (id: string) => looks > from && added.get(id) === true;
    return together(
      identifying((found, call) => {
        if (added.size > 0 && call.route.operation !== 'createPet') looks += 1;
        return found;
      }),
      noting(({ id }) => added.set(id, looks < from && goes(added.size))),
      hiding(({ id }) => isGone(id)),
      finding((usual, petId, call) => (isGone(petId) ? null : usual(petId, call))),
    );
  };
  const server = await startServer({ clock, animals, ...together(losing) });
  const profile = profileOf(server.baseUrl, SETTING);
  try {
    const checked = await checkTarget({
      clock,
      profile,
      values: new Map(server.keys.map(({ name, value }) => [name, value])),
      permissions: SETTING.permissions,
    });
    if (checked.kind === 'not-ready') throw new Error(checked.message);
    const settled = [...checked.result.requirements];
    return {
      failed: settled.flatMap(([id, { verdict, reason }]) =>
        verdict === 'fail' ? [`${id}: ${reason}`] : [],
      ),
      told: settled.flatMap(([id, { reason }]) => (/removing animals/.test(reason) ? [id] : [])),
    };
  } finally {
    await server.close();
  }
}

for (const animals of [250, 10])
  for (const from of [6, 12, 25, 40]) {
    t.test(`a store of ${animals}, after ${from} looks`, async (t) => {
      const restarted = await said(() => true, from, animals);
      t.strictSame(restarted.failed, [], 'a restart loses what was added');
      t.strictSame((await said((index) => index % 3 === 0, from, animals)).failed, [], 'some are removed');
      t.not(restarted.told.length, 0, 'the reason says so');
    });
  }
