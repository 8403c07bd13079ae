import { badRequest } from '../../answer.ts';
import type { Call } from '../../design.ts';
import { isAskedFor, type ListQuery, unfiltered } from '../../list-query.ts';
import type { Pet, PetStatus } from '../../pet-store.ts';
import { seeded } from '../../seed.ts';
import { gating, onPlan } from '../admission.ts';
import { rounded, shown } from '../animals.ts';
import { answering, errorOf, failing, rewriting, succeeds } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { readingQuery } from '../reading.ts';
import { addedAs, adding, beginningWith, changed, hiding, knowingAdded, selecting } from '../store.ts';
import { always, asksForStatus, everyTime, knowingSeen, queried, type When, where } from '../when.ts';

const hasLimit = (call: Call) => new URLSearchParams(call.route.search).has('limit');

/** Takes another limit than the one that was asked for; null refuses it. */
const limitAs = (change: (limit: number, call: Call) => number | null): Deviation =>
  readingQuery((usual, search, call) => {
    const read = usual(search, call);
    if ('text' in read) return read;
    const limit = change(read.limit, call);
    return limit === null ? badRequest('invalid_limit', 'This limit is not allowed.') : { ...read, limit };
  });

const whenSent = (change: (limit: number, call: Call) => number) =>
  limitAs((limit, call) => (hasLimit(call) ? change(limit, call) : limit));
const whenAbsent = (instead: number, when: (call: Call) => boolean = always) =>
  limitAs((limit, call) => (hasLimit(call) || !when(call) ? limit : instead));

const lists = succeeds('listPets');
const filtered = ({ status }: ListQuery) => status !== null;

/** What a store without sold animals says of a list that finds none. */
const noMatch = (answered: (when: When) => Deviation): Deviation => [
  beginningWith((ordinal) => ({ ...seeded(ordinal), status: ordinal % 2 === 0 ? 'available' : 'pending' })),
  answered(where(lists, (_call, { text }) => text === '[]')),
];

const isFull = where(lists, (_call, { text }) => (text.match(/{"id":/g)?.length ?? 0) >= 20);

/** Asks for another list, where the query and the call are such. */
const listedAs = (other: (query: ListQuery, call: Call) => ListQuery) =>
  selecting((usual, query, call) => usual(other(query, call), call));
/** Lists without regard to the status that is asked for. */
const ignoring = (when: (query: ListQuery, call: Call) => boolean) =>
  listedAs((query, call) => (when(query, call) ? unfiltered(query.limit) : query));

/** Replaces the last animal of a list by another one. */
const ending = (
  by: (pets: readonly Pet[], call: Call) => Pet | undefined,
  when: (query: ListQuery) => boolean = always,
) =>
  selecting((usual, query, call) => {
    const pets = usual(query, call);
    const other = when(query) && pets.length > 1 ? by(pets, call) : undefined;
    return other === undefined ? pets : [...pets.slice(0, -1), other];
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
const filteringLate = (
  limitOf: (query: ListQuery) => number,
  passes: (query: ListQuery, pet: Pet) => boolean = isAskedFor,
) =>
  selecting((usual, query, call) => {
    const pets = usual(unfiltered(limitOf(query)), call).filter((pet) => passes(query, pet));
    return pets.slice(0, query.limit);
  });

/** Section 4.1: a list is answered with 200 and an array, how many animals it holds, and which. */
// biome-ignore format: a table, a line for most faults
export const LISTING_FAULTS: DeviationTable = {
  'list-limit-maximum': {
    'limit-plus-one': whenSent((limit) => limit + 1),
    'limit-ignored': whenSent(() => 20),
    'limit-at-least-ten': whenSent((limit) => Math.max(limit, 10)),
    'limit-1-gives-two': whenSent((limit) => (limit === 1 ? 2 : limit)),
    'limit-100-gives-101': whenSent((limit) => (limit === 100 ? 101 : limit)),
    'limit-20-gives-21': whenSent((limit) => (limit === 20 ? 21 : limit)),
    'limit-in-thirties-plus-one': whenSent((limit) => (limit > 30 && limit < 40 ? limit + 1 : limit)),
    'limit-ignored-with-status': whenSent((limit, call) => (asksForStatus(call) ? 100 : limit)),
    'limit-plus-one-with-status': whenSent((limit, call) => (asksForStatus(call) ? limit + 1 : limit)),
  },
  'list-limit-fills': {
    'limit-minus-one': whenSent((limit) => limit - 1),
    'limit-1-gives-none': whenSent((limit) => (limit === 1 ? 0 : limit)),
    'limit-100-gives-99': whenSent((limit) => (limit === 100 ? 99 : limit)),
    'limit-capped-at-50': whenSent((limit) => Math.min(limit, 50)),
    'limit-capped-at-20': whenSent((limit) => Math.min(limit, 20)),
    'limit-minus-one-with-status': whenSent((limit, call) => (asksForStatus(call) ? limit - 1 : limit)),
    'limit-rounded-to-tens': whenSent((limit) => (limit > 10 ? limit - (limit % 10) : limit)),
    'limit-20-gives-19': whenSent((limit) => (limit === 20 ? 19 : limit)),
    'limit-percent-encoded-ignored':
      limitAs((limit, { route }) => (route.search.includes('limit=%') ? 20 : limit)),
    'limit-capped-at-50-on-pro':
      limitAs((limit, call) => (onPlan('pro')(call) ? Math.min(limit, 50) : limit)),
  },
  'list-limit-default': {
    'default-limit-10': whenAbsent(10),
    'default-limit-19': whenAbsent(19),
    'default-limit-21': whenAbsent(21),
    'default-limit-50': whenAbsent(50),
    'default-limit-100': whenAbsent(100),
    'default-limit-none': whenAbsent(1_000),
    'default-limit-10-with-status': whenAbsent(10, asksForStatus),
    'default-limit-none-with-status': whenAbsent(100, asksForStatus),
    'default-limit-25-on-free': whenAbsent(25, onPlan('free')),
    'default-limit-after-first': knowingSeen((isSeen) => whenAbsent(25, () => isSeen('a list'))),
  },
  'list-answers-200': {
    'list-as-object': rewriting(lists, (text) => `{"items":${text}}`),
    'list-fails-now-and-then': () => failing(503, lists, everyTime(7)),
    'list-no-match-404': noMatch((when) => failing(404, when)),
    'list-no-match-204': noMatch((when) => answering(when, { text: '', status: 204 })),
    'list-no-match-null': noMatch((when) => answering(when, { text: 'null' })),
    'list-partial-content': answering(isFull, { status: 206 }),
    'list-without-accept-406': failing(406, lists, ({ request }) => request.headers.accept === undefined),
    'list-with-quality-406':
      failing(406, lists, ({ request }) => request.headers.accept?.includes('q=') === true),
    'list-accepted': answering(where(lists, asksForStatus), { status: 202 }),
    'list-pending-fails': failing(500, lists, queried('status=pending')),
    'list-status-with-limit-fails':
      failing(404, lists, ({ route }) => /status=.*limit=|limit=.*status=/.test(route.search)),
    'list-moved': answering(lists, { ...errorOf(308), headers: ['Location', 'pets/'] }),
    'list-null-for-sold': answering(where(lists, queried('status=sold')), { text: 'null' }),
  },
  'list-limit-range': {
    'limit-1-refused': limitAs((limit) => (limit === 1 ? null : limit)),
    'limit-100-refused': limitAs((limit) => (limit === 100 ? null : limit)),
    'limit-above-50-refused': limitAs((limit) => (limit > 50 ? null : limit)),
    'limit-not-in-tens-refused': limitAs((limit) => (limit > 20 && limit % 10 !== 0 ? null : limit)),
    'limit-odd-refused': limitAs((limit) => (limit > 1 && limit % 2 === 1 ? null : limit)),
    'limit-99-refused': limitAs((limit) => (limit === 99 ? null : limit)),
    'limit-2-refused': limitAs((limit) => (limit === 2 ? null : limit)),
  },
  'list-status-filter': {
    'filter-ignored': ignoring(() => true),
    'filter-pending-ignored': ignoring(({ status }) => status === 'pending'),
    'filter-ignored-at-limit-100': ignoring(({ limit }) => limit === 100),
    'filter-pending-gives-available':
      listedAs((query) => (query.status === 'pending' ? { ...query, status: 'available' } : query)),
    'filter-only-without-limit': ignoring((_query, call) => hasLimit(call)),
    'filter-ignored-behind-limit': ignoring((_query, call) => /limit=.*&status=/.test(call.route.search)),
    'filter-sold-ignored-without-limit': ignoring(({ status }, call) => status === 'sold' && !hasLimit(call)),
    'filter-ignored-without-limit-on-free':
      ignoring((_query, call) => onPlan('free')(call) && !hasLimit(call)),
    'filter-percent-encoded-refused': failing(400, lists, ({ route }) => route.search.includes('status=%')),
    // The last animal of a filtered list has another status, or none.
    'filter-one-wrong':
      ending(([pet], { service }) => service.store.all.findLast(({ status }) => status !== pet?.status), filtered),
    'filter-sold-with-statusless': filteringLate(() => Number.POSITIVE_INFINITY,
      (query, pet) => isAskedFor(query, pet) || (query.status === 'sold' && pet.status === null)),
  },
  'list-status-complete': {
    'filter-pending-empty': hiding(always, ({ status }) => status === 'pending'),
    'filter-hides-other-scripts': hiding(({ name }) => !/^[\x20-\x7e]*$/.test(name), filtered),
    'filter-hides-large-categories': hiding(({ categoryId }) => categoryId.length > 15, filtered),
    'filter-hides-newest': hiding((pet, { service }) => pet.id === service.store.all.at(-1)?.id, filtered),
    'filter-sees-first-animals-only': knowingAdded((added) => hiding(({ id }) => added.has(id), filtered)),
    'filter-hides-first-animals': knowingAdded((added) => hiding(({ id }) => !added.has(id), filtered)),
    'filter-empty-beyond-limit-50': hiding(() => true, (query) => filtered(query) && query.limit > 50),
    'list-cached-when-filtered': cached(filtered),
  },
  'list-unfiltered': {
    'unfiltered-available-only': listedAs((query) => ({ ...query, status: query.status ?? 'available' })),
    'unfiltered-hides-sold': hiding(({ status }) => status === 'sold', ({ status }) => status === null),
    'unfiltered-hides-statusless': hiding(({ status }) => status === null, ({ status }) => status === null),
  },
  'list-shows-added': {
    'list-of-one-shows-another-category':
      shown('categoryId', (digits, call) => (queried('limit=1')(call) ? '1' : digits), 'listPets'),
    'list-trims-name': shown('name', (name) => name.trim().toLowerCase(), 'listPets'),
    'list-cuts-name': shown('name', (name) => name.slice(0, 8), 'listPets'),
    'list-rounds-category': shown('categoryId', rounded, 'listPets'),
    'list-rounds-id': shown('id', rounded, 'listPets'),
    'list-never-shows-added': knowingAdded((added) => hiding(({ id }) => added.has(id))),
    'additions-of-pro-not-stored':
      knowingAdded((added) => changed((pet) => (added.get(pet.id)?.by?.startsWith('pro') === true ? null : pet))),
    'listed-name-other-with-status': 
      shown('name', (name, call) => asksForStatus(call) ? name.toUpperCase() : name, 'listPets'),
    'added-stored-as-available': () => {
      let answered: PetStatus | null = null;
      const stored = addedAs((animal) => {
        answered = animal.status;
        return { ...animal, status: 'available' };
      });
      return [stored, shown('status', () => answered, 'createPet')];
    },
    'list-sold-as-available':
      shown('status', (status) => (status === 'sold' ? 'available' : status), 'listPets'),
    'list-forgets-status': shown('status', (status, call) => (asksForStatus(call) ? status : null), 'listPets'),
    'list-loses-added-after-a-refusal': knowingAdded((added) => {
      let refused = false;
      const watching = gating((gate) => {
        refused ||= gate.refusal !== null;
        return gate;
      });
      return [watching, hiding(({ id }) => refused && added.has(id))];
    }),
    'list-cached-without-parameters':
      [beginningWith(seeded, 5), cached((_query, call) => call.route.search === '')],
    'list-keeps-first-only':
      knowingAdded((added) => hiding(({ id }) => added.has(id) && id !== [...added.keys()][0])),
  },
  'list-filter-before-limit': {
    'filter-after-limit': filteringLate(({ limit }) => limit),
    'filter-after-limit-for-sold': filteringLate(({ limit, status }) => status === 'sold' ? limit : Number.POSITIVE_INFINITY),
    'filter-within-twice-limit': filteringLate(({ limit }) => limit * 2),
  },
  'list-each-once': {
    'list-first-twice': ending((pets) => pets[0]),
    'list-twice-at-limit-100': ending((pets) => pets[0], ({ limit }) => limit === 100),
    'list-twice-when-filtered': ending((pets) => pets.at(-2), filtered),
    'list-addition-stored-twice': adding((usual, animal, call) => {
      usual(animal, call);
      return usual(animal, call);
    }),
  },
};
