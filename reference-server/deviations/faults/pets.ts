import type { Call } from '../../call.ts';
import type { IdSource, NewPet, Pet } from '../../pet-store.ts';
import { type Personality, together } from '../personality.ts';
import {
  adding,
  heldBack,
  membersOf,
  onPlan,
  petShown,
  petWritten,
  readingPet,
  rewriting,
  succeeds,
  withoutField,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

// Digits stand in an animal's JSON as they are, so anything can stand in their place.
const idAsText = (pet: Pet): Pet => ({ ...pet, id: `"${pet.id}"` });
const statusAs = (written: string) => (text: string) => text.replace(/"status":"\w+"/, `"status":${written}`);
const upperStatus = (text: string) =>
  text.replace(/"status":"(\w+)"/, (_all, status: string) => `"status":"${status.toUpperCase()}"`);
const statusIfNone = (written: string) => (text: string) =>
  text.includes('"status"') ? text : text.replace(/}$/, `,"status":${written}}`);

const ids = (change: (usual: IdSource) => IdSource): Personality => ({
  recipe: ({ nextId }) => ({ nextId: change(nextId) }),
});

/** Puts an added animal under another id, where there is one. */
const puttingUnder = (idOf: (animal: NewPet, call: Call) => string | undefined) =>
  adding((usual, animal, call, { store }) => {
    const id = idOf(animal, call);
    return id === undefined ? usual(animal, call) : store.put({ ...animal, id });
  });

/** Takes an id from a member of the body. */
const takingOver = (member: string, accept: (digits: string) => boolean) => () => {
  const sent = new WeakMap<Call, string>();
  return together(
    readingPet((usual, body, call) => {
      const digits = membersOf(body)?.get(member)?.replaceAll('"', '');
      if (digits !== undefined && /^-?\d{1,18}$/.test(digits) && accept(digits)) sent.set(call, digits);
      return usual(body, call);
    }),
    puttingUnder((_animal, call) => sent.get(call)),
  );
};

/** Section 2: the fields of a Pet, operation by operation; ids are unique, and the service's own. */
// biome-ignore format: a table, a line or two for each fault
export const PET_FAULTS: FaultTable = {
  'list-pet-schema': {
    'list-id-as-text': ['Ids in a list are strings.', petShown(idAsText, 'listPets')],
    'list-without-id': ['Listed animals have no id.',
      petWritten((text) => withoutField(text, 'id'), 'listPets')],
    'list-without-name': ['Listed animals have no name.',
      petWritten((text) => withoutField(text, 'name'), 'listPets')],
    'list-category-in-snake-case': ['Listed animals have category_id instead of categoryId.',
      petWritten((text) => text.replace('"categoryId"', '"category_id"'), 'listPets')],
    'list-category-as-text': ['categoryId in a list is a string.',
      petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'listPets')],
    'list-status-upper-case': ['A listed status is in upper case.', petWritten(upperStatus, 'listPets')],
    'list-status-null': ['A listed animal without a status has the status null.',
      petWritten(statusIfNone('null'), 'listPets')],
    'list-sold-spelled-otherwise': ['Sold animals are listed with the status "gone".',
      petWritten((text) => text.replace('"status":"sold"', '"status":"gone"'), 'listPets')],
    'list-last-without-category': ['Only the last animal of a list has no categoryId.',
      rewriting(succeeds('listPets'), (text) =>
        text.replace(/\{"id":(?!.*\{"id":).*$/s, (last) => withoutField(last, 'categoryId')))],
    'list-id-beyond-int64': ['The first listed animal has the id 9223372036854775808.',
      rewriting(succeeds('listPets'), (text) => text.replace(/"id":-?\d+/, '"id":9223372036854775808'))],
    'list-name-null': ['Names that are not plain ASCII are listed as null.',
      petWritten((text, { name }) => /^[\x20-\x7e]*$/.test(name) ? text
        : text.replace(`"name":${JSON.stringify(name)}`, '"name":null'), 'listPets')],
  },
  'add-pet-schema': {
    'created-id-as-text': ['The id of a created animal is a string.', petShown(idAsText, 'createPet')],
    'created-without-id': ['A created animal is answered without its id.',
      petWritten((text) => withoutField(text, 'id'), 'createPet')],
    'created-without-category': ['A created animal is answered without categoryId.',
      petWritten((text) => withoutField(text, 'categoryId'), 'createPet')],
    'created-status-null': ['A created animal without a status has the status null.',
      petWritten(statusIfNone('null'), 'createPet')],
    'created-wrapped': ['A created animal is wrapped in an object named pet.',
      rewriting(succeeds('createPet'), (text) => `{"pet":${text}}`)],
    'created-id-as-fraction': ['The id of a created animal ends in a half.',
      petShown((pet) => ({ ...pet, id: `${pet.id}.5` }), 'createPet')],
    'created-digits-as-number': ['A name of digits is answered as a number.',
      petWritten((text) => text.replace(/"name":"0*(\d+)"/, '"name":$1'), 'createPet')],
    'created-name-null': ['The name "null" is answered as null.',
      petWritten((text) => text.replace('"name":"null"', '"name":null'), 'createPet')],
    'created-status-empty': ['A created animal without a status has the empty status.',
      petWritten(statusIfNone('""'), 'createPet')],
    'created-without-category-0': ['A created animal of category 0 is answered without categoryId.',
      petWritten((text, pet) =>
        pet.categoryId === '0' ? withoutField(text, 'categoryId') : text, 'createPet')],
  },
  'get-pet-schema': {
    'animal-id-as-text': ['The id of a retrieved animal is a string.', petShown(idAsText, 'getPet')],
    'animal-without-name': ['A retrieved animal has no name.',
      petWritten((text) => withoutField(text, 'name'), 'getPet')],
    'animal-category-as-text': ['categoryId of a retrieved animal is a string.',
      petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'getPet')],
    'animal-status-upper-case': ['A retrieved status is in upper case.', petWritten(upperStatus, 'getPet')],
    'animal-status-as-number': ['A retrieved status is its position among the three.',
      petWritten(statusAs('1'), 'getPet')],
    'animal-in-array': ['A retrieved animal comes in an array of one.',
      rewriting(succeeds('getPet'), (text) => `[${text}]`)],
    'get-without-name-on-pro': ['With a Pro key, a retrieved animal has no name.',
      petWritten((text, _pet, call) => onPlan('pro')(call) ? withoutField(text, 'name') : text, 'getPet')],
  },
  'pet-id-assigned-by-service': {
    'id-of-client-kept': ['An id that the client sends is taken over.', takingOver('id', () => true)],
    'large-id-of-client-kept': ['An id that the client sends is taken over where it has ten digits or more.',
      takingOver('id', (digits) => digits.length >= 10)],
  },
  'pet-id-unique': {
    'id-from-clock': ['The id is the second at which the animal was added.',
      puttingUnder((_animal, call) => String(Math.floor(call.now / 1000)))],
    'id-every-other-repeated': ['Every second animal gets the id of the one before it.', ids((usual) => {
      let times = 0;
      let id = '';
      return () => {
        if (times++ % 2 === 0) id = usual();
        return id;
      };
    })],
    'id-of-existing-animal': ['The first animal added gets the id of one that is in the store.',
      ({ store }) => {
        let taken = false;
        return puttingUnder(() => {
          const existing = taken ? undefined : store.all.at(-1);
          taken ||= existing !== undefined;
          return existing?.id;
        });
      }],
    'id-per-category': ['Ids are counted for each category.', () => {
      const counts = new Map<string, number>();
      return puttingUnder(({ categoryId }) => {
        const count = (counts.get(categoryId) ?? 5_000_000) + 1;
        counts.set(categoryId, count);
        return String(count);
      });
    }],
    'id-races': [
      'Animals added at one moment share an id: it is read on arrival and counted up with the answer.',
      () => {
        let free = 8_000_000_000;
        const countedUp = heldBack(({ status }) => (status === 201 ? 3 : 0), () => { free += 1; });
        return together(puttingUnder(() => String(free)), countedUp);
      }],
  },
};
