import type { Call } from '../../call.ts';
import { badRequest } from '../../error-body.ts';
import { isAskedFor, type ListQuery, unfiltered } from '../../list-query.ts';
import type { Pet, PetStore } from '../../pet-store.ts';
import { seeded } from '../../seed.ts';
import { type Personality, together } from '../personality.ts';
import {
  adding,
  admitting,
  answering,
  answeringAs,
  answeringWith,
  asksForStatus,
  everyNth,
  failing,
  hiding,
  knowingAdded,
  onPlan,
  petShown,
  queried,
  readingQuery,
  rewriting,
  selecting,
  succeeds,
  type When,
  where,
  withError,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

/** Takes another limit than the one that was asked for; null refuses it. `absent` tells that none was sent. */
const readingLimit = (
  change: (limit: number, absent: boolean, filtered: boolean, call: Call) => number | null,
): Personality =>
  readingQuery((usual, search, call) => {
    const read = usual(search, call);
    if ('problem' in read) return read;
    const absent = !/(?:^|&)limit=/.test(search);
    const limit = change(read.query.limit, absent, read.query.status !== null, call);
    if (limit === null) return { problem: badRequest('invalid_limit', 'This limit is not allowed.') };
    return { query: { ...read.query, limit } };
  });

const whenSent = (change: (limit: number, filtered: boolean) => number): Personality =>
  readingLimit((limit, absent, filtered) => (absent ? limit : change(limit, filtered)));
const whenAbsent = (limit: number): Personality => readingLimit((sent, absent) => (absent ? limit : sent));

const lists = succeeds('listPets');

/** A store that begins without sold animals, and what it says of a list that finds none. */
const noMatch = (answered: (when: When) => Personality): Personality =>
  together(
    {
      recipe: () => ({
        seed: (store, animals) => {
          for (let index = 0; index < animals; index += 1)
            store.add({
              name: `Rex ${index}`,
              categoryId: '1',
              status: index % 2 === 0 ? 'available' : 'pending',
            });
        },
      }),
    },
    answered((answer, call) => lists(answer, call) && answer.text === '[]'),
  );

const isFull: When = (answer, call) =>
  lists(answer, call) && (answer.text.match(/{"id":/g)?.length ?? 0) >= 20;

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

/** Shows for good what a list of a query showed at first. */
const cached = (when: (query: ListQuery, call: Call) => boolean) => () => {
  const lists = new Map<string, readonly Pet[]>();
  return selecting((usual, query, call) => {
    if (!when(query, call)) return usual(query, call);
    const asked = JSON.stringify(query);
    const pets = lists.get(asked) ?? usual(query, call);
    lists.set(asked, pets);
    return pets;
  });
};

/** Filters what a list without a filter would hold. */
const filteringLate = (limitOf: (query: ListQuery) => number) =>
  selecting((usual, query, call) => {
    const pets = usual(unfiltered(limitOf(query)), call).filter((pet) => isAskedFor(query, pet));
    return pets.slice(0, query.limit);
  });

/** A store that one list shows whole. */
const fewAnimals = (store: PetStore) => {
  for (let ordinal = 0; ordinal < 5; ordinal += 1) store.add(seeded(ordinal));
};

const filtered = (query: ListQuery) => query.status !== null;

/** Section 4.1: a list is answered with 200 and an array, how many animals it holds, and which. */
// biome-ignore format: a table, a line for most faults
export const LISTING_FAULTS: FaultTable = {
  'list-limit-maximum': {
    'limit-plus-one': whenSent((limit) => limit + 1),
    'limit-ignored': whenSent(() => 20),
    'limit-at-least-ten': whenSent((limit) => Math.max(limit, 10)),
    'limit-1-gives-two': whenSent((limit) => (limit === 1 ? 2 : limit)),
    'limit-100-gives-101': whenSent((limit) => (limit === 100 ? 101 : limit)),
    'limit-20-gives-21': whenSent((limit) => (limit === 20 ? 21 : limit)),
    'limit-in-thirties-plus-one': whenSent((limit) => (limit > 30 && limit < 40 ? limit + 1 : limit)),
    'limit-ignored-with-status': whenSent((limit, filtered) => (filtered ? 100 : limit)),
    'limit-plus-one-with-status': whenSent((limit, filtered) => (filtered ? limit + 1 : limit)),
  },
  'list-limit-fills': {
    'limit-minus-one': whenSent((limit) => limit - 1),
    'limit-1-gives-none': whenSent((limit) => (limit === 1 ? 0 : limit)),
    'limit-100-gives-99': whenSent((limit) => (limit === 100 ? 99 : limit)),
    'limit-capped-at-50': whenSent((limit) => Math.min(limit, 50)),
    'limit-capped-at-20': whenSent((limit) => Math.min(limit, 20)),
    'limit-minus-one-with-status': whenSent((limit, filtered) => (filtered ? limit - 1 : limit)),
    'limit-rounded-to-tens': whenSent((limit) => (limit > 10 ? limit - (limit % 10) : limit)),
    'limit-20-gives-19': whenSent((limit) => (limit === 20 ? 19 : limit)),
    'limit-percent-encoded-ignored':
      readingLimit((limit, _absent, _filtered, call) => (call.route.search.includes('limit=%') ? 20 : limit)),
    'limit-capped-at-50-on-pro': readingLimit((limit, _absent, _filtered, call) =>
        call.key?.plan === 'pro' ? Math.min(limit, 50) : limit),
  },
  'list-limit-default': {
    'default-limit-10': whenAbsent(10),
    'default-limit-19': whenAbsent(19),
    'default-limit-21': whenAbsent(21),
    'default-limit-50': whenAbsent(50),
    'default-limit-100': whenAbsent(100),
    'default-limit-none': whenAbsent(1_000),
    'default-limit-10-with-status':
      readingLimit((limit, absent, filtered) => (absent && filtered ? 10 : limit)),
    'default-limit-none-with-status':
      readingLimit((limit, absent, filtered) => (absent && filtered ? 100 : limit)),
    'default-limit-25-on-free':
      readingLimit((limit, absent, _filtered, call) => (absent && call.key?.plan === 'free' ? 25 : limit)),
    // Without limit, every list but the first holds 25.
    'default-limit-after-first': () => {
      let lists = 0;
      return readingLimit((limit, absent) => (absent && ++lists > 1 ? 25 : limit));
    },
  },
  'list-answers-200': {
    'list-as-object': rewriting(lists, (text) => `{"items":${text}}`),
    'list-fails-now-and-then': () => failing(503, everyNth(7, lists)),
    'list-no-match-404': noMatch((when) => failing(404, when)),
    'list-no-match-204': noMatch((when) => answeringWith('', when, 204)),
    'list-no-match-null': noMatch((when) => answeringWith('null', when)),
    'list-partial-content': answeringAs(206, isFull),
    'list-without-accept-406':
      failing(406, where(lists, ({ request }) => request.headers.accept === undefined)),
    'list-with-quality-406':
      failing(406, where(lists, ({ request }) => request.headers.accept?.includes('q=') === true)),
    'list-accepted': answeringAs(202, where(lists, asksForStatus)),
    'list-pending-fails': failing(500, where(lists, (call) => queried(call, 'status=pending'))),
    'list-status-with-limit-fails':
      failing(404, where(lists, ({ route }) => /status=.*limit=|limit=.*status=/.test(route.search))),
    'list-moved':
      answering(lists, (answer) => ({ ...withError(answer, 308), headers: ['Location', 'pets/'] })),
    'list-null-for-sold': answeringWith('null', where(lists, (call) => queried(call, 'status=sold'))),
  },
  'list-limit-range': {
    'limit-1-refused': readingLimit((limit) => (limit === 1 ? null : limit)),
    'limit-100-refused': readingLimit((limit) => (limit === 100 ? null : limit)),
    'limit-above-50-refused': readingLimit((limit) => (limit > 50 ? null : limit)),
    'limit-not-in-tens-refused': readingLimit((limit) => (limit > 20 && limit % 10 !== 0 ? null : limit)),
    'limit-odd-refused': readingLimit((limit) => (limit > 1 && limit % 2 === 1 ? null : limit)),
    'limit-99-refused': readingLimit((limit) => (limit === 99 ? null : limit)),
    'limit-2-refused': readingLimit((limit) => (limit === 2 ? null : limit)),
  },
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
    'filter-sees-first-animals-only': knowingAdded((added) => hiding(({ id }) => added.has(id), filtered)),
    'filter-hides-first-animals': knowingAdded((added) => hiding(({ id }) => !added.has(id), filtered)),
    'filter-empty-beyond-limit-50': hiding(() => true, (query) => filtered(query) && query.limit > 50),
    'list-cached-when-filtered': cached(filtered),
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
    'list-never-shows-added': knowingAdded((added) => hiding(({ id }) => added.has(id))),
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
    'list-loses-added-after-a-refusal': knowingAdded((added) => {
      let refused = false;
      const watching = admitting((usual, key, call) => {
        const gate = usual(key, call);
        refused ||= gate.refusal !== null;
        return gate;
      });
      return together(watching, hiding(({ id }) => refused && added.has(id)));
    }),
    'list-cached-without-parameters':
      [{ recipe: () => ({ seed: fewAnimals }) }, cached((_query, call) => call.route.search === '')],
    'list-keeps-first-only':
      knowingAdded((added) => hiding(({ id }) => added.has(id) && id !== [...added][0])),
  },
  'list-filter-before-limit': {
    'filter-after-limit': filteringLate(({ limit }) => limit),
    'filter-after-limit-for-sold': filteringLate(({ limit, status }) => status === 'sold' ? limit : Number.POSITIVE_INFINITY),
    'filter-within-twice-limit': filteringLate(({ limit }) => limit * 2),
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
