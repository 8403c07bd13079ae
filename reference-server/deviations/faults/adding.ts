import { badRequest } from '../../error-body.ts';
import { together } from '../personality.ts';
import {
  addedAs,
  answeringAs,
  answeringWith,
  answers,
  everyNth,
  failing,
  heldBack,
  oneBefore,
  petShown,
  readingPet,
  refusing,
  seenBefore,
  where,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const refusingBody = (refused: (body: string) => boolean, code: string, message: string) =>
  readingPet((usual, body, call) =>
    refused(body) ? { problem: badRequest(code, message) } : usual(body, call),
  );

/** The created animal is answered with another name; the store keeps the one that was sent. */
const nameEchoed = (change: (name: string) => string) =>
  petShown((pet) => ({ ...pet, name: change(pet.name) }), 'createPet');
const categoryEchoed = (change: (digits: string) => string) =>
  petShown((pet) => ({ ...pet, categoryId: change(pet.categoryId) }), 'createPet');

const isLarge = (digits: string | undefined) => Number(digits) > 0x7fffffff;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Section 4.2: valid additions. */
// biome-ignore format: a table, a line for most faults
export const ADDING_FAULTS: FaultTable = {
  'add-answers-201': {
    'add-answers-200': answeringAs(200, answers(201)),
    'add-answers-202': answeringAs(202, answers(201)),
    'add-third-fails': () => failing(503, everyNth(3, answers(201))),
    'add-answers-without-body': answeringWith('', answers(201), 204),
    'add-large-category-fails': failing(500, (answer) =>
        answer.status === 201 && isLarge(/"categoryId":(-?\d+)/.exec(answer.text)?.[1])),
    'add-large-category-refused': refusing(({ categoryId }) => isLarge(categoryId.replace('-', ''))),
    // An animal with the name and category of another one is refused with 409.
    'add-same-name-conflicts': () => {
      const isSeen = seenBefore();
      return refusing(({ name, categoryId }) => isSeen(JSON.stringify([name, categoryId])), 409);
    },
  },
  'add-echoes-name': {
    'echo-name-escaped-slashes-kept':
      readingPet((usual, body, call) => usual(body.replaceAll('\\/', '\\\\/'), call)),
    'echo-name-escaped-pairs-lost':
      readingPet((usual, body, call) => usual(body.replaceAll(/\\ud8\w\w\\ud[c-f]\w\w/gi, '\ufffd'), call)),
    'echo-name-escapes-kept':
      readingPet((usual, body, call) => usual(body.replace(/\\u00/g, '\\\\u00'), call)),
    'echo-name-trimmed': nameEchoed((name) => name.trim()),
    'echo-name-lower-case': nameEchoed((name) => name.toLowerCase()),
    'echo-name-composed': nameEchoed((name) => name.normalize('NFC')),
    'echo-name-cut-at-32': nameEchoed((name) => name.slice(0, 32)),
    'echo-name-cut-at-255': nameEchoed((name) => name.slice(0, 255)),
    'echo-name-without-controls': nameEchoed((name) => name.replaceAll(/[\t\n\r]/g, '')),
    'echo-name-ascii-only': nameEchoed((name) => name.replaceAll(/[^\x20-\x7e]/g, '?')),
    'echo-name-bmp-only': nameEchoed((name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')),
    'echo-name-without-byte-order-marks': nameEchoed((name) => name.replaceAll('\ufeff', '')),
    'echo-name-line-ends-unified': nameEchoed((name) => name.replaceAll('\r\n', '\n')),
    'echo-name-cut-at-nul': nameEchoed((name) => name.split('\0')[0] ?? ''),
    'echo-name-leading-zeros-dropped':
      nameEchoed((name) => (/^\d+$/.test(name) ? name.replace(/^0+(?=\d)/, '') : name)),
    'echo-name-html-escaped':
      nameEchoed((name) => name.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)),
    // Animals that are added at the same moment get the name of the one that came first.
    'echo-name-of-another-in-flight': () => {
      const inFlight: string[] = [];
      const naming = addedAs((animal) => {
        const [name = animal.name] = inFlight;
        inFlight.push(name);
        return { ...animal, name };
      });
      return together(naming, heldBack(({ status }) => (status === 201 ? 3 : 0), () => inFlight.shift()));
    },
    // Every fourth addition is answered with the name of the one before it.
    'echo-name-of-one-before': () => {
      const shown = oneBefore<string>(4);
      return petShown((pet) => ({ ...pet, name: shown(pet.name) }), 'createPet');
    },
  },
  'add-status-optional': {
    'add-without-status-refused': refusing(({ status }) => status === null),
    'add-without-status-fails':
      failing(500, (answer) => answer.status === 201 && !answer.text.includes('"status"')),
  },
  'add-status-values': {
    'add-sold-refused': refusing(({ status }) => status === 'sold'),
    'add-pending-refused': refusing(({ status }) => status === 'pending'),
    'add-available-refused': refusing(({ status }) => status === 'available'),
    'add-members-in-order-only': refusingBody((body) => /^\{"(?!name)/.test(body.replace(/\s/g, '')),
        'invalid_animal', 'An animal begins with its name.'),
    'add-white-space-refused':
      refusingBody((body) => /^\s|,\s/.test(body), 'invalid_json', 'The body is not compact.'),
    'add-charset-refused': failing(415,
        where(answers(201), ({ request }) => /charset/.test(request.headers['content-type'] ?? ''))),
  },
  'add-echoes-category-id': {
    'echo-category-rounded': categoryEchoed((digits) => BigInt(Number(digits)).toString()),
    'echo-category-32-bits': categoryEchoed((digits) => BigInt.asIntN(32, BigInt(digits)).toString()),
    'echo-category-unsigned': categoryEchoed((digits) => digits.replace('-', '')),
    'echo-category-always-1': categoryEchoed(() => '1'),
    'echo-category-negative-rounded':
      categoryEchoed((digits) => (digits.startsWith('-') ? BigInt(Number(digits)).toString() : digits)),
    'echo-category-capped':
      categoryEchoed((digits) => (Number(digits) > Number.MAX_SAFE_INTEGER ? '9007199254740991' : digits)),
  },
  'add-echoes-status': {
    'echo-status-dropped': petShown((pet) => ({ ...pet, status: null }), 'createPet'),
    'echo-status-available': petShown((pet) => ({ ...pet, status: 'available' }), 'createPet'),
    'echo-status-sold-as-pending':
      petShown((pet) => (pet.status === 'sold' ? { ...pet, status: 'pending' } : pet), 'createPet'),
  },
};
