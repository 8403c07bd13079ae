import { badRequest } from '../../error-body.ts';
import type { NewPet } from '../../pet-store.ts';
import {
  answering,
  answeringAtTimes,
  answers,
  everyNth,
  petShown,
  readingPet,
  withBody,
  withError,
} from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

const ANSWER = 'add-answers-201';
const VALUES = 'add-status-values';
const NAME = 'add-echoes-name';
const CATEGORY = 'add-echoes-category-id';
const STATUS = 'add-echoes-status';

function refusing(refused: (animal: NewPet) => boolean) {
  return readingPet((usual, body, call) => {
    const read = usual(body, call);
    if ('problem' in read || !refused(read.animal)) return read;
    return { problem: badRequest('invalid_animal', 'This animal is not allowed.') };
  });
}

/** The created animal is answered with another name; the store keeps the one that was sent. */
const nameEchoed = (change: (name: string) => string) =>
  petShown((pet) => ({ ...pet, name: change(pet.name) }), 'createPet');
const categoryEchoed = (change: (digits: string) => string) =>
  petShown((pet) => ({ ...pet, categoryId: change(pet.categoryId) }), 'createPet');

/** Section 4.2: valid additions. */
export const ADDING_FAULTS: readonly Fault[] = [
  fault(
    'add-answers-200',
    ANSWER,
    'An addition is answered with 200.',
    answering(answers(201), (answer) => ({ ...answer, status: 200 })),
  ),
  fault(
    'add-answers-202',
    ANSWER,
    'An addition is answered with 202.',
    answering(answers(201), (answer) => ({ ...answer, status: 202 })),
  ),
  fault('add-answers-without-body', ANSWER, 'An addition is answered with 204 and no body.', {
    behaviour: (usual) => ({
      finish(answer, call) {
        const last = usual.finish(answer, call);
        return last.status === 201 ? { ...withBody(last, ''), status: 204 } : last;
      },
    }),
  }),
  fault(
    'add-large-category-fails',
    ANSWER,
    'An addition with a categoryId beyond 32 bits is answered with 500.',
    answering(
      (answer) => answer.status === 201 && Number(/"categoryId":(-?\d+)/.exec(answer.text)?.[1]) > 0x7fffffff,
      (answer) => withError(answer, 500),
    ),
  ),
  fault(
    'add-large-category-refused',
    ANSWER,
    'A categoryId beyond 32 bits is refused with 400.',
    readingPet((usual, body, call) => {
      const read = usual(body, call);
      return 'animal' in read && Math.abs(Number(read.animal.categoryId)) > 0x7fffffff
        ? { problem: badRequest('invalid_animal', 'categoryId is to be an integer of 32 bits.') }
        : read;
    }),
  ),
  fault(
    'add-members-in-order-only',
    VALUES,
    'An animal is refused where its name is not the first member.',
    readingPet((usual, body, call) =>
      /^\{"(?!name)/.test(body.replace(/\s/g, ''))
        ? { problem: badRequest('invalid_animal', 'An animal begins with its name.') }
        : usual(body, call),
    ),
  ),
  fault(
    'add-white-space-refused',
    VALUES,
    'An animal is refused where there is white space between its members.',
    readingPet((usual, body, call) =>
      /^\s|,\s/.test(body)
        ? { problem: badRequest('invalid_json', 'The body is not compact.') }
        : usual(body, call),
    ),
  ),
  fault('add-charset-refused', VALUES, 'A body whose label tells the charset is refused with 415.', {
    behaviour: (usual) => ({
      finish: (answer, call) =>
        usual.finish(
          answers(201)(answer, call) && call.request.headers['content-type']?.includes('charset') === true
            ? withError(answer, 415)
            : answer,
          call,
        ),
    }),
  }),
  fault(
    'echo-name-escaped-slashes-kept',
    NAME,
    'Slashes that were escaped in the JSON of a name stay so.',
    readingPet((usual, body, call) => usual(body.replaceAll('\\/', '\\\\/'), call)),
  ),
  fault(
    'echo-name-escaped-pairs-lost',
    NAME,
    'A letter that was escaped in the JSON of a name as a pair of surrogates becomes U+FFFD.',
    readingPet((usual, body, call) => usual(body.replaceAll(/\\ud8\w\w\\ud[c-f]\w\w/gi, '\ufffd'), call)),
  ),
  fault(
    'echo-name-escapes-kept',
    NAME,
    'Letters that were escaped in the JSON of a name stay so.',
    readingPet((usual, body, call) => usual(body.replace(/\\u00/g, '\\\\u00'), call)),
  ),
  fault(
    'add-third-fails',
    ANSWER,
    'Every third addition is answered with 503.',
    answeringAtTimes(everyNth(3, answers(201)), (answer) => withError(answer, 503)),
  ),
  fault(
    'add-same-name-conflicts',
    ANSWER,
    'An animal with the name and category of another one is refused with 409.',
    {
      behaviour: (usual) => {
        const seen = new Set<string>();
        return {
          readNewPet(body, call) {
            const read = usual.readNewPet(body, call);
            if ('problem' in read) return read;
            const same = JSON.stringify([read.animal.name, read.animal.categoryId]);
            if (seen.has(same))
              return { problem: { status: 409, code: 'conflict', message: 'This animal exists.' } };
            seen.add(same);
            return read;
          },
        };
      },
    },
  ),

  fault(
    'add-without-status-refused',
    'add-status-optional',
    'An addition without status is refused.',
    refusing(({ status }) => status === null),
  ),
  fault(
    'add-without-status-fails',
    'add-status-optional',
    'An addition without status is answered with 500.',
    answering(
      (answer) => answer.status === 201 && !answer.text.includes('"status"'),
      (answer) => withError(answer, 500),
    ),
  ),
  fault(
    'add-sold-refused',
    VALUES,
    'A sold animal cannot be added.',
    refusing(({ status }) => status === 'sold'),
  ),
  fault(
    'add-pending-refused',
    VALUES,
    'A pending animal cannot be added.',
    refusing(({ status }) => status === 'pending'),
  ),
  fault(
    'add-available-refused',
    VALUES,
    'An animal that is explicitly available cannot be added.',
    refusing(({ status }) => status === 'available'),
  ),

  fault(
    'echo-name-trimmed',
    NAME,
    'Blanks around a name are not returned.',
    nameEchoed((name) => name.trim()),
  ),
  fault(
    'echo-name-lower-case',
    NAME,
    'A name is returned in lower case.',
    nameEchoed((name) => name.toLowerCase()),
  ),
  fault(
    'echo-name-composed',
    NAME,
    'A name is returned in Unicode normalization form C.',
    nameEchoed((name) => name.normalize('NFC')),
  ),
  fault(
    'echo-name-cut-at-32',
    NAME,
    'A name is returned with its first 32 characters.',
    nameEchoed((name) => name.slice(0, 32)),
  ),
  fault(
    'echo-name-cut-at-255',
    NAME,
    'A name is returned with its first 255 characters.',
    nameEchoed((name) => name.slice(0, 255)),
  ),
  fault(
    'echo-name-without-controls',
    NAME,
    'Tabs and line ends in a name are not returned.',
    nameEchoed((name) => name.replaceAll(/[\t\n\r]/g, '')),
  ),
  fault(
    'echo-name-ascii-only',
    NAME,
    'Characters of a name that are not plain ASCII are returned as question marks.',
    nameEchoed((name) => name.replaceAll(/[^\x20-\x7e]/g, '?')),
  ),
  fault(
    'echo-name-bmp-only',
    NAME,
    'Characters of a name beyond the basic plane, such as emoji, are returned as U+FFFD.',
    nameEchoed((name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')),
  ),
  fault(
    'echo-name-html-escaped',
    NAME,
    'The characters &, < and > and quotes of a name are returned as HTML entities.',
    nameEchoed((name) =>
      name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    ),
  ),
  fault(
    'echo-name-without-byte-order-marks',
    NAME,
    'U+FEFF in a name is not returned.',
    nameEchoed((name) => name.replaceAll('\ufeff', '')),
  ),
  fault(
    'echo-name-line-ends-unified',
    NAME,
    'CR LF in a name is returned as LF.',
    nameEchoed((name) => name.replaceAll('\r\n', '\n')),
  ),
  fault(
    'echo-name-cut-at-nul',
    NAME,
    'A name is returned up to U+0000.',
    nameEchoed((name) => name.split('\0')[0] ?? ''),
  ),
  fault(
    'echo-name-leading-zeros-dropped',
    NAME,
    'Of a name of digits the zeros that it begins with are not returned.',
    nameEchoed((name) => (/^\d+$/.test(name) ? name.replace(/^0+(?=\d)/, '') : name)),
  ),
  fault(
    'echo-name-of-another-in-flight',
    NAME,
    'Animals that are added at the same moment get the name of the one that came first.',
    {
      behaviour: (usual) => {
        const inFlight: string[] = [];
        return {
          addPet(animal, call) {
            const [name = animal.name] = inFlight;
            inFlight.push(name);
            return usual.addPet({ ...animal, name }, call);
          },
          deliver(response, answer, headers, call) {
            if (answer.status !== 201) return usual.deliver(response, answer, headers, call);
            setTimeout(() => {
              inFlight.shift();
              usual.deliver(response, answer, headers, call);
            }, 3);
          },
        };
      },
    },
  ),
  fault(
    'echo-name-of-one-before',
    NAME,
    'Every fourth addition is answered with the name of the one before it.',
    {
      behaviour: (usual) => {
        let before = '';
        let times = 0;
        return {
          petText(pet, call) {
            if (call.route.operation !== 'createPet') return usual.petText(pet, call);
            times += 1;
            const text = usual.petText(times % 4 === 0 ? { ...pet, name: before } : pet, call);
            before = pet.name;
            return text;
          },
        };
      },
    },
  ),

  fault(
    'echo-category-rounded',
    CATEGORY,
    'categoryId is returned rounded to a double.',
    categoryEchoed((digits) => BigInt(Number(digits)).toString()),
  ),
  fault(
    'echo-category-32-bits',
    CATEGORY,
    'categoryId is returned cut to 32 bits.',
    categoryEchoed((digits) => BigInt.asIntN(32, BigInt(digits)).toString()),
  ),
  fault(
    'echo-category-unsigned',
    CATEGORY,
    'A negative categoryId is returned without its sign.',
    categoryEchoed((digits) => digits.replace('-', '')),
  ),
  fault(
    'echo-category-always-1',
    CATEGORY,
    'categoryId is returned as 1.',
    categoryEchoed(() => '1'),
  ),
  fault(
    'echo-category-negative-rounded',
    CATEGORY,
    'A negative categoryId is returned rounded to a double.',
    categoryEchoed((digits) => (digits.startsWith('-') ? BigInt(Number(digits)).toString() : digits)),
  ),
  fault(
    'echo-category-capped',
    CATEGORY,
    'A categoryId above 2^53 - 1 is returned as 2^53 - 1.',
    categoryEchoed((digits) => (Number(digits) > Number.MAX_SAFE_INTEGER ? '9007199254740991' : digits)),
  ),

  fault(
    'echo-status-dropped',
    STATUS,
    'A created animal is answered without its status.',
    petShown((pet) => ({ ...pet, status: null }), 'createPet'),
  ),
  fault(
    'echo-status-available',
    STATUS,
    'A created animal is answered with the status available.',
    petShown((pet) => ({ ...pet, status: 'available' }), 'createPet'),
  ),
  fault(
    'echo-status-sold-as-pending',
    STATUS,
    'A sold animal is answered as pending.',
    petShown((pet) => (pet.status === 'sold' ? { ...pet, status: 'pending' } : pet), 'createPet'),
  ),
];
