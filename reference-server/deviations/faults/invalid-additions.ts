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
// biome-ignore format: a table, a line for most faults
export const INVALID_ADDITION_FAULTS: FaultTable = {
  'add-rejects-missing-name': {
    'missing-name-accepted': missing('name', '"unnamed"'),
    'errors-as-200': answeringAs(200, ({ status }, { key }) => status >= 400 && key !== null),
    'missing-name-422': refusedWith(422, lacks('name')),
    'missing-name-500': refusedWith(500, lacks('name')),
    'missing-name-accepted-with-status': missingWithStatus('name', '"unnamed"'),
    'missing-name-accepted-alone': bodyAccepted((body) => /^\{"categoryId":\d+\}$/.test(body)),
    'animal-in-wrapper-accepted':
      readingPet((usual, body, call) => usual(membersOf(body)?.get('pet') ?? body, call)),
  },
  'add-rejects-missing-category-id': {
    'missing-category-accepted': missing('categoryId', '0'),
    'missing-category-422': refusedWith(422, lacks('categoryId')),
    'member-with-underscore-accepted':
      readingPet((usual, body, call) => usual(body.replace('"category_id":', '"categoryId":'), call)),
    'missing-category-accepted-with-status': missingWithStatus('categoryId', '0'),
    'members-in-other-letters-accepted': readingPet((usual, body, call) =>
        usual(body.replace(/"name":/i, '"name":').replace(/"categoryid":/i, '"categoryId":'), call)),
  },
  'add-rejects-name-type': {
    'name-number-accepted':
      memberAs('name', (text) => (text !== undefined && /^-?\d/.test(text) ? `"${text}"` : text)),
    'name-boolean-accepted':
      memberAs('name', (text) => (text === 'true' || text === 'false' ? `"${text}"` : text)),
    'name-null-accepted': accepts('name', /^null$/, '""'),
    'name-array-accepted': accepts('name', /^\[/, '"Array"'),
    'name-object-accepted': accepts('name', /^\{/, '"[object Object]"'),
    'name-refused-422-on-free':
      refusedWith(422, (body, { key }) => key?.plan === 'free' && /"name":[^"]/.test(body)),
  },
  'add-rejects-category-id-type': {
    'category-string-accepted': memberAs('categoryId', (text) => /^"(-?\d+)"$/.exec(text ?? '')?.[1] ?? text),
    'category-empty-string-accepted': accepts('categoryId', /^""$/, '0'),
    'category-any-string-accepted': accepts('categoryId', /^"[^\d]*"$/, '0'),
    'category-fraction-accepted':
      memberAs('categoryId', (text) => /^(-?\d+)\.\d+$/.exec(text ?? '')?.[1] ?? text),
    'category-null-accepted': accepts('categoryId', /^null$/, '0'),
    'category-boolean-accepted': accepts('categoryId', /^(?:true|false)$/, '1'),
    'category-false-accepted': accepts('categoryId', /^false$/, '0'),
    'category-array-accepted': accepts('categoryId', /^\[/, '1'),
    'category-object-accepted': accepts('categoryId', /^\{/, '1'),
  },
  'add-rejects-category-id-range': {
    'category-uint64-accepted': accepts('categoryId', /^9223372036854775808$/, '9223372036854775807'),
    'category-exponent-accepted': accepts('categoryId', /^\d+e\d+$/i, '0'),
    // A categoryId above int64 is taken for the largest one.
    'category-beyond-int64-capped': memberAs('categoryId', (text) =>
        /^\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) > 9223372036854775807n
          ? '9223372036854775807' : text),
    'category-beyond-int64-wrapped': memberAs('categoryId', (text) =>
        /^-?\d{19,40}$/.test(text ?? '') ? BigInt.asIntN(64, BigInt(text ?? 0)).toString() : text),
    // Only a categoryId below int64 is accepted, as the smallest one.
    'category-below-int64-accepted': memberAs('categoryId', (text) =>
        /^-\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) < -9223372036854775808n
          ? '-9223372036854775808' : text),
  },
  'add-rejects-status-value': {
    'status-any-case-accepted':
      memberAs('status', (text) => (text?.startsWith('"') === true ? text.toLowerCase() : text)),
    'status-in-capitals-accepted':
      memberAs('status', (text) => text?.replace(/^"[A-Z]+"$/, (word) => word.toLowerCase())),
    'status-with-blanks-accepted':
      memberAs('status', (text) => (text === undefined || !text.startsWith('"') ? text : trimmed(text))),
    'empty-status-accepted': accepts('status', /^""$/, undefined),
    'status-beginning-accepted':
      memberAs('status', (text) => text?.replace(/^"(available|pending|sold).*"$/, '"$1"')),
    'status-line-end-accepted': memberAs('status', (text) => text?.replace(/\\n"$/, '"')),
    'status-of-another-kind-accepted': accepts('status', /^"adopted"$/, '"sold"'),
    'unknown-status-dropped': memberAs('status', (text) =>
        text?.startsWith('"') === true && !/^"(?:available|pending|sold)"$/.test(text) ? undefined : text),
    'status-list-accepted': memberAs('status', (text) =>
        text?.replace(/^"(available|pending|sold)(?:,(?:available|pending|sold))+"$/, '"$1"')),
  },
  'add-rejects-status-type': {
    'zero-status-accepted': accepts('status', /^0$/, undefined),
    'false-status-accepted': accepts('status', /^false$/, undefined),
    'number-status-accepted': accepts('status', /^-?\d/, '"pending"'),
    'boolean-status-accepted': accepts('status', /^(?:true|false)$/, '"available"'),
    'true-status-accepted': accepts('status', /^true$/, '"sold"'),
    'array-status-accepted': accepts('status', /^\[/, '"sold"'),
    'object-status-accepted': accepts('status', /^\{/, undefined),
    'array-status-403': refusedWith(403, (body) => /"status":\[/.test(body)),
  },
  'add-rejects-non-object': {
    'array-body-accepted': bodyAccepted((body) => kindOf(body) === 'array'),
    // An array of a name, a category and perhaps a status is added.
    'positional-array-accepted': readingPet((usual, body, call) => {
      const [, name, category, status = ''] =
        /^\[\s*("[^"]*")\s*,\s*(-?\d+)\s*(?:,\s*("\w+")\s*)?\]$/.exec(body) ?? [];
      const members = [`"name":${name}`, `"categoryId":${category}`, ...(status ? [`"status":${status}`] : [])];
      return usual(name === undefined ? body : `{${members}}`, call);
    }),
    'string-body-accepted': bodyAccepted((body) => kindOf(body) === 'string'),
    'number-body-accepted': bodyAccepted((body) => kindOf(body) === 'number'),
    'null-body-accepted': bodyAccepted((body) => kindOf(body) === 'null'),
    'null-body-500': refusedWith(500, (body) => kindOf(body) === 'null'),
    'non-object-422': refusedWith(422, (body) => kindOf(body) !== 'other'),
    'animal-in-string-accepted': readingPet((usual, body, call) =>
        usual(kindOf(body) === 'string' ? String(JSON.parse(body)) : body, call)),
  },
  'add-rejects-malformed-json': {
    'malformed-json-accepted': bodyAccepted(isMalformed),
    'malformed-json-500': refusedWith(500, isMalformed),
    'malformed-json-422': refusedWith(422, isMalformed),
    'single-quotes-accepted':
      readingPet((usual, body, call) => usual(isMalformed(body) ? body.replaceAll("'", '"') : body, call)),
    'cut-json-accepted': readingPet((usual, body, call) =>
        usual(isMalformed(body) && !isMalformed(`${body}}`) ? `${body}}` : body, call)),
    'json-with-more-behind-accepted':
      readingPet((usual, body, call) => usual(isMalformed(body) ? body.replace(/}[^}]*$/, '}') : body, call)),
  },
  'add-rejects-empty-body': {
    'empty-body-accepted': bodyAccepted((body) => body === ''),
    'empty-body-411': refusedWith(411, (body) => body === ''),
    'empty-body-crash':
      closing(where(answers(400), ({ request }) => request.headers['content-length'] === '0')),
    'empty-body-500': refusedWith(500, (body) => body === ''),
  },
  'add-rejected-stores-nothing': {
    'refused-status-stored': storedThough((body) => /"status"/.test(body)),
    'refused-missing-category-stored': storedThough(lacks('categoryId')),
    'refused-category-stored':
      storedThough((body) => !lacks('categoryId')(body) && !lacks('name')(body) && !/"status"/.test(body)),
  },
};
