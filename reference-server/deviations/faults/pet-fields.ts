import type { Pet } from '../../pet-store.ts';
import { answering, onPlan, petShown, petWritten, succeeds, withBody, withoutField } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

// Digits stand in an animal's JSON as they are, so anything can stand in their place.
const idAsText = (pet: Pet): Pet => ({ ...pet, id: `"${pet.id}"` });
const statusAs = (written: string) => (text: string) => text.replace(/"status":"\w+"/, `"status":${written}`);
const upperStatus = (text: string) =>
  text.replace(/"status":"(\w+)"/, (_all, status: string) => `"status":"${status.toUpperCase()}"`);
const statusIfNone = (written: string) => (text: string) =>
  text.includes('"status"') ? text : text.replace(/}$/, `,"status":${written}}`);

/** Section 2: the fields of a Pet, operation by operation. */
// biome-ignore format: a table, a line or two for each fault
export const PET_FIELD_FAULTS: FaultTable = {
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
      answering(succeeds('listPets'), (answer) => withBody(answer,
        answer.text.replace(/\{"id":(?!.*\{"id":).*$/s, (last) => withoutField(last, 'categoryId'))))],
    'list-id-beyond-int64': ['The first listed animal has the id 9223372036854775808.',
      answering(succeeds('listPets'), (answer) =>
        withBody(answer, answer.text.replace(/"id":-?\d+/, '"id":9223372036854775808')))],
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
      answering(succeeds('createPet'), (answer) => withBody(answer, `{"pet":${answer.text}}`))],
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
      answering(succeeds('getPet'), (answer) => withBody(answer, `[${answer.text}]`))],
    'get-without-name-on-pro': ['With a Pro key, a retrieved animal has no name.',
      petWritten((text, _pet, call) => onPlan('pro')(call) ? withoutField(text, 'name') : text, 'getPet')],
  },
};
