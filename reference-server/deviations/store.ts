import type { Answer } from '../answer.ts';
import type { Call } from '../design.ts';
import { isAskedFor, type ListQuery, unfiltered } from '../list-query.ts';
import type { NewPet, Pet } from '../pet-store.ts';
import { type Deviation, deciding } from './deviation.ts';
import { always } from './when.ts';

export const adding = deciding('addPet');
export const finding = deciding('findPet');
export const selecting = deciding('select');

/** The animals that were added: by which key, and when. */
type Added = ReadonlyMap<string, { readonly by: string | undefined; readonly at: number }>;

/** A deviation that knows which animals were added. */
export const knowingAdded =
  (deviation: (added: Added) => Deviation): Deviation =>
  () => {
    const added = new Map<string, { by: string | undefined; at: number }>();
    return [noting(({ id }, { key, now }) => added.set(id, { by: key?.name, at: now })), deviation(added)];
  };

/** Animals have changed, for whoever lists them; null where one is not listed, and the next ones fill the gaps. */
const listedAs = (change: (pet: Pet, call: Call, query: ListQuery) => Pet | null): Deviation =>
  selecting((usual, query, call) =>
    usual(unfiltered(Number.POSITIVE_INFINITY), call)
      .flatMap((pet) => change(pet, call, query) ?? [])
      .filter((pet) => isAskedFor(query, pet))
      .slice(0, query.limit),
  );

/** Hides animals from lists. */
export const hiding = (
  hidden: (pet: Pet, call: Call) => boolean,
  from: (query: ListQuery) => boolean = always,
): Deviation => listedAs((pet, call, query) => (from(query) && hidden(pet, call) ? null : pet));

/** Animals have changed, for whoever lists or retrieves them; null where one is shown to nobody. */
export const changed = (change: (pet: Pet, call: Call) => Pet | null): Deviation => [
  listedAs(change),
  foundAs(change),
];

/** Changes an animal before it is stored. */
export const addedAs = (change: (animal: NewPet, call: Call) => NewPet): Deviation =>
  adding((usual, animal, call) => usual(change(animal, call), call));

/** Calls a function for every animal that is added. */
export const noting = (note: (pet: Pet, call: Call) => void): Deviation =>
  adding((usual, animal, call) => {
    const pet = usual(animal, call);
    note(pet, call);
    return pet;
  });

/** Changes an animal that is found. */
export const foundAs = (change: (pet: Pet, call: Call) => Pet | Answer | null) =>
  finding((usual, petId, call) => {
    const found = usual(petId, call);
    return found === null || 'text' in found ? found : change(found, call);
  });

/** A store that begins with other animals, at most so many. Its ids are all of one source. */
export const beginningWith = (
  animal: (ordinal: number) => NewPet,
  most = Number.POSITIVE_INFINITY,
): Deviation => ({
  seed(store, animals) {
    for (let ordinal = 0; ordinal < Math.min(animals, most); ordinal += 1) store.add(animal(ordinal));
  },
});

/** The oldest animal of the store; null if it is empty. */
export const firstPet = ({ service }: Call): Pet | null => service.store.all[0] ?? null;
