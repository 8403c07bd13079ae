import { readJsonObject } from '../../json-members.ts';
import { memberAs, readingPet } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';
import { lacks, refusedWith } from './refused-additions.ts';

const accepts = (name: string, sent: RegExp, as: string | undefined) =>
  memberAs(name, (text) => (text !== undefined && sent.test(text) ? as : text));
const missing = (name: string, as: string) => memberAs(name, (text) => text ?? as);
/** A missing member is made up where the animal has a status. */
const missingWithStatus = (name: string, as: string) =>
  readingPet((usual, body, call) =>
    usual(lacks(name)(body) ? body.replace('"status":', `"${name}":${as},"status":`) : body, call),
  );

const trimmed = (text: string) => JSON.stringify(String(JSON.parse(text)).trim());

const TYPE = 'add-rejects-category-id-type';
const RANGE = 'add-rejects-category-id-range';
const NAME_TYPE = 'add-rejects-name-type';
const STATUS = 'add-rejects-status-value';
const STATUS_TYPE = 'add-rejects-status-type';

/** Section 4.2: missing fields and invalid values, which are to be refused with 400. */
export const REFUSED_FIELD_FAULTS: readonly Fault[] = [
  fault(
    'missing-name-accepted',
    'add-rejects-missing-name',
    'An animal without a name is added as "unnamed".',
    missing('name', '"unnamed"'),
  ),
  fault(
    'missing-name-422',
    'add-rejects-missing-name',
    'A missing name is refused with 422.',
    refusedWith(422, lacks('name')),
  ),
  fault(
    'missing-name-500',
    'add-rejects-missing-name',
    'A missing name is answered with 500.',
    refusedWith(500, lacks('name')),
  ),
  fault(
    'missing-category-accepted',
    'add-rejects-missing-category-id',
    'An animal without categoryId is added to category 0.',
    missing('categoryId', '0'),
  ),
  fault(
    'missing-category-422',
    'add-rejects-missing-category-id',
    'A missing categoryId is refused with 422.',
    refusedWith(422, lacks('categoryId')),
  ),

  fault(
    'members-in-other-letters-accepted',
    'add-rejects-missing-category-id',
    'The case of member names does not matter: CategoryId is taken for categoryId.',
    readingPet((usual, body, call) =>
      usual(body.replace(/"name":/i, '"name":').replace(/"categoryid":/i, '"categoryId":'), call),
    ),
  ),
  fault(
    'member-with-underscore-accepted',
    'add-rejects-missing-category-id',
    'category_id is taken for categoryId.',
    readingPet((usual, body, call) => usual(body.replace('"category_id":', '"categoryId":'), call)),
  ),
  fault(
    'missing-category-accepted-with-status',
    'add-rejects-missing-category-id',
    'An animal without categoryId is added to category 0 where it has a status.',
    missingWithStatus('categoryId', '0'),
  ),
  fault(
    'missing-name-accepted-with-status',
    'add-rejects-missing-name',
    'An animal without a name is added as "unnamed" where it has a status.',
    missingWithStatus('name', '"unnamed"'),
  ),
  fault(
    'animal-in-wrapper-accepted',
    'add-rejects-missing-name',
    'Of a body with a member pet, that one is added.',
    readingPet((usual, body, call) => {
      const json = readJsonObject(body);
      return usual((json.kind === 'object' ? json.members.get('pet') : undefined) ?? body, call);
    }),
  ),

  fault(
    'name-number-accepted',
    NAME_TYPE,
    'A number is taken for a name.',
    memberAs('name', (text) => (text !== undefined && /^-?\d/.test(text) ? `"${text}"` : text)),
  ),
  fault(
    'name-boolean-accepted',
    NAME_TYPE,
    'A boolean is taken for a name.',
    memberAs('name', (text) => (text === 'true' || text === 'false' ? `"${text}"` : text)),
  ),
  fault('name-null-accepted', NAME_TYPE, 'null is taken for an empty name.', accepts('name', /^null$/, '""')),
  fault('name-array-accepted', NAME_TYPE, 'An array is taken for a name.', accepts('name', /^\[/, '"Array"')),
  fault(
    'name-object-accepted',
    NAME_TYPE,
    'An object is taken for a name.',
    accepts('name', /^\{/, '"[object Object]"'),
  ),
  fault(
    'name-refused-422-on-free',
    NAME_TYPE,
    'With a Free key a name that is no string is refused with 422.',
    readingPet((usual, body, call) => {
      const read = usual(body, call);
      return 'problem' in read && call.key?.plan === 'free' && /"name":[^"]/.test(body)
        ? { problem: { ...read.problem, status: 422 } }
        : read;
    }),
  ),

  fault(
    'category-string-accepted',
    TYPE,
    'A string of digits is taken for categoryId.',
    memberAs('categoryId', (text) => /^"(-?\d+)"$/.exec(text ?? '')?.[1] ?? text),
  ),
  fault(
    'category-empty-string-accepted',
    TYPE,
    'An empty string is taken for category 0.',
    accepts('categoryId', /^""$/, '0'),
  ),
  fault(
    'category-any-string-accepted',
    TYPE,
    'A string without digits is taken for category 0.',
    accepts('categoryId', /^"[^\d]*"$/, '0'),
  ),
  fault(
    'category-fraction-accepted',
    TYPE,
    'The fraction of a categoryId is cut off.',
    memberAs('categoryId', (text) => /^(-?\d+)\.\d+$/.exec(text ?? '')?.[1] ?? text),
  ),
  fault(
    'category-null-accepted',
    TYPE,
    'null is taken for category 0.',
    accepts('categoryId', /^null$/, '0'),
  ),
  fault(
    'category-boolean-accepted',
    TYPE,
    'A boolean is taken for categoryId.',
    accepts('categoryId', /^(?:true|false)$/, '1'),
  ),
  fault(
    'category-false-accepted',
    TYPE,
    'false is taken for category 0.',
    accepts('categoryId', /^false$/, '0'),
  ),
  fault(
    'category-array-accepted',
    TYPE,
    'An array is taken for categoryId.',
    accepts('categoryId', /^\[/, '1'),
  ),
  fault(
    'category-object-accepted',
    TYPE,
    'An object is taken for categoryId.',
    accepts('categoryId', /^\{/, '1'),
  ),

  fault(
    'category-beyond-int64-capped',
    RANGE,
    'A categoryId above int64 is taken for the largest one.',
    memberAs('categoryId', (text) =>
      /^\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) > 9223372036854775807n ? '9223372036854775807' : text,
    ),
  ),
  fault(
    'category-beyond-int64-wrapped',
    RANGE,
    'A categoryId beyond int64 is cut to 64 bits.',
    memberAs('categoryId', (text) =>
      /^-?\d{19,40}$/.test(text ?? '') ? BigInt.asIntN(64, BigInt(text ?? 0)).toString() : text,
    ),
  ),
  fault(
    'category-below-int64-accepted',
    RANGE,
    'Only a categoryId below int64 is accepted, as the smallest one.',
    memberAs('categoryId', (text) =>
      /^-\d{19,}$/.test(text ?? '') && BigInt(text ?? 0) < -9223372036854775808n
        ? '-9223372036854775808'
        : text,
    ),
  ),
  fault(
    'category-uint64-accepted',
    RANGE,
    'Only 9223372036854775808, one above int64, is accepted.',
    accepts('categoryId', /^9223372036854775808$/, '9223372036854775807'),
  ),

  fault(
    'unknown-status-dropped',
    STATUS,
    'An animal with an unknown status is added without one.',
    memberAs('status', (text) =>
      text?.startsWith('"') === true && !/^"(?:available|pending|sold)"$/.test(text) ? undefined : text,
    ),
  ),
  fault(
    'status-any-case-accepted',
    STATUS,
    'A status in any case is accepted.',
    memberAs('status', (text) => (text?.startsWith('"') === true ? text.toLowerCase() : text)),
  ),
  fault(
    'status-with-blanks-accepted',
    STATUS,
    'A status with blanks around it is accepted.',
    memberAs('status', (text) => (text === undefined || !text.startsWith('"') ? text : trimmed(text))),
  ),
  fault(
    'empty-status-accepted',
    STATUS,
    'An empty status is taken for none.',
    accepts('status', /^""$/, undefined),
  ),
  fault(
    'status-beginning-accepted',
    STATUS,
    'A text that begins with a status is accepted.',
    memberAs('status', (text) => text?.replace(/^"(available|pending|sold).*"$/, '"$1"')),
  ),

  fault(
    'status-line-end-accepted',
    STATUS,
    'A status with a line end behind it is accepted.',
    memberAs('status', (text) => text?.replace(/\\n"$/, '"')),
  ),
  fault(
    'status-list-accepted',
    STATUS,
    'Of several statuses with commas between them the first one is taken.',
    memberAs('status', (text) =>
      text?.replace(/^"(available|pending|sold)(?:,(?:available|pending|sold))+"$/, '"$1"'),
    ),
  ),
  fault(
    'status-of-another-kind-accepted',
    STATUS,
    'The status adopted is taken for sold.',
    accepts('status', /^"adopted"$/, '"sold"'),
  ),

  fault(
    'zero-status-accepted',
    STATUS_TYPE,
    'A status of 0 is taken for none.',
    accepts('status', /^0$/, undefined),
  ),
  fault(
    'false-status-accepted',
    STATUS_TYPE,
    'A status of false is taken for none.',
    accepts('status', /^false$/, undefined),
  ),
  fault(
    'number-status-accepted',
    STATUS_TYPE,
    'A number is taken for a position among the three.',
    accepts('status', /^-?\d/, '"pending"'),
  ),
  fault(
    'boolean-status-accepted',
    STATUS_TYPE,
    'A boolean status is taken for available.',
    accepts('status', /^(?:true|false)$/, '"available"'),
  ),
  fault(
    'array-status-accepted',
    STATUS_TYPE,
    'The first status of an array is taken.',
    accepts('status', /^\[/, '"sold"'),
  ),
  fault(
    'object-status-accepted',
    STATUS_TYPE,
    'An object is taken for no status.',
    accepts('status', /^\{/, undefined),
  ),
  fault(
    'array-status-403',
    STATUS_TYPE,
    'An array of statuses is refused with 403, to every key.',
    refusedWith(403, (body) => /"status":\[/.test(body)),
  ),
];
