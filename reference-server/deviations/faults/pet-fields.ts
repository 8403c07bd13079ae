import type { Pet } from '../../pet-store.ts';
import { answering, petShown, petWritten, succeeds, withBody, withoutField } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

// Digits stand in an animal's JSON as they are, so anything can stand in their place.
const idAsText = (pet: Pet): Pet => ({ ...pet, id: `"${pet.id}"` });
const statusAs = (written: string) => (text: string) => text.replace(/"status":"\w+"/, `"status":${written}`);
const upperStatus = (text: string) =>
  text.replace(/"status":"(\w+)"/, (_all, status: string) => `"status":"${status.toUpperCase()}"`);
const nullStatus = (text: string) =>
  text.includes('"status"') ? text : text.replace(/}$/, ',"status":null}');

const LIST = 'list-pet-schema';
const ADD = 'add-pet-schema';
const GET = 'get-pet-schema';

/** Section 2: the fields of a Pet, operation by operation. */
export const PET_FIELD_FAULTS: readonly Fault[] = [
  fault('get-without-name-on-pro', GET, 'With a Pro key, a retrieved animal has no name.', {
    behaviour: (usual) => ({
      petText(pet, call) {
        const text = usual.petText(pet, call);
        return call.route.operation === 'getPet' && call.key?.plan === 'pro'
          ? withoutField(text, 'name')
          : text;
      },
    }),
  }),
  fault('list-id-as-text', LIST, 'Ids in a list are strings.', petShown(idAsText, 'listPets')),
  fault(
    'list-without-id',
    LIST,
    'Listed animals have no id.',
    petWritten((text) => withoutField(text, 'id'), 'listPets'),
  ),
  fault(
    'list-without-name',
    LIST,
    'Listed animals have no name.',
    petWritten((text) => withoutField(text, 'name'), 'listPets'),
  ),
  fault(
    'list-category-in-snake-case',
    LIST,
    'Listed animals have category_id instead of categoryId.',
    petWritten((text) => text.replace('"categoryId"', '"category_id"'), 'listPets'),
  ),
  fault(
    'list-category-as-text',
    LIST,
    'categoryId in a list is a string.',
    petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'listPets'),
  ),
  fault(
    'list-status-upper-case',
    LIST,
    'A listed status is in upper case.',
    petWritten(upperStatus, 'listPets'),
  ),
  fault(
    'list-status-null',
    LIST,
    'A listed animal without a status has the status null.',
    petWritten(nullStatus, 'listPets'),
  ),
  fault(
    'list-sold-spelled-otherwise',
    LIST,
    'Sold animals are listed with the status "gone".',
    petWritten((text) => text.replace('"status":"sold"', '"status":"gone"'), 'listPets'),
  ),
  fault(
    'list-last-without-category',
    LIST,
    'Only the last animal of a list has no categoryId.',
    answering(succeeds('listPets'), (answer) => {
      const last = answer.text.lastIndexOf('{"id":');
      return last === -1
        ? answer
        : withBody(answer, answer.text.slice(0, last) + withoutField(answer.text.slice(last), 'categoryId'));
    }),
  ),
  fault(
    'list-id-beyond-int64',
    LIST,
    'The first listed animal has the id 9223372036854775808.',
    answering(succeeds('listPets'), (answer) =>
      withBody(answer, answer.text.replace(/"id":-?\d+/, '"id":9223372036854775808')),
    ),
  ),
  fault('list-name-null', LIST, 'Names that are not plain ASCII are listed as null.', {
    behaviour: (usual) => ({
      petText(pet, call) {
        const text = usual.petText(pet, call);
        if (call.route.operation !== 'listPets' || /^[\x20-\x7e]*$/.test(pet.name)) return text;
        return text.replace(`"name":${JSON.stringify(pet.name)}`, '"name":null');
      },
    }),
  }),

  fault(
    'created-id-as-text',
    ADD,
    'The id of a created animal is a string.',
    petShown(idAsText, 'createPet'),
  ),
  fault(
    'created-without-id',
    ADD,
    'A created animal is answered without its id.',
    petWritten((text) => withoutField(text, 'id'), 'createPet'),
  ),
  fault(
    'created-without-category',
    ADD,
    'A created animal is answered without categoryId.',
    petWritten((text) => withoutField(text, 'categoryId'), 'createPet'),
  ),
  fault(
    'created-status-null',
    ADD,
    'A created animal without a status has the status null.',
    petWritten(nullStatus, 'createPet'),
  ),
  fault(
    'created-status-empty',
    ADD,
    'A created animal without a status has the empty status.',
    petWritten(
      (text) => (text.includes('"status"') ? text : text.replace(/}$/, ',"status":""}')),
      'createPet',
    ),
  ),
  fault(
    'created-wrapped',
    ADD,
    'A created animal is wrapped in an object named pet.',
    answering(succeeds('createPet'), (answer) => withBody(answer, `{"pet":${answer.text}}`)),
  ),
  fault(
    'created-id-as-fraction',
    ADD,
    'The id of a created animal ends in a half.',
    petShown((pet) => ({ ...pet, id: `${pet.id}.5` }), 'createPet'),
  ),

  fault(
    'created-without-category-0',
    ADD,
    'A created animal of category 0 is answered without categoryId.',
    petWritten(
      (text, pet) => (pet.categoryId === '0' ? withoutField(text, 'categoryId') : text),
      'createPet',
    ),
  ),
  fault(
    'created-digits-as-number',
    ADD,
    'A name of digits is answered as a number.',
    petWritten((text) => text.replace(/"name":"0*(\d+)"/, '"name":$1'), 'createPet'),
  ),
  fault(
    'created-name-null',
    ADD,
    'The name "null" is answered as null.',
    petWritten((text) => text.replace('"name":"null"', '"name":null'), 'createPet'),
  ),

  fault('animal-id-as-text', GET, 'The id of a retrieved animal is a string.', petShown(idAsText, 'getPet')),
  fault(
    'animal-without-name',
    GET,
    'A retrieved animal has no name.',
    petWritten((text) => withoutField(text, 'name'), 'getPet'),
  ),
  fault(
    'animal-category-as-text',
    GET,
    'categoryId of a retrieved animal is a string.',
    petShown((pet) => ({ ...pet, categoryId: `"${pet.categoryId}"` }), 'getPet'),
  ),
  fault(
    'animal-status-upper-case',
    GET,
    'A retrieved status is in upper case.',
    petWritten(upperStatus, 'getPet'),
  ),
  fault(
    'animal-status-as-number',
    GET,
    'A retrieved status is its position among the three.',
    petWritten(statusAs('1'), 'getPet'),
  ),
  fault(
    'animal-in-array',
    GET,
    'A retrieved animal comes in an array of one.',
    answering(succeeds('getPet'), (answer) => withBody(answer, `[${answer.text}]`)),
  ),
];
