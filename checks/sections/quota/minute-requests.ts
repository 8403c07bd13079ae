/** The requests that fill a minute, and those that go on over it: every operation, limit and filter in turn. */
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import type { Key } from '../../profile/key.ts';
import { drawNumber } from '../../run/run-facts.ts';
import type { SceneRun } from '../../run/scene.ts';
import type { Intent } from '../../wire/exchange.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { categoryOf, inLetters, namePrefix, storeSample } from '../animals/additions.ts';
import { retrievals, servedAnimals, unknownId } from '../animals/get-checks.ts';

/** How many animals a burst adds at the same moment, which is when badly generated ids collide. */
const ADDED_TOGETHER = 8;

/** Lists that a target might forget to limit, the likeliest first, because a ban may soon end the series. */
const OVER_LIMIT_LISTS = [
  { limit: LIMIT.maximum, status: 'sold' },
  {},
  { limit: LIMIT.maximum },
  { status: 'pending' },
];

/** What a key whose minute is filled sends, with what earlier scenes tell about the store, as far as they were played. */
export async function requestsOf(run: SceneRun, key: Key) {
  const { facts } = run;
  const categoryId = categoryOf(facts, await run.tryPlay(storeSample));
  const animals = servedAnimals(await run.tryPlay(retrievals));
  const [animal] = animals;
  const sold = { categoryId, status: 'sold' };

  /** An addition with a name that contains its key's number and the suffix; no other name has a digit there. */
  const addition = (
    suffix: string,
    pet: Readonly<Record<string, unknown>> = sold,
    intent: Intent = 'fill',
  ) => {
    const position = facts.keys.findIndex(({ name }) => name === key.name);
    return repeatable((again) => ({
      ...addPet({ name: `${namePrefix(facts.id)} ${position}${suffix}${again}`, ...pet }),
      intent,
    }));
  };

  /** Whether the run may add, did not before it was cut off, and the key is not known to be forbidden to. */
  const mayAdd = () =>
    facts.permissions.has('writes') && !run.wasCutOff && run.lane(key).adding !== 'forbidden';

  return {
    /** Requests with varying operations, limits and filters, so that a burst covers more. */
    *variety(): Generator<RequestSpec, never> {
      // A few of each operation first: a defect of one plan shows only there.
      for (const id of animals.slice(0, 3)) yield getPet(id);
      yield getPet(unknownId(facts, `unknown to ${key.name}`));
      if (mayAdd()) {
        for (let index = 0; index < ADDED_TOGETHER; index += 1) yield addition(inLetters(index));
        yield addition(' refused', {}, 'refusable');
      }
      const { minimum, maximum } = LIMIT;
      const filters = [undefined, ...PET_STATUSES];
      // Each key starts at a different limit, so that small plans together cover them all.
      const offset = Number(drawNumber(facts, `offset of ${key.name}`, BigInt(maximum)));
      for (let index = 0; ; index += 1) {
        const limit = minimum + ((index + offset) % maximum);
        const status = filters[Math.floor(index / maximum) % filters.length];
        yield listPets({ limit, status });
        // By now there are more of these, the bursts' additions among them, than a list without limit holds.
        if (index === LIMIT.default) yield listPets({ status: 'sold' });
      }
    },
    /** A different operation for each key, so that the first refusals cover all operations without extra requests. */
    refusedOperation(): RequestSpec {
      const driven = run.keys.filter(({ roles }) => roles.includes('exhaust'));
      const turn = driven.findIndex(({ name }) => name === key.name) % 3;
      if (turn === 1 && mayAdd()) return addition('x');
      return turn === 2 && animal !== undefined ? getPet(animal) : listPets({ limit: 1 });
    },
    /** Over-limit requests of each operation in turn; plain lists were refused before. */
    *overLimit(): Generator<RequestSpec, never> {
      for (let turn = 0; ; turn += 1) {
        if (animal !== undefined) yield getPet(animal);
        if (facts.permissions.has('writes')) yield addition(` x${inLetters(turn)}`, sold, 'ban');
        yield listPets(OVER_LIMIT_LISTS[turn % OVER_LIMIT_LISTS.length]);
      }
    },
  };
}
