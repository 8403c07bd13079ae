import { type Answer, refusal } from '../../answer.ts';
import { petText } from '../../conforming.ts';
import type { Call } from '../../design.ts';
import type { Pet } from '../../pet-store.ts';
import { petWritten, rounded, shown } from '../animals.ts';
import { answering, answers, errorOf, failing, succeeds } from '../answers.ts';
import { afterRemoval } from '../clock.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { addedHeader, header } from '../headers.ts';
import { changed, finding, firstPet, foundAs, hiding, knowingAdded, selecting } from '../store.ts';
import { asksForStatus, knowingSeen, on, oneBefore, where } from '../when.ts';

/** A deviation that knows which animals were retrieved. */
const knowingFound =
  (deviation: (found: ReadonlySet<string>) => Deviation): Deviation =>
  () => {
    const found = new Set<string>();
    const noting = foundAs((pet) => {
      found.add(pet.id);
      return pet;
    });
    return [deviation(found), noting];
  };

const isCanonical = (petId: string) => /^(?:0|-?[1-9]\d{0,18})$/.test(petId);

/** Finds another animal where the id is no int64 and a lenient reading makes one of it. */
const readingId = (lenient: (petId: string) => string | null): Deviation =>
  finding((usual, petId, call) => {
    const read = isCanonical(petId) ? petId : lenient(petId);
    return usual(read ?? petId, call);
  });

const notFoundWith = (status: number, when: (petId: string) => boolean): Deviation =>
  failing(status, answers(404, 'getPet'), ({ route }) => when(route.petId));

/** Finds another animal, or none, where an int64 names none. */
const instead = (
  other: (petId: string, find: (petId: string) => Pet | Answer | null, call: Call) => Pet | Answer | null,
): Deviation =>
  finding((usual, petId, call) => {
    const find = (id: string) => usual(id, call);
    return find(petId) ?? (isCanonical(petId) ? other(petId, find, call) : null);
  });

const isLarge = (petId: string) => Math.abs(Number(petId)) > 0x7fffffff;
const lower32 = (petId: string) => BigInt.asUintN(32, BigInt(petId)).toString();
const isBeyond = (petId: string) =>
  /^-?\d{19,}$/.test(petId) && BigInt.asIntN(64, BigInt(petId)) !== BigInt(petId);

const gone = (when: (pet: Pet) => boolean): Deviation =>
  foundAs((pet) => (when(pet) ? refusal(410, 'gone', 'This operation was removed.') : pet));

/** Retrieval is answered with another status and a header that goes with it. */
const moved = (status: number, headers: readonly string[]): Deviation =>
  answering(succeeds('getPet'), { ...errorOf(status), headers });

const deprecation = (value: string) => header('Deprecation', on('getPet'), () => value);
const sunset = (value: string) => header('Sunset', on('getPet'), () => value);
const MIDNIGHT = '00:00:00 GMT';

/** Section 4.3: the animal that an id names, ids that name none, and the removal of the operation. */
// biome-ignore format: a table, a line for most faults
export const GETTING_FAULTS: DeviationTable = {
  'get-answers-200': {
    // An animal that was added is gone from the store once it is retrieved.
    'get-takes-away': knowingAdded((added) =>
      knowingFound((found) => changed((pet) => (added.has(pet.id) && found.has(pet.id) ? null : pet)))),
    'get-large-ids-missing': foundAs((pet) => (Number(pet.id) > Number.MAX_SAFE_INTEGER ? null : pet)),
    'get-answers-203': answering(succeeds('getPet'), { status: 203 }),
    'get-added-missing': knowingAdded((added) => foundAs((pet) => (added.has(pet.id) ? null : pet))),
    'get-missing-unless-added': knowingAdded((added) => foundAs((pet) => (added.has(pet.id) ? pet : null))),
    'get-statusless-missing': foundAs((pet) => (pet.status === null ? null : pet)),
    'get-missing-with-another-key': knowingAdded((added) => foundAs((pet, { key }) =>
        !added.has(pet.id) || added.get(pet.id)?.by === key?.name ? pet : null)),
    'get-once-only': knowingSeen((isSeen) =>
      finding((usual, petId, call) => (isSeen(petId) ? null : usual(petId, call)))),
    'get-second-time-410': knowingSeen((isSeen) =>
      failing(410, answers(200, 'getPet'), ({ route }) => isSeen(route.petId))),
    'get-missing-after-unknown': () => {
      let unknown = false;
      return finding((usual, petId, call) => {
        const found = unknown ? null : usual(petId, call);
        unknown = found === null && !unknown;
        return found;
      });
    },
  },
  'get-returns-requested-id': {
    'get-first-animal': foundAs((_pet, call) => firstPet(call)),
    'get-id-rounded': shown('id', rounded, 'getPet'),
    'get-looks-up-rounded-id': foundAs((pet, { service }) => Number.isSafeInteger(Number(pet.id)) ? pet
        : service.store.all.findLast(({ id }) => Number(id) === Number(pet.id)) ?? pet),
    'get-answers-one-before': () => foundAs(oneBefore<Pet>(3)),
  },
  'get-same-animal': {
    'get-name-upper-case': shown('name', (name) => name.toUpperCase(), 'getPet'),
    'get-without-status': shown('status', () => null, 'getPet'),
    'get-category-rounded': shown('categoryId', rounded, 'getPet'),
    'get-pending-as-available':
      shown('status', (status) => (status === 'pending' ? 'available' : status), 'getPet'),
    'get-name-question-marks': shown('name', (name) => name.replaceAll(/[^\x20-\x7e]/g, '?'), 'getPet'),
  },
  'get-unknown-404': {
    'get-unknown-null': answering(answers(404, 'getPet'), { text: 'null', status: 200 }),
    'get-unknown-400': notFoundWith(400, isCanonical),
    'get-unknown-410': notFoundWith(410, isCanonical),
    'get-unknown-large-500': notFoundWith(500, (petId) => isCanonical(petId) && isLarge(petId)),
    'get-unknown-negative-422': notFoundWith(422, (petId) => isCanonical(petId) && petId.startsWith('-')),
    'get-unknown-cut-to-32-bits': instead((id, find) => find(lower32(id))),
    'get-unknown-without-sign': instead((id, find) => find(id.replace('-', ''))),
    'get-unknown-answers-first': instead((_id, _find, call) => firstPet(call)),
    'get-unknown-invented': instead((id) => ({ id, name: 'unknown', categoryId: '1', status: 'available' })),
    'get-unknown-wraps':
      instead((id, find, call) => isLarge(id) ? find(lower32(id)) ?? firstPet(call) : null),
    'get-unknown-found-when-asked-again': knowingSeen((isSeen) =>
      instead((id, _find, call) => (isSeen(id) ? firstPet(call) : null))),
  },
  'get-malformed-id-refused': {
    'get-text-answers-first':
      finding((usual, petId, call) => (/\d/.test(petId) ? usual(petId, call) : firstPet(call))),
    'get-id-digits-only-read': readingId((petId) => /^-?\d+/.exec(petId)?.[0] ?? null),
    'get-id-hexadecimal-read':
      readingId((petId) => /^0x[\da-f]+$/i.test(petId) ? BigInt(petId).toString() : null),
    'get-id-fraction-cut': readingId((petId) => /^(-?\d+)\.\d+$/.exec(petId)?.[1] ?? null),
    'get-malformed-500': notFoundWith(500, (petId) => !isCanonical(petId)),
    'get-malformed-501': notFoundWith(501, (petId) => !isCanonical(petId)),
    'get-id-beyond-int64-answers-first':
      finding((usual, petId, call) => isBeyond(petId) ? firstPet(call) : usual(petId, call)),
    'get-id-beyond-int64-wrapped':
      readingId((id) => /^-?\d{19,40}$/.test(id) ? BigInt.asIntN(64, BigInt(id)).toString() : null),
    'get-malformed-empty': answering(({ key, route }, { status }) =>
        status < 500 && route.operation === 'getPet' && key !== null && !/^-?\d+$/.test(route.petId),
      { text: '{}', status: 200 }),
  },
  'get-until-removal': {
    'get-gone-already': gone(() => true),
    'get-gone-for-sold': gone(({ status }) => status === 'sold'),
    'get-not-implemented': failing(501, succeeds('getPet')),
    'get-method-not-allowed': moved(405, ['Allow', 'DELETE']),
    'get-moved-to-successor': moved(301, ['Location', '../pets']),
  },
  'get-removed': {
    'get-removed-fails': [afterRemoval, failing(500, answers(410))],
    'get-served-after-removal': [afterRemoval, answering(answers(410, 'getPet'), (_answer, { route, service }) => {
      const found = service.store.find(route.petId);
      return found === null ? errorOf(404) : { text: petText(found), status: 200 };
    })],
  },
  'deprecation-successor': {
    'successor-has-other-status': petWritten((text, { status }) =>
        text.replace(/"status":"\w+"/, `"status":"${status === 'sold' ? 'available' : 'sold'}"`), 'getPet'),
    'successor-hides-retrieved':
      knowingFound((found) => hiding(({ id }) => found.has(id), ({ status }) => status !== null)),
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
