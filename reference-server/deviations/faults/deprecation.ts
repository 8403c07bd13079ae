import type { When } from '../shapes.ts';
import { addedHeader, answers, header, selecting, succeeds } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

const DEPRECATION = 'deprecation-header-agrees';
const SUNSET = 'sunset-header-agrees';
const SUCCESSOR = 'deprecation-successor';

const onGet: When = (_answer, call) => call.route.operation === 'getPet';
const deprecation = (value: string) => header('Deprecation', onGet, () => value);
const sunset = (value: string) => header('Sunset', onGet, () => value);
const MIDNIGHT = '00:00:00 GMT';

/** Sections 4.3 and 9: what is said about the removal of GET /pets/{petId}, and its successor. */
export const DEPRECATION_FAULTS: readonly Fault[] = [
  fault(
    'list-deprecated',
    DEPRECATION,
    'A list is announced as deprecated.',
    addedHeader('Deprecation', '@1764892800', succeeds('listPets')),
  ),
  fault(
    'add-deprecated',
    DEPRECATION,
    'An addition is announced as deprecated.',
    addedHeader('Deprecation', '@1764892800', answers(201)),
  ),
  fault('deprecation-false', DEPRECATION, 'Retrieval says that it is not deprecated.', deprecation('false')),
  fault(
    'deprecation-not-a-date',
    DEPRECATION,
    'Since when retrieval is deprecated is written as a calendar date.',
    deprecation('2025-12-05'),
  ),
  fault(
    'deprecation-after-removal',
    DEPRECATION,
    'Retrieval is to be deprecated only after its removal.',
    deprecation('@1955000000'),
  ),

  fault('sunset-a-day-early', SUNSET, 'Sunset is 4 December 2030.', sunset(`Wed, 04 Dec 2030 ${MIDNIGHT}`)),
  fault('sunset-a-week-late', SUNSET, 'Sunset is 12 December 2030.', sunset(`Thu, 12 Dec 2030 ${MIDNIGHT}`)),
  fault('sunset-a-year-late', SUNSET, 'Sunset is 5 December 2031.', sunset(`Fri, 05 Dec 2031 ${MIDNIGHT}`)),
  fault(
    'sunset-day-and-month-swapped',
    SUNSET,
    'Sunset is 12 May 2030.',
    sunset(`Sun, 12 May 2030 ${MIDNIGHT}`),
  ),
  fault('sunset-passed', SUNSET, 'Sunset is 5 December 2020.', sunset(`Sat, 05 Dec 2020 ${MIDNIGHT}`)),
  fault(
    'list-has-sunset',
    SUNSET,
    'A list with a status is announced to be removed too.',
    addedHeader(
      'Sunset',
      `Thu, 05 Dec 2030 ${MIDNIGHT}`,
      (answer, call) => succeeds('listPets')(answer, call) && call.target.includes('status='),
    ),
  ),

  fault(
    'successor-hides-retrieved',
    SUCCESSOR,
    'An animal that was retrieved is left out of filtered lists.',
    {
      behaviour: (usual) => {
        const retrieved = new Set<string>();
        return {
          findPet(petId, call) {
            const found = usual.findPet(petId, call);
            if (found !== null && !('code' in found)) retrieved.add(petId);
            return found;
          },
          select(query, call) {
            if (query.status === null) return usual.select(query, call);
            const more = usual.select({ ...query, limit: query.limit + retrieved.size }, call);
            return more.filter(({ id }) => !retrieved.has(id)).slice(0, query.limit);
          },
        };
      },
    },
  ),
  fault(
    'successor-shows-other-ids',
    SUCCESSOR,
    'In filtered lists ids are counted from one million up.',
    selecting((usual, query, call) => {
      const pets = usual(query, call);
      return query.status === null
        ? pets
        : pets.map((pet, index) => ({ ...pet, id: String(1_000_000 + index) }));
    }),
  ),
];
