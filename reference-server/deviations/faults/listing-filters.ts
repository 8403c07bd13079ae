import type { Call } from '../../call.ts';
import { badRequest } from '../../error-body.ts';
import { isAskedFor, type ListQuery, unfiltered } from '../../list-query.ts';
import type { Pet, PetStore } from '../../pet-store.ts';
import { seeded } from '../../seed.ts';
import { together } from '../personality.ts';
import {
  adding,
  admitting,
  asksForStatus,
  hiding,
  noting,
  onPlan,
  petShown,
  queried,
  readingQuery,
  selecting,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const lastReplaced = (pets: readonly Pet[], by: Pet | undefined): readonly Pet[] =>
  by === undefined ? pets : [...pets.slice(0, -1), by];

/** Lists without regard to the status that is asked for, where the query and the call are such. */
const ignoring = (when: (query: ListQuery, call: Call) => boolean) =>
  selecting((usual, query, call) => usual(when(query, call) ? unfiltered(query.limit) : query, call));
const hasLimit = (call: Call) => call.route.search.includes('limit=');

/** Replaces the last animal of a list by another one. */
const ending = (by: (pets: readonly Pet[]) => Pet | undefined, when: (query: ListQuery) => boolean) =>
  selecting((usual, query, call) => {
    const pets = usual(query, call);
    return when(query) && pets.length > 1 ? lastReplaced(pets, by(pets)) : pets;
  });

const idsOf = (store: PetStore) => new Set(store.all.map(({ id }) => id));

/** A store that one list shows whole. */
const fewAnimals = (store: PetStore) => {
  for (let ordinal = 0; ordinal < 5; ordinal += 1) store.add(seeded(ordinal));
};

const filtered = (query: ListQuery) => query.status !== null;

/** Section 4.1: which animals a list holds. */
// biome-ignore format: a table, a line for most faults
export const LISTING_FILTER_FAULTS: FaultTable = {
  'list-status-filter': {
    'filter-ignored': ignoring(() => true),
    'filter-pending-ignored': ignoring(({ status }) => status === 'pending'),
    'filter-ignored-at-limit-100': ignoring(({ limit }) => limit === 100),
    'filter-pending-gives-available': selecting((usual, query, call) =>
        usual(query.status === 'pending' ? { ...query, status: 'available' } : query, call)),
    'filter-only-without-limit': ignoring((_query, call) => hasLimit(call)),
    'filter-ignored-behind-limit': ignoring((_query, call) => /limit=.*&status=/.test(call.route.search)),
    'filter-sold-ignored-without-limit': ignoring(({ status }, call) => status === 'sold' && !hasLimit(call)),
    'filter-ignored-without-limit-on-free':
      ignoring((_query, call) => onPlan('free')(call) && !hasLimit(call)),
    // A status that is percent-encoded is refused.
    'filter-percent-encoded-refused': readingQuery((usual, search, call) => search.includes('status=%')
        ? { problem: badRequest('invalid_status', 'status must be available, pending or sold.') }
        : usual(search, call)),
    // The last animal of a filtered list has another status, or none.
    'filter-one-wrong': selecting((usual, query, call) => {
        const pets = usual(query, call);
        const others = usual(unfiltered(100), call);
        const stranger = others.find(({ status }) => status !== query.status);
        return query.status === null || pets.length < 2 ? pets : lastReplaced(pets, stranger);
      }),
    // status=sold also lists animals without a status.
    'filter-sold-with-statusless': selecting((usual, query, call) => {
        if (query.status !== 'sold') return usual(query, call);
        const pets = usual(unfiltered(100), call);
        return pets.filter(({ status }) => status === 'sold' || status === null).slice(0, query.limit);
      }),
  },
  'list-status-complete': {
    'filter-pending-empty':
      selecting((usual, query, call) => (query.status === 'pending' ? [] : usual(query, call))),
    'filter-hides-other-scripts': hiding(({ name }) => !/^[\x20-\x7e]*$/.test(name), filtered),
    'filter-hides-large-categories': hiding(({ categoryId }) => categoryId.length > 15, filtered),
    'filter-hides-newest': ({ store }) => hiding((pet) => pet.id === store.all.at(-1)?.id, filtered),
    // A filtered list holds what was there when the server started.
    'filter-sees-first-animals-only': ({ store }) => {
        const first = idsOf(store);
        return hiding(({ id }) => !first.has(id), filtered);
      },
    // A filtered list holds none of what was there at first.
    'filter-hides-first-animals': ({ store }) => {
        const first = idsOf(store);
        return hiding(({ id }) => first.has(id), filtered);
      },
    'filter-empty-beyond-limit-50': hiding(() => true, (query) => filtered(query) && query.limit > 50),
  },
  'list-unfiltered': {
    'unfiltered-available-only':
      selecting((usual, query, call) => usual({ ...query, status: query.status ?? 'available' }, call)),
    'unfiltered-hides-sold': hiding(({ status }) => status === 'sold', ({ status }) => status === null),
    'unfiltered-hides-statusless': hiding(({ status }) => status === null, ({ status }) => status === null),
  },
  'list-shows-added': {
    'list-of-one-shows-another-category':
      petShown((pet, call) => (queried(call, 'limit=1') ? { ...pet, categoryId: '1' } : pet), 'listPets'),
    'list-trims-name': petShown((pet) => ({ ...pet, name: pet.name.trim().toLowerCase() }), 'listPets'),
    'list-cuts-name': petShown((pet) => ({ ...pet, name: pet.name.slice(0, 8) }), 'listPets'),
    'list-rounds-category':
      petShown((pet) => ({ ...pet, categoryId: BigInt(Number(pet.categoryId)).toString() }), 'listPets'),
    'list-rounds-id': petShown((pet) => ({ ...pet, id: String(BigInt(Number(pet.id))) }), 'listPets'),
    // Animals that were added are not listed.
    'list-never-shows-added': () => {
      const added = new Set<string>();
      return together(noting(({ id }) => added.add(id)), hiding(({ id }) => added.has(id)));
    },
    'listed-name-other-with-status': petShown((pet, call) =>
        asksForStatus(call) ? { ...pet, name: pet.name.toUpperCase() } : pet, 'listPets'),
    // An animal is answered with its status, and stored as available.
    'added-stored-as-available': () => {
      const added = new Map<string, Pet>();
      const shown = petShown((pet) => added.get(pet.id) ?? pet, 'createPet');
      return together(shown, adding((usual, animal, call) => {
        const pet = usual({ ...animal, status: 'available' }, call);
        added.set(pet.id, { ...pet, status: animal.status });
        return pet;
      }));
    },
    'list-sold-as-available':
      petShown((pet) => (pet.status === 'sold' ? { ...pet, status: 'available' } : pet), 'listPets'),
    'list-forgets-status':
      petShown((pet, call) => asksForStatus(call) ? pet : { ...pet, status: null }, 'listPets'),
    // Once a key was refused, animals that were added are not listed.
    'list-loses-added-after-a-refusal': () => {
        const added = new Set<string>();
        let refused = false;
        const watching = admitting((usual, key, call) => {
          const gate = usual(key, call);
          refused ||= gate.refusal !== null;
          return gate;
        });
        return together(
          noting(({ id }) => added.add(id)),
          watching,
          hiding(({ id }) => refused && added.has(id)),
        );
      },
    // A list without parameters shows for good what it showed at first.
    'list-cached-without-parameters': [{ recipe: () => ({ seed: fewAnimals }) }, () => {
        let cached: readonly Pet[] | undefined;
        return selecting((usual, query, call) => {
          if (call.route.search !== '') return usual(query, call);
          cached ??= usual(query, call);
          return cached;
        });
      }],
    // A filtered list shows for good what it showed at first.
    'list-cached-when-filtered': () => {
      const cached = new Map<string, readonly Pet[]>();
      return selecting((usual, query, call) => {
        if (query.status === null) return usual(query, call);
        const key = `${query.status} ${query.limit}`;
        const pets = cached.get(key) ?? usual(query, call);
        cached.set(key, pets);
        return pets;
      });
    },
    // Of the animals that were added only the first is listed.
    'list-keeps-first-only': () => {
      const added = new Set<string>();
      return together(
        noting(({ id }) => added.add(id)),
        hiding(({ id }) => added.has(id) && id !== [...added][0]),
      );
    },
  },
  'list-filter-before-limit': {
    'filter-after-limit': selecting((usual, query, call) => usual(unfiltered(query.limit), call).filter((pet) => isAskedFor(query, pet))),
    'filter-after-limit-for-sold': selecting((usual, query, call) => query.status !== 'sold' ? usual(query, call)
        : usual(unfiltered(query.limit), call).filter((pet) => isAskedFor(query, pet))),
    'filter-within-twice-limit': selecting((usual, query, call) => usual(unfiltered(query.limit * 2), call)
        .filter((pet) => isAskedFor(query, pet)).slice(0, query.limit)),
  },
  'list-each-once': {
    'list-first-twice': ending((pets) => pets[0], () => true),
    'list-twice-at-limit-100': ending((pets) => pets[0], ({ limit }) => limit === 100),
    'list-twice-when-filtered': ending((pets) => pets.at(-2), filtered),
    // An addition is stored twice, under two ids.
    'list-addition-stored-twice': adding((usual, animal, call) => {
        usual(animal, call);
        return usual(animal, call);
      }),
  },
};
