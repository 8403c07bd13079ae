import { together } from '../personality.ts';
import {
  addedHeader,
  answers,
  asksForStatus,
  foundAs,
  header,
  hiding,
  selecting,
  succeeds,
  type When,
  where,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const onGet: When = (_answer, call) => call.route.operation === 'getPet';
const deprecation = (value: string) => header('Deprecation', onGet, () => value);
const sunset = (value: string) => header('Sunset', onGet, () => value);
const MIDNIGHT = '00:00:00 GMT';

/** Sections 4.3 and 9: what is said about the removal of GET /pets/{petId}, and its successor. */
// biome-ignore format: a table, a line or two for each fault
export const DEPRECATION_FAULTS: FaultTable = {
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
  'deprecation-successor': {
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
};
