import { badRequest } from '../../error-body.ts';
import type { ListQuery, Pet } from '../../pet-store.ts';
import { petShown, queried, selecting } from '../shapes.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';

const FILTER = 'list-status-filter';
const COMPLETE = 'list-status-complete';
const ORDER = 'list-filter-before-limit';
const ONCE = 'list-each-once';
const ADDED = 'list-shows-added';

const unfiltered = (query: ListQuery): ListQuery => ({ ...query, status: null });
const lastReplaced = (pets: readonly Pet[], by: Pet | undefined): readonly Pet[] =>
  by === undefined ? pets : [...pets.slice(0, -1), by];

/** A list that the given animals are hidden from, filled up with those that come next. */
function hiding(hidden: (pet: Pet) => boolean, where: (query: ListQuery) => boolean) {
  return selecting((usual, query, call) => {
    if (!where(query)) return usual(query, call);
    const more = usual({ ...query, limit: query.limit + 200 }, call);
    return more.filter((pet) => !hidden(pet)).slice(0, query.limit);
  });
}

const filtered = (query: ListQuery) => query.status !== null;

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'list-status-filter': {
    'filter-ignored': ['status is ignored.',
      selecting((usual, query, call) => usual(unfiltered(query), call))],
    'filter-pending-ignored': ['Only status=pending is ignored.',
      selecting((usual, query, call) => usual(query.status === 'pending' ? unfiltered(query) : query, call))],
    'filter-ignored-at-limit-100': ['status is ignored at limit=100.',
      selecting((usual, query, call) => usual(query.limit === 100 ? unfiltered(query) : query, call))],
  },
  'list-status-complete': {
    'filter-pending-empty': ['status=pending lists nothing.',
      selecting((usual, query, call) => (query.status === 'pending' ? [] : usual(query, call)))],
    'filter-hides-other-scripts': ['A filtered list does not hold animals whose name is not plain ASCII.',
      hiding(({ name }) => !/^[\x20-\x7e]*$/.test(name), filtered)],
    'filter-hides-large-categories': [
      'A filtered list does not hold animals whose categoryId has more than fifteen digits.',
      hiding(({ categoryId }) => categoryId.length > 15, filtered)],
  },
  'list-unfiltered': {
    'unfiltered-available-only': ['Without status, only available animals are listed.',
      selecting((usual, query, call) => usual({ ...query, status: query.status ?? 'available' }, call))],
    'unfiltered-hides-sold': ['Without status, sold animals are not listed.',
      hiding(({ status }) => status === 'sold', ({ status }) => status === null)],
    'unfiltered-hides-statusless': ['Without status, animals that have none are not listed.',
      hiding(({ status }) => status === null, ({ status }) => status === null)],
  },
  'list-shows-added': {
    'list-of-one-shows-another-category': ['A list with limit=1 shows its animal with categoryId 1.',
      petShown((pet, call) => (queried(call, 'limit=1') ? { ...pet, categoryId: '1' } : pet), 'listPets')],
    'list-trims-name': ['A list shows names without the blanks around them, in lower case.',
      petShown((pet) => ({ ...pet, name: pet.name.trim().toLowerCase() }), 'listPets')],
    'list-cuts-name': ['A list shows the first eight characters of a name.',
      petShown((pet) => ({ ...pet, name: pet.name.slice(0, 8) }), 'listPets')],
    'list-rounds-category': ['A list shows categoryId rounded to a double.',
      petShown((pet) => ({ ...pet, categoryId: BigInt(Number(pet.categoryId)).toString() }), 'listPets')],
    'list-rounds-id': ['A list shows ids rounded to a double.',
      petShown((pet) => ({ ...pet, id: String(BigInt(Number(pet.id))) }), 'listPets')],
  },
};

/** Section 4.1: which animals a list holds. */
export const LISTING_FILTER_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
  fault('filter-percent-encoded-refused', FILTER, 'A status that is percent-encoded is refused.', {
    behaviour: (usual) => ({
      readListQuery: (search, call) =>
        search.includes('status=%')
          ? { problem: badRequest('invalid_status', 'status is to be available, pending or sold.') }
          : usual.readListQuery(search, call),
    }),
  }),
  fault(
    'filter-pending-gives-available',
    FILTER,
    'status=pending lists the available animals.',
    selecting((usual, query, call) =>
      usual(query.status === 'pending' ? { ...query, status: 'available' } : query, call),
    ),
  ),
  fault(
    'filter-one-wrong',
    FILTER,
    'The last animal of a filtered list has another status, or none.',
    selecting((usual, query, call) => {
      const pets = usual(query, call);
      const stranger = usual({ limit: 100, status: null }, call).find(
        ({ status }) => status !== query.status,
      );
      return query.status === null || pets.length < 2 ? pets : lastReplaced(pets, stranger);
    }),
  ),
  fault(
    'filter-sold-with-statusless',
    FILTER,
    'status=sold also lists animals without a status.',
    selecting((usual, query, call) =>
      query.status === 'sold'
        ? usual({ limit: 100, status: null }, call)
            .filter(({ status }) => status === 'sold' || status === null)
            .slice(0, query.limit)
        : usual(query, call),
    ),
  ),
  fault(
    'filter-only-without-limit',
    FILTER,
    'status is ignored where a limit is given too.',
    selecting((usual, query, call) =>
      usual(call.target.includes('limit=') ? unfiltered(query) : query, call),
    ),
  ),
  fault(
    'filter-ignored-behind-limit',
    FILTER,
    'status is ignored where it comes after limit.',
    selecting((usual, query, call) =>
      usual(/limit=.*&status=/.test(call.target) ? unfiltered(query) : query, call),
    ),
  ),
  fault(
    'filter-sold-ignored-without-limit',
    FILTER,
    'status=sold is ignored where no limit is given.',
    selecting((usual, query, call) =>
      usual(query.status === 'sold' && !call.target.includes('limit=') ? unfiltered(query) : query, call),
    ),
  ),
  fault(
    'filter-ignored-without-limit-on-free',
    FILTER,
    'With a Free key status is ignored where no limit is given.',
    selecting((usual, query, call) =>
      usual(call.key?.plan === 'free' && !call.target.includes('limit=') ? unfiltered(query) : query, call),
    ),
  ),
  fault(
    'filter-hides-newest',
    COMPLETE,
    'A filtered list does not hold the newest animal.',
    selecting((usual, query, call, { store }) => {
      const newest = store.having(null).at(-1);
      if (query.status === null) return usual(query, call);
      return usual({ ...query, limit: query.limit + 1 }, call)
        .filter(({ id }) => id !== newest?.id)
        .slice(0, query.limit);
    }),
  ),
  fault(
    'filter-sees-first-animals-only',
    COMPLETE,
    'A filtered list holds what was there when the server started.',
    {
      behaviour: (usual, { store }) => {
        const atStart = store.size;
        return {
          select(query, call) {
            if (query.status === null || store.size === atStart) return usual.select(query, call);
            const known = new Set(store.having(null).slice(0, atStart));
            const more = usual.select({ ...query, limit: query.limit + store.size - atStart }, call);
            return more.filter((pet) => known.has(pet)).slice(0, query.limit);
          },
        };
      },
    },
  ),
  fault('filter-hides-first-animals', COMPLETE, 'A filtered list holds none of what was there at first.', {
    behaviour: (usual, { store }) => {
      const first = new Set(store.having(null));
      return {
        select(query, call) {
          if (query.status === null) return usual.select(query, call);
          const more = usual.select({ ...query, limit: query.limit + first.size }, call);
          return more.filter((pet) => !first.has(pet)).slice(0, query.limit);
        },
      };
    },
  }),
  fault(
    'filter-empty-beyond-limit-50',
    COMPLETE,
    'A filtered list with a limit above 50 is empty.',
    selecting((usual, query, call) => (query.status !== null && query.limit > 50 ? [] : usual(query, call))),
  ),
  fault(
    'filter-after-limit',
    ORDER,
    'The limit is applied first, and the filter to what is left.',
    selecting((usual, query, call) =>
      usual(unfiltered(query), call).filter(({ status }) => query.status === null || status === query.status),
    ),
  ),
  fault(
    'filter-after-limit-for-sold',
    ORDER,
    'Only for status=sold the limit is applied first.',
    selecting((usual, query, call) =>
      query.status === 'sold'
        ? usual(unfiltered(query), call).filter(({ status }) => status === 'sold')
        : usual(query, call),
    ),
  ),
  fault(
    'filter-within-twice-limit',
    ORDER,
    'A filtered list is taken from the first animals, twice as many as limit.',
    selecting((usual, query, call) =>
      usual({ limit: query.limit * 2, status: null }, call)
        .filter(({ status }) => query.status === null || status === query.status)
        .slice(0, query.limit),
    ),
  ),
  fault(
    'list-first-twice',
    ONCE,
    'The first animal of a list is also its last one.',
    selecting((usual, query, call) => {
      const pets = usual(query, call);
      return pets.length < 2 ? pets : lastReplaced(pets, pets[0]);
    }),
  ),
  fault(
    'list-twice-at-limit-100',
    ONCE,
    'Only at limit=100 the first animal is listed twice.',
    selecting((usual, query, call) => {
      const pets = usual(query, call);
      return query.limit === 100 && pets.length > 1 ? lastReplaced(pets, pets[0]) : pets;
    }),
  ),
  fault(
    'list-twice-when-filtered',
    ONCE,
    'Only in a filtered list an animal is listed twice.',
    selecting((usual, query, call) => {
      const pets = usual(query, call);
      return query.status !== null && pets.length > 1 ? lastReplaced(pets, pets.at(-2)) : pets;
    }),
  ),
  fault('list-addition-stored-twice', ONCE, 'An addition is stored twice, under two ids.', {
    behaviour: (usual) => ({
      addPet(animal, call) {
        usual.addPet(animal, call);
        return usual.addPet(animal, call);
      },
    }),
  }),
  fault(
    'list-loses-added-after-a-refusal',
    ADDED,
    'Once a key was refused, animals that were added are not listed.',
    {
      behaviour: (usual) => {
        const added = new Set<Pet>();
        let refused = false;
        return {
          addPet(animal, call) {
            const pet = usual.addPet(animal, call);
            added.add(pet);
            return pet;
          },
          admit(key, call) {
            const gate = usual.admit(key, call);
            refused ||= gate.refusal !== null;
            return gate;
          },
          select(query, call) {
            if (!refused) return usual.select(query, call);
            const more = usual.select({ ...query, limit: query.limit + added.size }, call);
            return more.filter((pet) => !added.has(pet)).slice(0, query.limit);
          },
        };
      },
    },
  ),
  fault('list-cached-when-filtered', ADDED, 'A filtered list shows for good what it showed at first.', {
    behaviour: (usual) => {
      const cached = new Map<string, readonly Pet[]>();
      return {
        select(query, call) {
          if (query.status === null) return usual.select(query, call);
          const key = `${query.status} ${query.limit}`;
          const pets = cached.get(key) ?? usual.select(query, call);
          cached.set(key, pets);
          return pets;
        },
      };
    },
  }),
  fault('list-never-shows-added', ADDED, 'Animals that were added are not listed.', {
    behaviour: (usual, { store }) => {
      const added = new Set<Pet>();
      return {
        addPet(animal, call) {
          const pet = usual.addPet(animal, call);
          added.add(pet);
          return pet;
        },
        select(query, call) {
          const more = usual.select(
            { ...query, limit: Math.min(query.limit + added.size, store.size) },
            call,
          );
          return more.filter((pet) => !added.has(pet)).slice(0, query.limit);
        },
      };
    },
  }),
  fault(
    'listed-name-other-with-status',
    ADDED,
    'A list with a status shows names in capitals.',
    petShown(
      (pet, call) => (call.target.includes('status=') ? { ...pet, name: pet.name.toUpperCase() } : pet),
      'listPets',
    ),
  ),
  fault(
    'list-forgets-status',
    ADDED,
    'An unfiltered list shows no status.',
    petShown((pet, call) => (call.target.includes('status=') ? pet : { ...pet, status: null }), 'listPets'),
  ),
  fault('list-keeps-first-only', ADDED, 'Of the animals that were added only the first is listed.', {
    behaviour: (usual, { store }) => {
      const later = new Set<Pet>();
      let first = true;
      return {
        addPet(animal, call) {
          const pet = usual.addPet(animal, call);
          if (!first) later.add(pet);
          first = false;
          return pet;
        },
        select(query, call) {
          const more = usual.select(
            { ...query, limit: Math.min(query.limit + later.size, store.size) },
            call,
          );
          return more.filter((pet) => !later.has(pet)).slice(0, query.limit);
        },
      };
    },
  }),
];
