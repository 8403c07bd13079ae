import { answeringAs, answers, closing, memberAs, membersOf, readingPet, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { bodyAccepted, isMalformed, kindOf, lacks, refusedWith, storedThough } from './refused-additions.ts';

const accepts = (name: string, sent: RegExp, as: string | undefined) =>
  memberAs(name, (text) => (text !== undefined && sent.test(text) ? as : text));
const missing = (name: string, as: string) => memberAs(name, (text) => text ?? as);
/** A missing member is made up where the animal has a status. */
const missingWithStatus = (name: string, as: string) =>
  readingPet((usual, body, call) =>
    usual(lacks(name)(body) ? body.replace('"status":', `"${name}":${as},"status":`) : body, call),
  );

const trimmed = (text: string) => JSON.stringify(String(JSON.parse(text)).trim());

/** Section 4.2: fields and bodies that are to be refused with 400, and what a refusal leaves behind. */
// biome-ignore format: a table, a line or two for each fault
export const INVALID_ADDITION_FAULTS: FaultTable = {
  'add-rejects-missing-name': {
    'missing-name-accepted': ['An animal without a name is added as "unnamed".',
      missing('name', '"unnamed"')],
    'errors-as-200': ['Errors are answered with status 200.',
      answeringAs(200, ({ status }, { key }) => status >= 400 && key !== null)],
    'missing-name-422': ['A missing name is refused with 422.', refusedWith(422, lacks('name'))],
    'missing-name-500': ['A missing name is answered with 500.', refusedWith(500, lacks('name'))],
    'missing-name-accepted-with-status': [
      'An animal without a name is added as "unnamed" where it has a status.',
      missingWithStatus('name', '"unnamed"')],
    'missing-name-accepted-alone': [
      'An animal of a categoryId alone is added as "unnamed"; one with an unknown field beside it is refused.',
      bodyAccepted((body) => /^\{"categoryId":\d+\}$/.test(body))],
    'animal-in-wrapper-accepted': ['Of a body with a member pet, that one is added.',
      readingPet((usual, body, call) => usual(membersOf(body)?.get('pet') ?? body, call))],
  },
  'add-rejects-missing-category-id': {
    'missing-category-accepted': ['An animal without categoryId is added to category 0.',
      missing('categoryId', '0')],
    'missing-category-422': ['A missing categoryId is refused with 422.',
      refusedWith(422, lacks('categoryId'))],
    'member-with-underscore-accepted': ['category_id is taken for categoryId.',
      readingPet((usual, body, call) => usual(body.replace('"category_id":', '"categoryId":'), call))],
    'missing-category-accepted-with-status': [
      'An animal without categoryId is added to category 0 where it has a status.',
      missingWithStatus('categoryId', '0')],
    'members-in-other-letters-accepted': [
      'The case of member names does not matter: CategoryId is taken for categoryId.',
      readingPet((usual, body, call) =>
        usual(body.replace(/"name":/i, '"name":').replace(/"categoryid":/i, '"categoryId":'), call))],
  },
  'add-rejects-name-type': {
    'name-number-accepted': ['A number is taken for a name.',
      memberAs('name', (text) => (text !== undefined && /^-?\d/.test(text) ? `"${text}"` : text))],
    'name-boolean-accepted': ['A boolean is taken for a name.',
      memberAs('name', (text) => (text === 'true' || text === 'false' ? `"${text}"` : text))],
    'name-null-accepted': ['null is taken for an empty name.', accepts('name', /^null$/, '""')],
    'name-array-accepted': ['An array is taken for a name.', accepts('name', /^\[/, '"Array"')],
    'name-object-accepted': ['An object is taken for a name.', accepts('name', /^\{/, '"[object Object]"')],
    'name-refused-422-on-free': ['With a Free key a name that is no string is refused with 422.',
      refusedWith(422, (body, { key }) => key?.plan === 'free' && /"name":[^"]/.test(body))],
  },
  'add-rejects-category-id-type': {
    'category-string-accepted': ['A string of digits is taken for categoryId.',
      memberAs('categoryId', (text) => /^"(-?\d+)"$/.exec(text ?? '')?.[1] ?? text)],
    'category-empty-string-accepted': ['An empty string is taken for category 0.',
      accepts('categoryId', /^""$/, '0')],
    'category-any-string-accepted': ['A string without digits is taken for category 0.',
      accepts('categoryId', /^"[^\d]*"$/, '0')],
    'category-fraction-accepted': ['The fraction of a categoryId is cut off.',
      memberAs('categoryId', (text) => /^(-?\d+)\.\d+$/.exec(text ?? '')?.[1] ?? text)],
    'category-null-accepted': ['null is taken for category 0.', accepts('categoryId', /^null$/, '0')],
    'category-boolean-accepted': ['A boolean is taken for categoryId.',
      accepts('categoryId', /^(?:true|false)$/, '1')],
    'category-false-accepted': ['false is taken for category 0.', accepts('categoryId', /^false$/, '0')],
    'category-array-accepted': ['An array is taken for categoryId.', accepts('categoryId', /^\[/, '1')],
    'category-object-accepted': ['An object is taken for categoryId.', accepts('categoryId', /^\{/, '1')],
  },
  'add-rejects-category-id-range': {
    'category-uint64-accepted': ['Only 9223372036854775808, one above int64, is accepted.',
      accepts('categoryId', /^9223372036854775808$/, '9223372036854775807')],
    'category-exponent-accepted': ['A categoryId that is a power of ten is accepted, as category 0.',
      accepts('categoryId', /^\d+e\d+$/i, '0')],
    'category-beyond-int64-capped': ['A categoryId above int64 is taken for the largest one.',
      memberAs('categoryId', (text) =>
        /^\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) > 9223372036854775807n
          ? '9223372036854775807' : text)],
    'category-beyond-int64-wrapped': ['A categoryId beyond int64 is cut to 64 bits.',
      memberAs('categoryId', (text) =>
        /^-?\d{19,40}$/.test(text ?? '') ? BigInt.asIntN(64, BigInt(text ?? 0)).toString() : text)],
    'category-below-int64-accepted': ['Only a categoryId below int64 is accepted, as the smallest one.',
      memberAs('categoryId', (text) =>
        /^-\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) < -9223372036854775808n
          ? '-9223372036854775808' : text)],
  },
  'add-rejects-status-value': {
    'status-any-case-accepted': ['A status in any case is accepted.',
      memberAs('status', (text) => (text?.startsWith('"') === true ? text.toLowerCase() : text))],
    'status-in-capitals-accepted': ['A status in capital letters is accepted.',
      memberAs('status', (text) => text?.replace(/^"[A-Z]+"$/, (word) => word.toLowerCase()))],
    'status-with-blanks-accepted': ['A status with blanks around it is accepted.',
      memberAs('status', (text) => (text === undefined || !text.startsWith('"') ? text : trimmed(text)))],
    'empty-status-accepted': ['An empty status is taken for none.', accepts('status', /^""$/, undefined)],
    'status-beginning-accepted': ['A text that begins with a status is accepted.',
      memberAs('status', (text) => text?.replace(/^"(available|pending|sold).*"$/, '"$1"'))],
    'status-line-end-accepted': ['A status with a line end behind it is accepted.',
      memberAs('status', (text) => text?.replace(/\\n"$/, '"'))],
    'status-of-another-kind-accepted': ['The status adopted is taken for sold.',
      accepts('status', /^"adopted"$/, '"sold"')],
    'unknown-status-dropped': ['An animal with an unknown status is added without one.',
      memberAs('status', (text) =>
        text?.startsWith('"') === true && !/^"(?:available|pending|sold)"$/.test(text) ? undefined : text)],
    'status-list-accepted': ['Of several statuses with commas between them the first one is taken.',
      memberAs('status', (text) =>
        text?.replace(/^"(available|pending|sold)(?:,(?:available|pending|sold))+"$/, '"$1"'))],
  },
  'add-rejects-status-type': {
    'zero-status-accepted': ['A status of 0 is taken for none.', accepts('status', /^0$/, undefined)],
    'false-status-accepted': ['A status of false is taken for none.',
      accepts('status', /^false$/, undefined)],
    'number-status-accepted': ['A number is taken for a position among the three.',
      accepts('status', /^-?\d/, '"pending"')],
    'boolean-status-accepted': ['A boolean status is taken for available.',
      accepts('status', /^(?:true|false)$/, '"available"')],
    'true-status-accepted': ['A status of true is taken for sold.', accepts('status', /^true$/, '"sold"')],
    'array-status-accepted': ['The first status of an array is taken.', accepts('status', /^\[/, '"sold"')],
    'object-status-accepted': ['An object is taken for no status.', accepts('status', /^\{/, undefined)],
    'array-status-403': ['An array of statuses is refused with 403, to every key.',
      refusedWith(403, (body) => /"status":\[/.test(body))],
  },
  'add-rejects-non-object': {
    'array-body-accepted': ['An array is added as an unnamed animal.',
      bodyAccepted((body) => kindOf(body) === 'array')],
    'positional-array-accepted': ['An array of a name, a category and perhaps a status is added.',
      readingPet((usual, body, call) => {
        const [, name, category, status = ''] =
          /^\[\s*("[^"]*")\s*,\s*(-?\d+)\s*(?:,\s*("\w+")\s*)?\]$/.exec(body) ?? [];
        const members = [`"name":${name}`, `"categoryId":${category}`, ...(status ? [`"status":${status}`] : [])];
        return usual(name === undefined ? body : `{${members}}`, call);
      })],
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
