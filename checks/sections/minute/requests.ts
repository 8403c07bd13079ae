/** What is sent while a minute is filled: every operation, limit and filter has its turn. */
import { contract } from '../../../spec/contract.ts';
import type { Key } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { inLetters, namePrefix } from '../add/scenes.ts';
import { retrievals } from '../get/checks.ts';

/** The ids that were answered with their animals; none where retrieval does not work. */
export async function servedAnimals(probe: Probe): Promise<bigint[]> {
  const retrieved = await probe.play(retrievals).catch(() => []);
  return retrieved.filter(({ exchange }) => exchange.outcome.status === 200).map(({ known }) => known.id);
}

/** Animals that a burst adds at the same moment, which is when careless ids collide. */
export const ADDED_TOGETHER = 8;

/** What the names of the animals begin with that a key adds. */
const animalOf = (probe: Probe, key: Key) => `${namePrefix(probe.runId)} ${inLetters(probe.positionOf(key))}`;

/** The status by which limits, operations and filters vary over a burst, so that its requests find out more. */
export function* variety(
  probe: Probe,
  key: Key,
  animals: readonly bigint[],
  category: bigint,
): Generator<RequestSpec> {
  // A few of each operation first: what is wrong on one plan only shows there.
  for (const id of animals.slice(0, 3)) yield getPet(id);
  yield getPet(2n ** 61n + probe.random(`unknown to ${key.name}`, 2n ** 61n));
  if (probe.mayAddWith(key)) {
    for (let index = 1; index <= ADDED_TOGETHER; index += 1) {
      yield repeatable((again) =>
        addPet({
          name: `${animalOf(probe, key)}${inLetters(index - 1)}${again}`,
          categoryId: category,
          status: 'sold',
        }),
      );
    }
    yield repeatable((again) => addPet({ name: `${animalOf(probe, key)} refused${again}` }));
  }
  const { minimum, maximum } = contract.limit;
  const filters = [undefined, ...contract.statuses];
  // Another key starts elsewhere, so that small plans together see every limit.
  const offset = Number(probe.random(`offset of ${key.name}`, BigInt(maximum)));
  for (let index = 0; ; index += 1) {
    const limit = minimum + ((index + offset) % maximum);
    const status = filters[Math.floor(index / maximum) % filters.length];
    yield listPets(status === undefined ? { limit } : { limit, status });
  }
}

/** Another operation on every key, so that the first refusals together cover them all without a request too many. */
export function refusedOperation(
  probe: Probe,
  key: Key,
  animals: readonly bigint[],
  category: bigint,
): RequestSpec {
  const turn =
    probe.keys.filter(({ roles }) => roles.includes('exhaust')).findIndex(({ name }) => name === key.name) %
    3;
  if (turn === 1 && probe.mayAddWith(key)) {
    return repeatable((again) =>
      addPet({
        name: `${animalOf(probe, key)}x${again}`,
        categoryId: category,
        status: 'sold',
      }),
    );
  }
  const [animal] = animals;
  return turn === 2 && animal !== undefined ? getPet(animal) : listPets({ limit: 1 });
}
