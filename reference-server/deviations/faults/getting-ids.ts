import type { Personality } from '../personality.ts';
import { answering, answers, finding, firstPet, withBody, withError } from '../shapes.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';

const UNKNOWN = 'get-unknown-404';
const MALFORMED = 'get-malformed-id-refused';

const isCanonical = (petId: string) => /^(?:0|-?[1-9]\d{0,18})$/.test(petId);

/** Finds another animal where the id is no int64 and a lenient reading makes one of it. */
const readingId = (lenient: (petId: string) => string | null): Personality =>
  finding((usual, petId, call) => {
    const read = isCanonical(petId) ? petId : lenient(petId);
    return usual(read ?? petId, call);
  });

/** Looks an unknown int64 up again as what a careless store makes of it. */
const lookedUpAgain = (careless: (petId: string) => string): Personality =>
  finding(
    (usual, petId, call) => usual(petId, call) ?? (isCanonical(petId) ? usual(careless(petId), call) : null),
  );

const notFoundWith = (status: number, when: (petId: string) => boolean): Personality =>
  answering(
    (answer, call) =>
      answers(404, 'getPet')(answer, call) && call.route.operation === 'getPet' && when(call.route.petId),
    (answer) => withError(answer, status),
  );

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'get-unknown-404': {
    'get-unknown-null': ['An unknown id is answered with 200 and null.',
      answering(answers(404, 'getPet'), (answer) => ({ ...withBody(answer, 'null'), status: 200 }))],
    'get-unknown-400': ['An unknown id is answered with 400.', notFoundWith(400, isCanonical)],
    'get-unknown-410': ['An unknown id is answered with 410.', notFoundWith(410, isCanonical)],
    'get-unknown-large-500': ['An unknown id beyond 32 bits is answered with 500.',
      notFoundWith(500, (petId) => isCanonical(petId) && Math.abs(Number(petId)) > 0x7fffffff)],
    'get-unknown-negative-422': ['A negative id is answered with 422.',
      notFoundWith(422, (petId) => isCanonical(petId) && petId.startsWith('-'))],
    'get-unknown-cut-to-32-bits': ['Of an unknown id the lower 32 bits are looked up.',
      lookedUpAgain((petId) => BigInt.asUintN(32, BigInt(petId)).toString())],
    'get-unknown-without-sign': ['An unknown negative id is looked up without its sign.',
      lookedUpAgain((petId) => petId.replace('-', ''))],
  },
  'get-malformed-id-refused': {
    'get-text-answers-first': ['An id without digits is answered with the first animal.',
      finding((usual, petId, call, parts) => (/\d/.test(petId) ? usual(petId, call) : firstPet(parts)))],
    'get-id-digits-only-read': ['The digits that an id begins with are looked up, whatever follows.',
      readingId((petId) => /^-?\d+/.exec(petId)?.[0] ?? null)],
    'get-id-fraction-cut': ['An id with a fraction is looked up without it.',
      readingId((petId) => /^(-?\d+)\.\d+$/.exec(petId)?.[1] ?? null)],
    'get-malformed-500': ['An id that is no int64 is answered with 500.',
      notFoundWith(500, (petId) => !isCanonical(petId))],
  },
};

/** Section 4.3: ids that name no animal. */
export const GETTING_ID_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
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
    'get-unknown-found-when-asked-again',
    UNKNOWN,
    'An unknown id that is asked for a second time is answered with the first animal.',
    {
      behaviour: (usual, parts) => {
        const missed = new Set<string>();
        return {
          findPet(petId, call) {
            const found = usual.findPet(petId, call);
            if (found !== null || !isCanonical(petId)) return found;
            if (missed.has(petId)) return firstPet(parts);
            missed.add(petId);
            return null;
          },
        };
      },
    },
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
    'get-id-beyond-int64-wrapped',
    MALFORMED,
    'Of an id that does not fit 64 bits the lower ones are looked up.',
    readingId((petId) => (/^-?\d{19,40}$/.test(petId) ? BigInt.asIntN(64, BigInt(petId)).toString() : null)),
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
];
