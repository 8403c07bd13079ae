/** The requests that fill a minute, and those that go on over it: every operation, limit and filter in turn. */
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import type { Key } from '../../profile/key.ts';
import { drawNumber } from '../../run/run-facts.ts';
import type { SceneRun } from '../../run/scene.ts';
import type { Intent } from '../../wire/exchange.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { categoryOf, inLetters, namePrefix, storeSample } from '../animals/additions.ts';
import { retrievals, servedAnimals, unknownId } from '../animals/get-checks.ts';

/** The key whose minute is filled, and what is known about the store. */
export interface Sending {
  readonly key: Key;
  /** Ids of existing animals. */
  readonly animals: readonly bigint[];
  readonly category: bigint;
}

/** What earlier scenes tell about the store, as far as they were played. */
export async function sendingOn(run: SceneRun, key: Key): Promise<Sending> {
  const category = categoryOf(run.facts, await run.tryPlay(storeSample));
  return { key, animals: servedAnimals(await run.tryPlay(retrievals)), category };
}

/** How many animals a burst adds at the same moment, which is when badly generated ids collide. */
const ADDED_TOGETHER = 8;

/** An addition with a name that contains its key's number and the suffix; no other name has a digit there. */
function addition(
  { facts }: SceneRun,
  { key }: Sending,
  suffix: string,
  pet: Readonly<Record<string, unknown>>,
  intent: Intent = 'fill',
) {
  const position = facts.keys.findIndex(({ name }) => name === key.name);
  return repeatable((again) => ({
    ...addPet({ name: `${namePrefix(facts.id)} ${position}${suffix}${again}`, ...pet }),
    intent,
  }));
}

/** Whether the run may add, did not before it was cut off, and the key is not known to be forbidden to. */
const mayAddWith = (run: SceneRun, key: Key): boolean =>
  run.facts.permissions.has('writes') && !run.wasCutOff && run.lane(key).adding !== 'forbidden';

/** Requests with varying operations, limits and filters, so that a burst covers more. */
export function* variety(run: SceneRun, sending: Sending): Generator<RequestSpec> {
  const { key, animals, category: categoryId } = sending;
  // A few of each operation first: a defect of one plan shows only there.
  for (const id of animals.slice(0, 3)) yield getPet(id);
  yield getPet(unknownId(run.facts, `unknown to ${key.name}`));
  if (mayAddWith(run, key)) {
    for (let index = 0; index < ADDED_TOGETHER; index += 1)
      yield addition(run, sending, inLetters(index), { categoryId, status: 'sold' });
    yield addition(run, sending, ' refused', {}, 'refusable');
  }
  const { minimum, maximum } = LIMIT;
  const filters = [undefined, ...PET_STATUSES];
  // Each key starts at a different limit, so that small plans together cover them all.
  const offset = Number(drawNumber(run.facts, `offset of ${key.name}`, BigInt(maximum)));
  for (let index = 0; ; index += 1) {
    const limit = minimum + ((index + offset) % maximum);
    const status = filters[Math.floor(index / maximum) % filters.length];
    yield listPets(status === undefined ? { limit } : { limit, status });
    // By now there are more of these, the bursts' additions among them, than a list without limit holds.
    if (index === LIMIT.default) yield listPets({ status: 'sold' });
  }
}

/** A different operation for each key, so that the first refusals cover all operations without extra requests. */
export function refusedOperation(run: SceneRun, sending: Sending): RequestSpec {
  const { key, animals, category: categoryId } = sending;
  const driven = run.keys.filter(({ roles }) => roles.includes('exhaust'));
  const turn = driven.findIndex(({ name }) => name === key.name) % 3;
  const [animal] = animals;
  if (turn === 1 && mayAddWith(run, key)) return addition(run, sending, 'x', { categoryId, status: 'sold' });
  return turn === 2 && animal !== undefined ? getPet(animal) : listPets({ limit: 1 });
}

/** Lists that a target might forget to limit, the likeliest first, because a ban may soon end the series. */
const OVER_LIMIT_LISTS = [
  { limit: LIMIT.maximum, status: 'sold' },
  {},
  { limit: LIMIT.maximum },
  { status: 'pending' },
];

/** Over-limit requests of each operation in turn; plain lists were refused before. */
export function* overLimit(run: SceneRun, sending: Sending): Generator<RequestSpec, never> {
  const { animals, category: categoryId } = sending;
  for (let turn = 0; ; turn += 1) {
    const [animal] = animals;
    if (animal !== undefined) yield getPet(animal);
    if (run.facts.permissions.has('writes'))
      yield addition(run, sending, ` x${inLetters(turn)}`, { categoryId, status: 'sold' }, 'ban');
    yield listPets(OVER_LIMIT_LISTS[turn % OVER_LIMIT_LISTS.length]);
  }
}
