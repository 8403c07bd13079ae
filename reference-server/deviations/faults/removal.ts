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
// biome-ignore format: a table, a line for most faults
export const REMOVAL_FAULTS: FaultTable = {
  'get-until-removal': {
    'get-gone-already': gone(() => true),
    'get-gone-for-sold': gone(({ status }) => status === 'sold'),
    'get-not-implemented': failing(501, succeeds('getPet')),
    'get-method-not-allowed': moved(405, ['Allow', 'DELETE']),
    'get-moved-to-successor': moved(301, ['Location', '../pets']),
  },
  'get-removed': {
    'get-removed-fails': [afterRemoval, answeringWith(NO_HANDLER, answers(410), 500)],
    // Retrieval goes on after 5 December 2030, by a clock that is there already.
    'get-served-after-removal': [afterRemoval, ({ store }) => answering(answers(410, 'getPet'), (answer, { route }) => {
        const found = route.operation === 'getPet' ? store.find(route.petId) : null;
        return found === null ? withError(answer, 404) : { ...withBody(answer, petText(found)), status: 200 };
      })],
  },
  'deprecation-successor': {
    'successor-has-other-status': petWritten((text, { status }) =>
        text.replace(/"status":"\w+"/, `"status":"${status === 'sold' ? 'available' : 'sold'}"`), 'getPet'),
    // An animal that was retrieved is left out of filtered lists.
    'successor-hides-retrieved': () => {
      const retrieved = new Set<string>();
      return together(
        foundAs((pet) => {
          retrieved.add(pet.id);
          return pet;
        }),
        hiding(({ id }) => retrieved.has(id), ({ status }) => status !== null),
      );
    },
    // In filtered lists ids are counted from one million up.
    'successor-shows-other-ids': selecting((usual, query, call) => {
        const pets = usual(query, call);
        if (query.status === null) return pets;
        return pets.map((pet, index) => ({ ...pet, id: String(1_000_000 + index) }));
      }),
  },
  'deprecation-header-agrees': {
    'list-deprecated': addedHeader('Deprecation', '@1764892800', succeeds('listPets')),
    'add-deprecated': addedHeader('Deprecation', '@1764892800', answers(201)),
    'deprecation-false': deprecation('false'),
    'deprecation-not-a-date': deprecation('2025-12-05'),
    'deprecation-after-removal': deprecation('@1955000000'),
  },
  'sunset-header-agrees': {
    'sunset-a-day-early': sunset(`Wed, 04 Dec 2030 ${MIDNIGHT}`),
    'sunset-a-week-late': sunset(`Thu, 12 Dec 2030 ${MIDNIGHT}`),
    'sunset-a-year-late': sunset(`Fri, 05 Dec 2031 ${MIDNIGHT}`),
    'sunset-day-and-month-swapped': sunset(`Sun, 12 May 2030 ${MIDNIGHT}`),
    'sunset-passed': sunset(`Sat, 05 Dec 2020 ${MIDNIGHT}`),
    'list-has-sunset':
      addedHeader('Sunset', `Thu, 05 Dec 2030 ${MIDNIGHT}`, where(succeeds('listPets'), asksForStatus)),
  },
};
