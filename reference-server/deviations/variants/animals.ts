import { randomBytes, randomInt } from 'node:crypto';
import type { Call } from '../../call.ts';
import { badRequest } from '../../error-body.ts';
import { readJsonObject } from '../../json-members.ts';
import {
  ascendingIds,
  type ListQuery,
  type NewPet,
  type Pet,
  type PetStatus,
  type PetStore,
} from '../../pet-store.ts';
import { seeded } from '../../seed.ts';
import { petWritten, readingPet, selecting } from '../shapes.ts';
import { type Answer, answer } from './variant.ts';

/** Answers about animals: their ids, fields and order, and what is accepted of them. */

/** Fills a store with animals under ids of the store's own. */
function seedWithOwnIds(store: PetStore, animals: number): void {
  for (let ordinal = 0; ordinal < animals; ordinal += 1) store.add(seeded(ordinal));
}

const FIELDS = new Set(['name', 'categoryId', 'status']);

function refusing(when: (animal: NewPet) => boolean, status = 400) {
  return readingPet((usual, body, call) => {
    const read = usual(body, call);
    if ('problem' in read || !when(read.animal)) return read;
    return { problem: { ...badRequest('invalid_animal', 'The animal is not accepted.'), status } };
  });
}

export const idsFromOne: Answer = answer('id-assignment', 'ascending', {
  recipe: () => ({ nextId: ascendingIds(1n), seed: seedWithOwnIds }),
});

export const randomIds: Answer = answer('id-assignment', 'other', {
  recipe: () => ({
    // 63 random bits; a million of them meet with a probability of 1 in 20 million.
    nextId: () => (randomBytes(8).readBigUInt64BE() >> 1n).toString(),
    seed: seedWithOwnIds,
  }),
});

export const idsFromTheTop: Answer = answer('id-assignment', 'other', {
  recipe: () => {
    let next = 9_223_372_036_854_775_807n;
    return { nextId: () => String(next--), seed: seedWithOwnIds };
  },
});

export const negativeIds: Answer = answer('id-assignment', 'other', {
  recipe: () => {
    let next = -9_223_372_036_854_775_808n;
    return { nextId: () => String(next++), seed: seedWithOwnIds };
  },
});

function page(pets: readonly Pet[], query: ListQuery): Pet[] {
  return pets.slice(0, query.limit);
}

export const oldestFirst: Answer = answer(
  'list-order',
  'oldest-first',
  selecting((_usual, query, _call, { store }) => page(store.having(query.status), query)),
);

function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    const value = result[at];
    const swapped = result[other];
    if (value !== undefined && swapped !== undefined) [result[at], result[other]] = [swapped, value];
  }
  return result;
}

/** The usual animals in another order in every response. */
export const shuffledOrder: Answer = answer(
  'list-order',
  'other',
  selecting((usual, query, call) => shuffled(usual(query, call))),
);

/** Other animals in every response, wherever there are more than limit. */
export const randomSample: Answer = answer(
  'list-order',
  'other',
  selecting((_usual, query, _call, { store }) => {
    const matching = store.having(query.status);
    if (matching.length <= query.limit) return shuffled(matching);
    const chosen = new Set<number>();
    while (chosen.size < query.limit) chosen.add(randomInt(matching.length));
    return [...chosen].flatMap((at) => matching[at] ?? []);
  }),
);

export function statusWhenOmitted(status: PetStatus): Answer {
  return answer('status-when-omitted', status, {
    behaviour: (usual) => ({
      addPet: (animal, call) => usual.addPet({ ...animal, status: animal.status ?? status }, call),
    }),
  });
}

export const extraFields: Answer = answer(
  'extra-response-fields',
  'createdAt,tags,_links',
  petWritten((text, pet) =>
    text.replace(/}$/, `,"createdAt":"2026-01-01T00:00:00Z","tags":[],"_links":{"self":"/pets/${pet.id}"}}`),
  ),
);

/** The same JSON in other words: fields in another order, blanks, and every character that is not ASCII escaped. */
export const unusualJson: Answer = answer('json-notation', 'indented-and-escaped', {
  behaviour: () => ({
    petText(pet) {
      const name = JSON.stringify(pet.name).replaceAll(
        /[^\x20-\x7e]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      const status = pet.status === null ? '' : `  "status" : "${pet.status}",\n`;
      return `{\n${status}  "categoryId" : ${pet.categoryId},\n  "name" : ${name},\n  "id" : ${pet.id}\n}`;
    },
  }),
});

export const unknownFieldsRefused = (status: 400 | 422): Answer =>
  answer(
    'unknown-fields',
    `rejected-${status}`,
    readingPet((usual, body, call) => {
      const read = usual(body, call);
      const json = readJsonObject(body);
      if (json.kind !== 'object' || [...json.members.keys()].every((name) => FIELDS.has(name))) return read;
      // What makes a body invalid by the document comes first, and is a 400.
      if ('problem' in read) return read;
      return { problem: { ...badRequest('unknown_field', 'The animal has an unknown field.'), status } };
    }),
  );

/** Unknown fields come back with the animal. Its id stays the service's own. */
export const unknownFieldsKept: Answer = answer('unknown-fields', 'kept', {
  behaviour: (usual) => {
    const sent = new WeakMap<Call, string>();
    const kept = new Map<string, string>();
    return {
      readNewPet(body, call) {
        const json = readJsonObject(body);
        if (json.kind === 'object') {
          const more = [...json.members].filter(([name]) => name !== 'id' && !FIELDS.has(name));
          sent.set(call, more.map(([name, text]) => `,${JSON.stringify(name)}:${text}`).join(''));
        }
        return usual.readNewPet(body, call);
      },
      addPet(animal, call) {
        const pet = usual.addPet(animal, call);
        const more = sent.get(call) ?? '';
        if (more !== '') kept.set(pet.id, more);
        return pet;
      },
      petText: (pet, call) => usual.petText(pet, call).replace(/}$/, () => `${kept.get(pet.id) ?? ''}}`),
    };
  },
});

/** A category exists where an animal of the store's first ones has it. */
export const unknownCategoryRefused: Answer = answer('category-existence', 'rejected-400', {
  behaviour: (usual, { store }) => {
    const known = new Set(store.having(null).map(({ categoryId }) => categoryId));
    if (known.size === 0) known.add('1');
    return {
      readNewPet(body, call) {
        const read = usual.readNewPet(body, call);
        if ('problem' in read || known.has(read.animal.categoryId)) return read;
        return { problem: badRequest('unknown_category', 'There is no such category.') };
      },
    };
  },
});

export const asciiNamesOnly: Answer = answer(
  'name-character-set',
  'rejected-400',
  refusing(({ name }) => !/^[\x20-\x7e]+$/.test(name)),
);

export function namesUpTo(length: number, status: 400 | 413): Answer {
  return answer(
    'name-length',
    `rejected-${status}`,
    refusing(({ name }) => name.length > length, status),
  );
}

/** A constraint on names like any other, and those are not shown. */
export const uniqueNames: Answer = answer('name-uniqueness', 'rejected-400', {
  behaviour: (usual, { store }) => ({
    readNewPet(body, call) {
      const read = usual.readNewPet(body, call);
      if ('problem' in read || store.having(null).every(({ name }) => name !== read.animal.name)) return read;
      return { problem: badRequest('name_taken', 'Another animal has this name.') };
    },
  }),
});

/**
 * An animal is served some time after its 201, as with replicas that lag behind. The document lets a server do that:
 * it promises the created animal in the answer to the addition, and nowhere by when a list or a retrieval knows it.
 */
export function visibleAfter(milliseconds: number): Answer {
  return answer('added-visibility', 'later', {
    behaviour: (usual, { store, clock }) => {
      const hidden = new Map<string, number>();
      const isHidden = (id: string): boolean => {
        const since = hidden.get(id);
        if (since === undefined) return false;
        if (clock.now() - since < milliseconds) return true;
        hidden.delete(id);
        return false;
      };
      return {
        addPet(animal, call) {
          const pet = usual.addPet(animal, call);
          // Nobody may ever ask for the earlier ones, so they are forgotten here, oldest first.
          for (const id of hidden.keys()) if (isHidden(id)) break;
          hidden.set(pet.id, clock.now());
          return pet;
        },
        findPet: (petId, call) => (isHidden(petId) ? null : usual.findPet(petId, call)),
        select(query, call) {
          const more = usual.select(
            { ...query, limit: Math.min(query.limit + hidden.size, store.size) },
            call,
          );
          return more.filter(({ id }) => !isHidden(id)).slice(0, query.limit);
        },
      };
    },
  });
}

/** A key sees what was there before, and what it added itself. */
export const ownAnimalsOnly: Answer = answer('permissions-of-keys', 'own-animals', {
  behaviour: (usual) => {
    const owners = new Map<string, string | undefined>();
    const mayBeSeen = ({ id }: Pet, call: Call) => !owners.has(id) || owners.get(id) === call.key?.name;
    return {
      addPet(animal, call) {
        const pet = usual.addPet(animal, call);
        owners.set(pet.id, call.key?.name);
        return pet;
      },
      findPet(petId, call) {
        const found = usual.findPet(petId, call);
        return found === null || 'code' in found || mayBeSeen(found, call) ? found : null;
      },
      select: (query, call) =>
        usual
          .select({ ...query, limit: query.limit + owners.size }, call)
          .filter((pet) => mayBeSeen(pet, call))
          .slice(0, query.limit),
    };
  },
});

/** Whoever runs the store approves what is pending and sells animals: each changes so many requests after it was added. */
export const statusesChange: Answer = answer(
  'status-transitions',
  'available to sold, pending to available',
  {
    behaviour: (usual, { store }) => {
      let requests = 0;
      let added = 0;
      const changing = new Map<string, { readonly from: number; readonly to: PetStatus }>();
      const asItIs = (pet: Pet): Pet => {
        const change = changing.get(pet.id);
        return change === undefined || requests < change.from ? pet : { ...pet, status: change.to };
      };
      return {
        identify(call) {
          requests += 1;
          return usual.identify(call);
        },
        addPet(animal, call) {
          const pet = usual.addPet(animal, call);
          added += 1;
          if (animal.status === 'pending') changing.set(pet.id, { from: requests + 30, to: 'available' });
          if (animal.status === 'available' && added % 3 === 1)
            changing.set(pet.id, { from: requests + 60, to: 'sold' });
          return pet;
        },
        findPet(petId, call) {
          const found = usual.findPet(petId, call);
          return found === null || 'code' in found ? found : asItIs(found);
        },
        select(query) {
          const page: Pet[] = [];
          const all = store.having(null);
          for (let at = all.length - 1; at >= 0 && page.length < query.limit; at -= 1) {
            const pet = all[at];
            const shown = pet === undefined ? undefined : asItIs(pet);
            if (shown !== undefined && (query.status ?? shown.status) === shown.status) page.push(shown);
          }
          return page;
        },
      };
    },
  },
);
