import { readingPet } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';
import { bodyAccepted, isMalformed, kindOf, lacks, refusedWith, storedThough } from './refused-additions.ts';

const OBJECT = 'add-rejects-non-object';
const JSON_TEXT = 'add-rejects-malformed-json';
const EMPTY = 'add-rejects-empty-body';
const NOTHING = 'add-rejected-stores-nothing';

/** Section 4.2: bodies that are to be refused as a whole, and what a refusal leaves behind. */
export const REFUSED_BODY_FAULTS: readonly Fault[] = [
  fault(
    'array-body-accepted',
    OBJECT,
    'An array is added as an unnamed animal.',
    bodyAccepted((body) => kindOf(body) === 'array'),
  ),
  fault(
    'string-body-accepted',
    OBJECT,
    'A string is added as an unnamed animal.',
    bodyAccepted((body) => kindOf(body) === 'string'),
  ),
  fault(
    'animal-in-string-accepted',
    OBJECT,
    'An animal whose JSON is the text of a JSON string is added.',
    readingPet((usual, body, call) =>
      usual(kindOf(body) === 'string' ? String(JSON.parse(body)) : body, call),
    ),
  ),
  fault(
    'number-body-accepted',
    OBJECT,
    'A number is added as an unnamed animal.',
    bodyAccepted((body) => kindOf(body) === 'number'),
  ),
  fault(
    'null-body-accepted',
    OBJECT,
    'null is added as an unnamed animal.',
    bodyAccepted((body) => kindOf(body) === 'null'),
  ),
  fault(
    'null-body-500',
    OBJECT,
    'null is answered with 500.',
    refusedWith(500, (body) => kindOf(body) === 'null'),
  ),
  fault(
    'non-object-422',
    OBJECT,
    'A body that is no object is refused with 422.',
    refusedWith(422, (body) => kindOf(body) !== 'other'),
  ),

  fault(
    'malformed-json-accepted',
    JSON_TEXT,
    'Anything that is no JSON is added as an unnamed animal.',
    bodyAccepted(isMalformed),
  ),
  fault(
    'malformed-json-500',
    JSON_TEXT,
    'Malformed JSON is answered with 500.',
    refusedWith(500, isMalformed),
  ),
  fault(
    'malformed-json-422',
    JSON_TEXT,
    'Malformed JSON is refused with 422.',
    refusedWith(422, isMalformed),
  ),
  fault(
    'cut-json-accepted',
    JSON_TEXT,
    'A missing brace at the end of a body is put there.',
    readingPet((usual, body, call) =>
      usual(isMalformed(body) && !isMalformed(`${body}}`) ? `${body}}` : body, call),
    ),
  ),

  fault(
    'single-quotes-accepted',
    JSON_TEXT,
    'Single quotes are taken for double ones.',
    readingPet((usual, body, call) => usual(isMalformed(body) ? body.replaceAll("'", '"') : body, call)),
  ),
  fault(
    'json-with-more-behind-accepted',
    JSON_TEXT,
    'What follows the object is not looked at.',
    readingPet((usual, body, call) => usual(isMalformed(body) ? body.replace(/}[^}]*$/, '}') : body, call)),
  ),

  fault(
    'empty-body-accepted',
    EMPTY,
    'An empty body is added as an unnamed animal.',
    bodyAccepted((body) => body === ''),
  ),
  fault(
    'empty-body-411',
    EMPTY,
    'An empty body is refused with 411.',
    refusedWith(411, (body) => body === ''),
  ),
  fault(
    'empty-body-500',
    EMPTY,
    'An empty body is answered with 500.',
    refusedWith(500, (body) => body === ''),
  ),

  fault(
    'refused-status-stored',
    NOTHING,
    'An animal that is refused for its status is stored, as available.',
    storedThough((body) => /"status"/.test(body)),
  ),
  fault(
    'refused-missing-category-stored',
    NOTHING,
    'An animal that is refused for want of a category is stored.',
    storedThough(lacks('categoryId')),
  ),
  fault(
    'refused-category-stored',
    NOTHING,
    'An animal that is refused for its categoryId is stored.',
    storedThough((body) => !lacks('categoryId')(body) && !lacks('name')(body) && !/"status"/.test(body)),
  ),
];
