import { answers, closing, readingPet, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { bodyAccepted, isMalformed, kindOf, lacks, refusedWith, storedThough } from './refused-additions.ts';

/** Section 4.2: bodies that are to be refused as a whole, and what a refusal leaves behind. */
// biome-ignore format: a table, a line or two for each fault
export const REFUSED_BODY_FAULTS: FaultTable = {
  'add-rejects-non-object': {
    'array-body-accepted': ['An array is added as an unnamed animal.',
      bodyAccepted((body) => kindOf(body) === 'array')],
    'string-body-accepted': ['A string is added as an unnamed animal.',
      bodyAccepted((body) => kindOf(body) === 'string')],
    'number-body-accepted': ['A number is added as an unnamed animal.',
      bodyAccepted((body) => kindOf(body) === 'number')],
    'null-body-accepted': ['null is added as an unnamed animal.',
      bodyAccepted((body) => kindOf(body) === 'null')],
    'null-body-500': ['null is answered with 500.', refusedWith(500, (body) => kindOf(body) === 'null')],
    'non-object-422': ['A body that is no object is refused with 422.',
      refusedWith(422, (body) => kindOf(body) !== 'other')],
    'animal-in-string-accepted': ['An animal whose JSON is the text of a JSON string is added.',
      readingPet((usual, body, call) =>
        usual(kindOf(body) === 'string' ? String(JSON.parse(body)) : body, call))],
  },
  'add-rejects-malformed-json': {
    'malformed-json-accepted': ['Anything that is no JSON is added as an unnamed animal.',
      bodyAccepted(isMalformed)],
    'malformed-json-500': ['Malformed JSON is answered with 500.', refusedWith(500, isMalformed)],
    'malformed-json-422': ['Malformed JSON is refused with 422.', refusedWith(422, isMalformed)],
    'single-quotes-accepted': ['Single quotes are taken for double ones.',
      readingPet((usual, body, call) => usual(isMalformed(body) ? body.replaceAll("'", '"') : body, call))],
    'cut-json-accepted': ['A missing brace at the end of a body is put there.',
      readingPet((usual, body, call) =>
        usual(isMalformed(body) && !isMalformed(`${body}}`) ? `${body}}` : body, call))],
    'json-with-more-behind-accepted': ['What follows the object is not looked at.',
      readingPet((usual, body, call) =>
        usual(isMalformed(body) ? body.replace(/}[^}]*$/, '}') : body, call))],
  },
  'add-rejects-empty-body': {
    'empty-body-accepted': ['An empty body is added as an unnamed animal.',
      bodyAccepted((body) => body === '')],
    'empty-body-411': ['An empty body is refused with 411.', refusedWith(411, (body) => body === '')],
    'empty-body-crash': ['An empty body gets no answer; the connection is closed.',
      closing(where(answers(400), ({ request }) => request.headers['content-length'] === '0'))],
    'empty-body-500': ['An empty body is answered with 500.', refusedWith(500, (body) => body === '')],
  },
  'add-rejected-stores-nothing': {
    'refused-status-stored': ['An animal that is refused for its status is stored, as available.',
      storedThough((body) => /"status"/.test(body))],
    'refused-missing-category-stored': ['An animal that is refused for want of a category is stored.',
      storedThough(lacks('categoryId'))],
    'refused-category-stored': ['An animal that is refused for its categoryId is stored.',
      storedThough((body) => !lacks('categoryId')(body) && !lacks('name')(body) && !/"status"/.test(body))],
  },
};
