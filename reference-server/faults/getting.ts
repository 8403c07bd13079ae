import { shiftedClock } from '../clock.ts';
import { REMOVAL } from '../deprecation.ts';
import {
  answering,
  answers,
  finding,
  firstPet,
  petShown,
  petWritten,
  succeeds,
  together,
  withBody,
  withError,
} from '../deviations.ts';
import { errorBody } from '../error-body.ts';
import type { Personality } from '../personality.ts';
import type { Pet } from '../pet-store.ts';
import { type Fault, fault } from './fault.ts';

const ANSWER = 'get-answers-200';
const REQUESTED = 'get-returns-requested-id';
const SAME = 'get-same-animal';
const UNKNOWN = 'get-unknown-404';
const MALFORMED = 'get-malformed-id-refused';
const UNTIL = 'get-until-removal';
const REMOVED = 'get-removed';

const isCanonical = (petId: string) => /^(?:0|-?[1-9]\d{0,18})$/.test(petId);
const rounded = (digits: string) => BigInt(Number(digits)).toString();

/** Finds another animal where the id is no int64 and a lenient reading makes one of it. */
const readingId = (lenient: (petId: string) => string | null): Personality =>
  finding((usual, petId, call) => {
    const read = isCanonical(petId) ? petId : lenient(petId);
    return usual(read ?? petId, call);
  });

const notFoundWith = (status: number, when: (petId: string) => boolean): Personality =>
  answering(
    (answer, call) =>
      answers(404, 'getPet')(answer, call) && call.route.operation === 'getPet' && when(call.route.petId),
    (answer) => withError(answer, status),
  );

/** The server in the days after the removal. */
const afterRemoval: Personality = {
  recipe: ({ clock }) => ({ clock: shiftedClock(clock, REMOVAL + 30 * 86_400_000 - clock.now()) }),
};

const gone = (when: (pet: Pet) => boolean): Personality =>
  finding((usual, petId, call) => {
    const found = usual(petId, call);
    if (found === null || 'code' in found || !when(found)) return found;
    return { status: 410, code: 'gone', message: 'This operation was removed.' };
  });

/** Section 4.3: one animal by its id. */
export const GETTING_FAULTS: readonly Fault[] = [
  fault(
    'get-statusless-missing',
    ANSWER,
    'An animal without a status answers 404.',
    finding((usual, petId, call) => {
      const found = usual(petId, call);
      return found !== null && 'status' in found && found.status === null ? null : found;
    }),
  ),
  fault(
    'get-large-ids-missing',
    ANSWER,
    'An animal whose id is beyond 2^53 answers 404.',
    finding((usual, petId, call) => (Number(petId) > Number.MAX_SAFE_INTEGER ? null : usual(petId, call))),
  ),
  fault(
    'get-answers-203',
    ANSWER,
    'A retrieved animal is answered with 203.',
    answering(succeeds('getPet'), (answer) => ({ ...answer, status: 203 })),
  ),
  fault('get-added-missing', ANSWER, 'An animal that was added answers 404.', {
    behaviour: (usual) => {
      const added = new Set<string>();
      return {
        addPet(animal, call) {
          const pet = usual.addPet(animal, call);
          added.add(pet.id);
          return pet;
        },
        findPet: (petId, call) => (added.has(petId) ? null : usual.findPet(petId, call)),
      };
    },
  }),
  fault('get-once-only', ANSWER, 'An animal answers 404 from the second retrieval on.', {
    behaviour: (usual) => {
      const seen = new Set<string>();
      return {
        findPet(petId, call) {
          const again = seen.has(petId);
          seen.add(petId);
          return again ? null : usual.findPet(petId, call);
        },
      };
    },
  }),

  fault(
    'get-first-animal',
    REQUESTED,
    'Every known id is answered with the first animal.',
    finding((usual, petId, call, parts) => (usual(petId, call) === null ? null : firstPet(parts))),
  ),
  fault(
    'get-id-rounded',
    REQUESTED,
    'The id of a retrieved animal is rounded to a double.',
    petShown((pet) => ({ ...pet, id: rounded(pet.id) }), 'getPet'),
  ),
  fault(
    'get-looks-up-rounded-id',
    REQUESTED,
    'An id is rounded to a double before it is looked up among others that are rounded too.',
    finding((usual, petId, call, { store }) => {
      const found = usual(petId, call);
      if (found === null || 'code' in found || Number.isSafeInteger(Number(petId))) return found;
      return store.having(null).findLast(({ id }) => Number(id) === Number(petId)) ?? found;
    }),
  ),
  fault(
    'get-answers-one-before',
    REQUESTED,
    'Every third retrieval is answered with the animal of the one before.',
    {
      behaviour: (usual) => {
        let before: Pet | null = null;
        let times = 0;
        return {
          findPet(petId, call) {
            const found = usual.findPet(petId, call);
            if (found === null || 'code' in found) return found;
            times += 1;
            const answered = times % 3 === 0 ? before : found;
            before = found;
            return answered;
          },
        };
      },
    },
  ),

  fault(
    'get-name-upper-case',
    SAME,
    'A retrieved name is in upper case.',
    petShown((pet) => ({ ...pet, name: pet.name.toUpperCase() }), 'getPet'),
  ),
  fault(
    'get-without-status',
    SAME,
    'A retrieved animal has no status.',
    petShown((pet) => ({ ...pet, status: null }), 'getPet'),
  ),
  fault(
    'get-category-rounded',
    SAME,
    'categoryId of a retrieved animal is rounded to a double.',
    petShown((pet) => ({ ...pet, categoryId: rounded(pet.categoryId) }), 'getPet'),
  ),
  fault(
    'get-pending-as-available',
    SAME,
    'A pending animal is retrieved as available.',
    petShown((pet) => (pet.status === 'pending' ? { ...pet, status: 'available' } : pet), 'getPet'),
  ),
  fault(
    'get-name-question-marks',
    SAME,
    'Characters that are not plain ASCII are retrieved as question marks.',
    petShown((pet) => ({ ...pet, name: pet.name.replaceAll(/[^\x20-\x7e]/g, '?') }), 'getPet'),
  ),

  fault(
    'get-unknown-answers-first',
    UNKNOWN,
    'An unknown id is answered with the first animal.',
    finding(
      (usual, petId, call, parts) => usual(petId, call) ?? (isCanonical(petId) ? firstPet(parts) : null),
    ),
  ),
  fault(
    'get-unknown-invented',
    UNKNOWN,
    'An unknown id is answered with an animal that does not exist.',
    finding(
      (usual, petId, call) =>
        usual(petId, call) ??
        (isCanonical(petId) ? { id: petId, name: 'unknown', categoryId: '1', status: 'available' } : null),
    ),
  ),
  fault(
    'get-unknown-null',
    UNKNOWN,
    'An unknown id is answered with 200 and null.',
    answering(answers(404, 'getPet'), (answer) => ({ ...withBody(answer, 'null'), status: 200 })),
  ),
  fault('get-unknown-400', UNKNOWN, 'An unknown id is answered with 400.', notFoundWith(400, isCanonical)),
  fault('get-unknown-410', UNKNOWN, 'An unknown id is answered with 410.', notFoundWith(410, isCanonical)),
  fault(
    'get-unknown-large-500',
    UNKNOWN,
    'An unknown id beyond 32 bits is answered with 500.',
    notFoundWith(500, (petId) => isCanonical(petId) && Math.abs(Number(petId)) > 0x7fffffff),
  ),
  fault(
    'get-unknown-negative-422',
    UNKNOWN,
    'A negative id is answered with 422.',
    notFoundWith(422, (petId) => isCanonical(petId) && petId.startsWith('-')),
  ),
  fault(
    'get-unknown-wraps',
    UNKNOWN,
    'An unknown id is cut to 32 bits and found, or else answered with the first animal.',
    finding((usual, petId, call, parts) => {
      const found = usual(petId, call);
      if (found !== null || !isCanonical(petId) || Math.abs(Number(petId)) <= 0x7fffffff) return found;
      return usual(BigInt.asUintN(32, BigInt(petId)).toString(), call) ?? firstPet(parts);
    }),
  ),

  fault(
    'get-text-answers-first',
    MALFORMED,
    'An id without digits is answered with the first animal.',
    finding((usual, petId, call, parts) => (/\d/.test(petId) ? usual(petId, call) : firstPet(parts))),
  ),
  fault(
    'get-id-digits-only-read',
    MALFORMED,
    'The digits that an id begins with are looked up, whatever follows.',
    readingId((petId) => /^-?\d+/.exec(petId)?.[0] ?? null),
  ),
  fault(
    'get-id-fraction-cut',
    MALFORMED,
    'An id with a fraction is looked up without it.',
    readingId((petId) => /^(-?\d+)\.\d+$/.exec(petId)?.[1] ?? null),
  ),
  fault(
    'get-id-beyond-int64-answers-first',
    MALFORMED,
    'An id that does not fit 64 bits is answered with the first animal.',
    finding((usual, petId, call, parts) =>
      /^-?\d{19,}$/.test(petId) && BigInt.asIntN(64, BigInt(petId)) !== BigInt(petId)
        ? firstPet(parts)
        : usual(petId, call),
    ),
  ),
  fault(
    'get-malformed-500',
    MALFORMED,
    'An id that is no int64 is answered with 500.',
    notFoundWith(500, (petId) => !isCanonical(petId)),
  ),
  fault(
    'get-malformed-empty',
    MALFORMED,
    'An id that is no int64 is answered with 200 and an empty object.',
    answering(
      (answer, call) =>
        answer.status < 500 &&
        call.route.operation === 'getPet' &&
        call.key !== null &&
        !/^-?\d+$/.test(call.route.petId),
      (answer) => ({ ...withBody(answer, '{}'), status: 200 }),
    ),
  ),

  fault(
    'get-gone-already',
    UNTIL,
    'Retrieval is gone before its removal date.',
    gone(() => true),
  ),
  fault(
    'get-gone-for-sold',
    UNTIL,
    'Retrieval of a sold animal is gone before the removal date.',
    gone(({ status }) => status === 'sold'),
  ),
  fault(
    'get-not-implemented',
    UNTIL,
    'Retrieval is answered with 501.',
    answering(succeeds('getPet'), (answer) => withError(answer, 501)),
  ),
  fault(
    'get-method-not-allowed',
    UNTIL,
    'Retrieval is answered with 405.',
    answering(succeeds('getPet'), (answer) => ({ ...withError(answer, 405), headers: ['Allow', 'DELETE'] })),
  ),
  fault('get-moved-to-successor', UNTIL, 'Retrieval is redirected to the list.', {
    behaviour: (usual) => ({
      finish(answer, call) {
        const last = usual.finish(answer, call);
        if (!succeeds('getPet')(last, call)) return last;
        return { ...withError(last, 301), headers: ['Location', '../pets'] };
      },
    }),
  }),

  fault(
    'get-served-after-removal',
    REMOVED,
    'Retrieval goes on after 5 December 2030, by a clock that is there already.',
    together(afterRemoval, {
      behaviour: (usual) => ({
        finish(answer, call) {
          const last = usual.finish(answer, call);
          if (last.status !== 410 || call.route.operation !== 'getPet') return last;
          const found = usual.findPet(call.route.petId, call);
          if (found === null || 'code' in found) return withError(last, 404);
          return { ...withBody(last, usual.petText(found, call)), status: 200 };
        },
      }),
    }),
  ),
  fault(
    'get-removed-fails',
    REMOVED,
    'After its removal, by a clock that is there already, retrieval is answered with 500.',
    together(
      afterRemoval,
      answering(answers(410), (answer) => ({
        ...withBody(answer, errorBody({ status: 500, code: 'internal_error', message: 'No such handler.' })),
        status: 500,
      })),
    ),
  ),
  fault(
    'successor-has-other-status',
    'deprecation-successor',
    'A retrieved animal shows a status under which the list does not have it.',
    petWritten(
      (text, pet) =>
        text.replace(/"status":"\w+"/, `"status":"${pet.status === 'sold' ? 'available' : 'sold'}"`),
      'getPet',
    ),
  ),
];
