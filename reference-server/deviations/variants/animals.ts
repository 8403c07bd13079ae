import { randomBytes, randomInt } from 'node:crypto';
import { refusal } from '../../answer.ts';
import { isAskedFor } from '../../list-query.ts';
import { ascendingIds, type IdSource, type Pet, type PetStatus } from '../../pet-store.ts';
import { seeded } from '../../seed.ts';
import { knowingRequests } from '../admission.ts';
import { petWritten, writing } from '../animals.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { membersOf, readAs, refusing } from '../reading.ts';
import { addedAs, beginningWith, changed, knowingAdded, noting, selecting } from '../store.ts';

/** Ids of the store's own, for the animals that it has at the start too. */
const ownIds = (nextId: () => IdSource): Deviation => [() => ({ nextId: nextId() }), beginningWith(seeded)];

const shuffled = (pets: readonly Pet[]): Pet[] =>
  pets
    .map((pet) => ({ pet, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ pet }) => pet);

/** Other animals in every response, wherever there are more than limit. */
const randomSample = selecting((_usual, query, { service }) => {
  const matching = service.store.all.filter((pet) => isAskedFor(query, pet));
  if (matching.length <= query.limit) return shuffled(matching);
  const chosen = new Set<number>();
  while (chosen.size < query.limit) chosen.add(randomInt(matching.length));
  return [...chosen].flatMap((at) => matching[at] ?? []);
});

const statusWhenOmitted = (status: PetStatus) =>
  addedAs((animal) => ({ ...animal, status: animal.status ?? status }));

const FIELDS = new Set(['name', 'categoryId', 'status']);

/** The same JSON in other words: fields in another order, blanks, and every character that is not ASCII escaped. */
const unusualJson = writing((_usual, pet) => {
  const name = JSON.stringify(pet.name).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const status = pet.status === null ? '' : `  "status" : "${pet.status}",\n`;
  return `{\n${status}  "categoryId" : ${pet.categoryId},\n  "name" : ${name},\n  "id" : ${pet.id}\n}`;
});

const unknownFieldsRefused = (status: 400 | 422) =>
  readAs((read, body) => {
    if ([...(membersOf(body)?.keys() ?? [])].every((name) => FIELDS.has(name))) return read;
    // What makes a body invalid by the document comes first, and is a 400.
    return 'text' in read ? read : refusal(status, 'unknown_field', 'The animal has an unknown field.');
  });

/** Unknown fields come back with the animal. Its id stays the service's own. */
const unknownFieldsKept: Deviation = () => {
  const kept = new Map<string, string>();
  return [
    noting(({ id }, { body }) => {
      const more = [...(membersOf(body) ?? [])].filter(([name]) => name !== 'id' && !FIELDS.has(name));
      kept.set(id, more.map(([name, text]) => `,${JSON.stringify(name)}:${text}`).join(''));
    }),
    petWritten((text, { id }) => text.replace(/}$/, () => `${kept.get(id) ?? ''}}`)),
  ];
};

/** A category exists where an animal has it; in an empty store there is one. */
const unknownCategoryRefused = refusing(({ categoryId }, { service: { store } }) =>
  store.all.length === 0 ? categoryId !== '1' : !store.all.some((pet) => pet.categoryId === categoryId),
);

const namesUpTo = (length: number, status: 400 | 413) => refusing(({ name }) => name.length > length, status);

/**
 * An animal is served some time after its 201, as with replicas that lag behind. The document lets a server do that:
 * it promises the created animal in the answer to the addition, and nowhere by when a list or a retrieval knows it.
 */
const visibleAfter = (milliseconds: number) =>
  knowingAdded((added) =>
    changed((pet, { now }) => (now - (added.get(pet.id)?.at ?? 0) < milliseconds ? null : pet)),
  );

/** A key sees what was there before, and what it added itself. */
const ownAnimalsOnly = knowingAdded((added) =>
  changed((pet, { key }) => (added.has(pet.id) && added.get(pet.id)?.by !== key?.name ? null : pet)),
);

/** Whoever runs the store approves what is pending and sells animals: each changes so many requests after it was added. */
const statusesChange = knowingRequests((requests) => {
  let added = 0;
  const changes = new Map<string, { readonly from: number; readonly to: PetStatus }>();
  return [
    noting(({ id, status }) => {
      added += 1;
      if (status === 'pending') changes.set(id, { from: requests() + 30, to: 'available' });
      if (status === 'available' && added % 3 === 1) changes.set(id, { from: requests() + 60, to: 'sold' });
    }),
    changed((pet) => {
      const change = changes.get(pet.id);
      return change === undefined || requests() < change.from ? pet : { ...pet, status: change.to };
    }),
  ];
});

/** Animals: their ids, fields and order, and what is accepted of them. */
// biome-ignore format: a table, a line for most answers
export const ANIMAL_ANSWERS = {
  'id-assignment': {
    ascending: ownIds(() => ascendingIds(1n)),
    // 63 random bits; a million of them meet with a probability of 1 in 20 million.
    'other (random)': ownIds(() => () => (randomBytes(8).readBigUInt64BE() >> 1n).toString()),
    'other (negative)': ownIds(() => ascendingIds(-9_223_372_036_854_775_808n)),
    'other (from the top)': ownIds(() => {
      let next = 9_223_372_036_854_775_807n;
      return () => String(next--);
    }),
  },
  'list-order': {
    'oldest-first': selecting((_usual, query, { service }) =>
      service.store.all.filter((pet) => isAskedFor(query, pet)).slice(0, query.limit)),
    // The usual animals in another order in every response.
    'other (shuffled)': selecting((usual, query, call) => shuffled(usual(query, call))),
    'other (sampled)': randomSample,
  },
  'status-when-omitted': {
    available: statusWhenOmitted('available'),
    pending: statusWhenOmitted('pending'),
    sold: statusWhenOmitted('sold'),
  },
  'status-transitions': { 'available to sold, pending to available': statusesChange },
  'extra-response-fields': {
    'createdAt,tags,_links': petWritten((text, { id }) => text.replace(/}$/,
        `,"createdAt":"2026-01-01T00:00:00Z","tags":[],"_links":{"self":"/pets/${id}"}}`)),
  },
  'json-notation': { 'indented-and-escaped': unusualJson },
  'unknown-fields': {
    'rejected-400': unknownFieldsRefused(400),
    'rejected-422': unknownFieldsRefused(422),
    kept: unknownFieldsKept,
  },
  'category-existence': { 'rejected-400': unknownCategoryRefused },
  'name-character-set': { 'rejected-400': refusing(({ name }) => !/^[\x20-\x7e]+$/.test(name)) },
  'name-length': {
    'rejected-400 (from 41)': namesUpTo(40, 400),
    'rejected-413 (from 201)': namesUpTo(200, 413),
  },
  // A constraint on names like any other, and those are not shown.
  'name-uniqueness': {
    'rejected-400': refusing(({ name }, { service }) => service.store.all.some((pet) => pet.name === name)),
  },
  'added-visibility': { later: visibleAfter(1500) },
  'permissions-of-keys': {
    'own-animals': ownAnimalsOnly,
    'free-2-reads-only': readAs((read, _body, { key }) =>
      key?.name === 'free-2' ? refusal(403, 'forbidden', 'This key may read only.') : read),
  },
} as const satisfies DeviationTable;
