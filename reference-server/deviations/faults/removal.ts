import { petText } from '../../conforming.ts';
import { errorBody, problem } from '../../error-body.ts';
import type { Pet } from '../../pet-store.ts';
import { afterRemoval } from '../clock.ts';
import { type Personality, together } from '../personality.ts';
import {
  addedHeader,
  answering,
  answeringWith,
  answers,
  asksForStatus,
  failing,
  foundAs,
  header,
  hiding,
  petWritten,
  selecting,
  succeeds,
  type When,
  where,
  withBody,
  withError,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const gone = (when: (pet: Pet) => boolean): Personality =>
  foundAs((pet) => (when(pet) ? problem(410, 'gone', 'This operation was removed.') : pet));

/** Retrieval is answered with another status and a header that goes with it. */
const moved = (status: number, headers: readonly string[]): Personality =>
  answering(succeeds('getPet'), (answer) => ({ ...withError(answer, status), headers }));
const NO_HANDLER = errorBody({ status: 500, code: 'internal_error', message: 'No such handler.' });

const onGet: When = (_answer, call) => call.route.operation === 'getPet';
const deprecation = (value: string) => header('Deprecation', onGet, () => value);
const sunset = (value: string) => header('Sunset', onGet, () => value);
const MIDNIGHT = '00:00:00 GMT';

/** Sections 4.3, 6 and 9: the removal of GET /pets/{petId}, what is said about it, and its successor. */
// biome-ignore format: a table, a line or two for each fault
export const REMOVAL_FAULTS: FaultTable = {
  'get-until-removal': {
    'get-gone-already': ['Retrieval is gone before its removal date.', gone(() => true)],
    'get-gone-for-sold': ['Retrieval of a sold animal is gone before the removal date.',
      gone(({ status }) => status === 'sold')],
    'get-not-implemented': ['Retrieval is answered with 501.', failing(501, succeeds('getPet'))],
    'get-method-not-allowed': ['Retrieval is answered with 405.', moved(405, ['Allow', 'DELETE'])],
    'get-moved-to-successor': ['Retrieval is redirected to the list.', moved(301, ['Location', '../pets'])],
  },
  'get-removed': {
    'get-removed-fails': [
      'After its removal, by a clock that is there already, retrieval is answered with 500.', afterRemoval,
      answeringWith(NO_HANDLER, answers(410), 500)],
    'get-served-after-removal': ['Retrieval goes on after 5 December 2030, by a clock that is there already.',
      afterRemoval, ({ store }) => answering(answers(410, 'getPet'), (answer, { route }) => {
        const found = route.operation === 'getPet' ? store.find(route.petId) : null;
        return found === null ? withError(answer, 404) : { ...withBody(answer, petText(found)), status: 200 };
      })],
  },
  'deprecation-successor': {
    'successor-has-other-status': [
      'A retrieved animal shows a status under which the list does not have it.',
      petWritten((text, { status }) =>
        text.replace(/"status":"\w+"/, `"status":"${status === 'sold' ? 'available' : 'sold'}"`), 'getPet')],
    'successor-hides-retrieved': ['An animal that was retrieved is left out of filtered lists.', () => {
      const retrieved = new Set<string>();
      return together(
        foundAs((pet) => {
          retrieved.add(pet.id);
          return pet;
        }),
        hiding(({ id }) => retrieved.has(id), ({ status }) => status !== null),
      );
    }],
    'successor-shows-other-ids': ['In filtered lists ids are counted from one million up.',
      selecting((usual, query, call) => {
        const pets = usual(query, call);
        if (query.status === null) return pets;
        return pets.map((pet, index) => ({ ...pet, id: String(1_000_000 + index) }));
      })],
  },
  'deprecation-header-agrees': {
    'list-deprecated': ['A list is announced as deprecated.',
      addedHeader('Deprecation', '@1764892800', succeeds('listPets'))],
    'add-deprecated': ['An addition is announced as deprecated.',
      addedHeader('Deprecation', '@1764892800', answers(201))],
    'deprecation-false': ['Retrieval says that it is not deprecated.', deprecation('false')],
    'deprecation-not-a-date': ['Since when retrieval is deprecated is written as a calendar date.',
      deprecation('2025-12-05')],
    'deprecation-after-removal': ['Retrieval is to be deprecated only after its removal.',
      deprecation('@1955000000')],
  },
  'sunset-header-agrees': {
    'sunset-a-day-early': ['Sunset is 4 December 2030.', sunset(`Wed, 04 Dec 2030 ${MIDNIGHT}`)],
    'sunset-a-week-late': ['Sunset is 12 December 2030.', sunset(`Thu, 12 Dec 2030 ${MIDNIGHT}`)],
    'sunset-a-year-late': ['Sunset is 5 December 2031.', sunset(`Fri, 05 Dec 2031 ${MIDNIGHT}`)],
    'sunset-day-and-month-swapped': ['Sunset is 12 May 2030.', sunset(`Sun, 12 May 2030 ${MIDNIGHT}`)],
    'sunset-passed': ['Sunset is 5 December 2020.', sunset(`Sat, 05 Dec 2020 ${MIDNIGHT}`)],
    'list-has-sunset': ['A list with a status is announced to be removed too.',
      addedHeader('Sunset', `Thu, 05 Dec 2030 ${MIDNIGHT}`, where(succeeds('listPets'), asksForStatus))],
  },
};
