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
  petShown,
  readingPet,
  refusing,
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
// biome-ignore format: a table, a line or two for each fault
export const ADDING_FAULTS: FaultTable = {
  'add-answers-201': {
    'add-answers-200': ['An addition is answered with 200.', answeringAs(200, answers(201))],
    'add-answers-202': ['An addition is answered with 202.', answeringAs(202, answers(201))],
    'add-third-fails': ['Every third addition is answered with 503.',
      () => failing(503, everyNth(3, answers(201)))],
    'add-answers-without-body': ['An addition is answered with 204 and no body.',
      answeringWith('', answers(201), 204)],
    'add-large-category-fails': ['An addition with a categoryId beyond 32 bits is answered with 500.',
      failing(500, (answer) =>
        answer.status === 201 && isLarge(/"categoryId":(-?\d+)/.exec(answer.text)?.[1]))],
    'add-large-category-refused': ['A categoryId beyond 32 bits is refused with 400.',
      refusing(({ categoryId }) => isLarge(categoryId.replace('-', '')))],
    'add-same-name-conflicts': ['An animal with the name and category of another one is refused with 409.',
      () => {
        const seen = new Set<string>();
        return refusing(({ name, categoryId }) => {
          const same = JSON.stringify([name, categoryId]);
          return seen.size === seen.add(same).size;
        }, 409);
      }],
  },
  'add-echoes-name': {
    'echo-name-escaped-slashes-kept': ['Slashes that were escaped in the JSON of a name stay so.',
      readingPet((usual, body, call) => usual(body.replaceAll('\\/', '\\\\/'), call))],
    'echo-name-escaped-pairs-lost': [
      'A letter that was escaped in the JSON of a name as a pair of surrogates becomes U+FFFD.',
      readingPet((usual, body, call) => usual(body.replaceAll(/\\ud8\w\w\\ud[c-f]\w\w/gi, '\ufffd'), call))],
    'echo-name-escapes-kept': ['Letters that were escaped in the JSON of a name stay so.',
      readingPet((usual, body, call) => usual(body.replace(/\\u00/g, '\\\\u00'), call))],
    'echo-name-trimmed': ['Blanks around a name are not returned.', nameEchoed((name) => name.trim())],
    'echo-name-lower-case': ['A name is returned in lower case.', nameEchoed((name) => name.toLowerCase())],
    'echo-name-composed': ['A name is returned in Unicode normalization form C.',
      nameEchoed((name) => name.normalize('NFC'))],
    'echo-name-cut-at-32': ['A name is returned with its first 32 characters.',
      nameEchoed((name) => name.slice(0, 32))],
    'echo-name-cut-at-255': ['A name is returned with its first 255 characters.',
      nameEchoed((name) => name.slice(0, 255))],
    'echo-name-without-controls': ['Tabs and line ends in a name are not returned.',
      nameEchoed((name) => name.replaceAll(/[\t\n\r]/g, ''))],
    'echo-name-ascii-only': ['Characters of a name that are not plain ASCII are returned as question marks.',
      nameEchoed((name) => name.replaceAll(/[^\x20-\x7e]/g, '?'))],
    'echo-name-bmp-only': [
      'Characters of a name beyond the basic plane, such as emoji, are returned as U+FFFD.',
      nameEchoed((name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd'))],
    'echo-name-without-byte-order-marks': ['U+FEFF in a name is not returned.',
      nameEchoed((name) => name.replaceAll('\ufeff', ''))],
    'echo-name-line-ends-unified': ['CR LF in a name is returned as LF.',
      nameEchoed((name) => name.replaceAll('\r\n', '\n'))],
    'echo-name-cut-at-nul': ['A name is returned up to U+0000.',
      nameEchoed((name) => name.split('\0')[0] ?? '')],
    'echo-name-leading-zeros-dropped': ['Of a name of digits the zeros that it begins with are not returned.',
      nameEchoed((name) => (/^\d+$/.test(name) ? name.replace(/^0+(?=\d)/, '') : name))],
    'echo-name-html-escaped': [
      'The characters &, < and > and quotes of a name are returned as HTML entities.',
      nameEchoed((name) => name.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character))],
    'echo-name-of-another-in-flight': [
      'Animals that are added at the same moment get the name of the one that came first.',
      () => {
        const inFlight: string[] = [];
        const naming = addedAs((animal) => {
          const [name = animal.name] = inFlight;
          inFlight.push(name);
          return { ...animal, name };
        });
        return together(naming, heldBack(({ status }) => (status === 201 ? 3 : 0), () => inFlight.shift()));
      }],
    'echo-name-of-one-before': ['Every fourth addition is answered with the name of the one before it.',
      () => {
        let before = '';
        let times = 0;
        return petShown((pet) => {
          times += 1;
          const shown = times % 4 === 0 ? { ...pet, name: before } : pet;
          before = pet.name;
          return shown;
        }, 'createPet');
      }],
  },
  'add-status-optional': {
    'add-without-status-refused': ['An addition without status is refused.',
      refusing(({ status }) => status === null)],
    'add-without-status-fails': ['An addition without status is answered with 500.',
      failing(500, (answer) => answer.status === 201 && !answer.text.includes('"status"'))],
  },
  'add-status-values': {
    'add-sold-refused': ['A sold animal cannot be added.', refusing(({ status }) => status === 'sold')],
    'add-pending-refused': ['A pending animal cannot be added.',
      refusing(({ status }) => status === 'pending')],
    'add-available-refused': ['An animal that is explicitly available cannot be added.',
      refusing(({ status }) => status === 'available')],
    'add-members-in-order-only': ['An animal is refused where its name is not the first member.',
      refusingBody((body) => /^\{"(?!name)/.test(body.replace(/\s/g, '')),
        'invalid_animal', 'An animal begins with its name.')],
    'add-white-space-refused': ['An animal is refused where there is white space between its members.',
      refusingBody((body) => /^\s|,\s/.test(body), 'invalid_json', 'The body is not compact.')],
    'add-charset-refused': ['A body whose label tells the charset is refused with 415.',
      failing(415,
        where(answers(201), ({ request }) => /charset/.test(request.headers['content-type'] ?? '')))],
  },
  'add-echoes-category-id': {
    'echo-category-rounded': ['categoryId is returned rounded to a double.',
      categoryEchoed((digits) => BigInt(Number(digits)).toString())],
    'echo-category-32-bits': ['categoryId is returned cut to 32 bits.',
      categoryEchoed((digits) => BigInt.asIntN(32, BigInt(digits)).toString())],
    'echo-category-unsigned': ['A negative categoryId is returned without its sign.',
      categoryEchoed((digits) => digits.replace('-', ''))],
    'echo-category-always-1': ['categoryId is returned as 1.', categoryEchoed(() => '1')],
    'echo-category-negative-rounded': ['A negative categoryId is returned rounded to a double.',
      categoryEchoed((digits) => (digits.startsWith('-') ? BigInt(Number(digits)).toString() : digits))],
    'echo-category-capped': ['A categoryId above 2^53 - 1 is returned as 2^53 - 1.',
      categoryEchoed((digits) => (Number(digits) > Number.MAX_SAFE_INTEGER ? '9007199254740991' : digits))],
  },
  'add-echoes-status': {
    'echo-status-dropped': ['A created animal is answered without its status.',
      petShown((pet) => ({ ...pet, status: null }), 'createPet')],
    'echo-status-available': ['A created animal is answered with the status available.',
      petShown((pet) => ({ ...pet, status: 'available' }), 'createPet')],
    'echo-status-sold-as-pending': ['A sold animal is answered as pending.',
      petShown((pet) => (pet.status === 'sold' ? { ...pet, status: 'pending' } : pet), 'createPet')],
  },
};
