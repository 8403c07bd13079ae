import type { Call } from '../../design.ts';
import type { NewPet, Pet } from '../../pet-store.ts';
import type { DeviationTable } from '../deviation.ts';
import {
  adding,
  heldBack,
  membersOf,
  oneBefore,
  onPlan,
  petShown,
  petWritten,
  readingPet,
  rewriting,
  succeeds,
} from '../shapes.ts';

/** An animal's JSON without one field. */
const without = (name: string) => (text: string) =>
  text.replace(new RegExp(`,?"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`), '').replace('{,', '{');
// Digits stand in an animal's JSON as they are, so anything can stand in their place.
const idAsText = (pet: Pet): Pet => ({ ...pet, id: `"${pet.id}"` });
const upperStatus = (text: string) =>
  text.replace(/"status":"(\w+)"/, (_all, status: string) => `"status":"${status.toUpperCase()}"`);
const statusIfNone = (written: string) => (text: string) =>
  text.includes('"status"') ? text : text.replace(/}$/, `,"status":${written}}`);

/** Puts an added animal under another id, where there is one. */
const puttingUnder = (idOf: (animal: NewPet, call: Call) => string | undefined) =>
  adding((usual, animal, call) => {
    const id = idOf(animal, call);
    return id === undefined ? usual(animal, call) : call.service.store.put({ ...animal, id });
  });

/** Takes the id that a client sends. */
const takingOver = (accept: (digits: string) => boolean) => () => {
  const sent = new WeakMap<Call, string>();
  return [
    readingPet((usual, body, call) => {
      const digits = membersOf(body)?.get('id')?.replaceAll('"', '');
      if (digits !== undefined && /^-?\d{1,18}$/.test(digits) && accept(digits)) sent.set(call, digits);
      return usual(body, call);
    }),
    puttingUnder((_animal, call) => sent.get(call)),
  ];
};

/** Section 2: the fields of a Pet, operation by operation; ids are unique, and the service's own. */
// biome-ignore format: a table, a line for most faults
export const PET_FAULTS: DeviationTable = {
  'list-pet-schema': {
    'list-id-as-text': petShown(idAsText, 'listPets'),
    'list-without-id': petWritten(without('id'), 'listPets'),
    'list-without-name': petWritten(without('name'), 'listPets'),
    'list-category-in-snake-case':
      petWritten((text) => text.replace('"categoryId"', '"category_id"'), 'listPets'),
    'list-category-as-text': petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'listPets'),
    'list-status-upper-case': petWritten(upperStatus, 'listPets'),
    'list-status-null': petWritten(statusIfNone('null'), 'listPets'),
    'list-sold-spelled-otherwise':
      petWritten((text) => text.replace('"status":"sold"', '"status":"gone"'), 'listPets'),
    'list-last-without-category':
      rewriting(succeeds('listPets'), (text) => text.replace(/\{"id":(?!.*\{"id":).*$/s, without('categoryId'))),
    'list-id-beyond-int64':
      rewriting(succeeds('listPets'), (text) => text.replace(/"id":-?\d+/, '"id":9223372036854775808')),
    'list-name-null': petWritten((text, { name }) => /^[\x20-\x7e]*$/.test(name) ? text
        : text.replace(`"name":${JSON.stringify(name)}`, '"name":null'), 'listPets'),
  },
  'add-pet-schema': {
    'created-id-as-text': petShown(idAsText, 'createPet'),
    'created-without-id': petWritten(without('id'), 'createPet'),
    'created-without-category': petWritten(without('categoryId'), 'createPet'),
    'created-status-null': petWritten(statusIfNone('null'), 'createPet'),
    'created-wrapped': rewriting(succeeds('createPet'), (text) => `{"pet":${text}}`),
    'created-id-as-fraction': petShown((pet) => ({ ...pet, id: `${pet.id}.5` }), 'createPet'),
    'created-digits-as-number':
      petWritten((text) => text.replace(/"name":"0*(\d+)"/, '"name":$1'), 'createPet'),
    'created-name-null': petWritten((text) => text.replace('"name":"null"', '"name":null'), 'createPet'),
    'created-status-empty': petWritten(statusIfNone('""'), 'createPet'),
    'created-without-category-0': petWritten((text, pet) =>
        pet.categoryId === '0' ? without('categoryId')(text) : text, 'createPet'),
  },
  'get-pet-schema': {
    'animal-id-as-text': petShown(idAsText, 'getPet'),
    'animal-without-name': petWritten(without('name'), 'getPet'),
    'animal-category-as-text': petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'getPet'),
    'animal-status-upper-case': petWritten(upperStatus, 'getPet'),
    'animal-status-as-number': petWritten((text) => text.replace(/"status":"\w+"/, '"status":1'), 'getPet'),
    'animal-in-array': rewriting(succeeds('getPet'), (text) => `[${text}]`),
    'get-without-name-on-pro':
      petWritten((text, _pet, call) => onPlan('pro')(call) ? without('name')(text) : text, 'getPet'),
  },
  'pet-id-assigned-by-service': {
    'id-of-client-kept': takingOver(() => true),
    'large-id-of-client-kept': takingOver((digits) => digits.length >= 10),
  },
  'pet-id-unique': {
    'id-from-clock': puttingUnder((_animal, call) => String(Math.floor(call.now / 1000))),
    // Every second animal gets the id of the one before it.
    'id-every-other-repeated': ({ nextId }) => {
      const repeated = oneBefore<string>(2);
      return { nextId: () => repeated(nextId()) };
    },
    // The first animal added gets the id of one that is in the store.
    'id-of-existing-animal': () => {
      let isFirst = true;
      return puttingUnder((_animal, { service }) => {
        const id = isFirst ? service.store.all.at(-1)?.id : undefined;
        isFirst = false;
        return id;
      });
    },
    // Ids are counted for each category.
    'id-per-category': () => {
      const counts = new Map<string, number>();
      return puttingUnder(({ categoryId }) => {
        const count = (counts.get(categoryId) ?? 5_000_000) + 1;
        counts.set(categoryId, count);
        return String(count);
      });
    },
    // Animals added at one moment share an id: it is read on arrival and counted up with the answer.
    'id-races': () => {
      let free = 8_000_000_000;
      const countedUp = heldBack((_call, { status }) => (status === 201 ? 3 : 0), () => { free += 1; });
      return [puttingUnder(() => String(free)), countedUp];
    },
  },
};
