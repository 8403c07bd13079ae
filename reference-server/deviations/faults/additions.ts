import { type Answer, badRequest } from '../../answer.ts';
import type { Call, Decisions } from '../../design.ts';
import type { NewPet, PetStore } from '../../pet-store.ts';
import { onPlan } from '../admission.ts';
import { rounded, shown } from '../animals.ts';
import { answering, answers, closing, delivering, failing, heldBack, restated } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { bodyAs, memberAs, membersOf, readAs, refusing } from '../reading.ts';
import { addedAs } from '../store.ts';
import { everyTime, knowingSeen, oneBefore, type When, where } from '../when.ts';

const refusingBody = (refused: (body: string) => boolean, code: string, message: string) =>
  readAs((read, body) => (refused(body) ? badRequest(code, message) : read));

/** The created animal is answered with another name; the store keeps the one that was sent. */
const nameEchoed = (change: (name: string) => string) => shown('name', change, 'createPet');
const categoryEchoed = (change: (digits: string) => string) => shown('categoryId', change, 'createPet');

const isLarge = (digits: string | undefined) => Number(digits) > 0x7fffffff;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const missing = (name: string, as: string) => memberAs(name, /^$/, as);
/** A missing member is made up where the animal has a status. */
const missingWithStatus = (name: string, as: string) =>
  bodyAs((body) => (lacks(name)(body) ? body.replace('"status":', `"${name}":${as},"status":`) : body));

const inQuotes = (text: string) => `"${text}"`;
const lower = (text: string) => text.toLowerCase();
const trimmed = (text: string) => JSON.stringify(String(JSON.parse(text)).trim());
const [LEAST, GREATEST] = [-(2n ** 63n), 2n ** 63n - 1n];

const UNNAMED: NewPet = { name: 'unnamed', categoryId: '0', status: null };

/** Takes an unnamed animal out of a body that is refused otherwise. */
const bodyAccepted = (accepted: (body: string) => boolean) =>
  readAs((read, body) => (accepted(body) ? UNNAMED : read));

/** Answers a refused addition whose body matches with another status. */
const refusedWith = (status: number, matches: (body: string, call: Call) => boolean) =>
  readAs((read, body, call) => ('text' in read && matches(body, call) ? restated(read, status) : read));

/** Whether a body is an object with other members than one. */
const lacks = (name: string) => (body: string) => {
  const members = membersOf(body);
  return members !== null && members.size > 0 && !members.has(name);
};

/** What a body is: a kind of JSON, or none. */
function kindOf(body: string) {
  try {
    const value: unknown = body === '' ? undefined : JSON.parse(body);
    if (value === null) return 'null';
    return Array.isArray(value) ? 'array' : typeof value;
  } catch {
    return 'malformed';
  }
}
const isA =
  (...kinds: readonly ReturnType<typeof kindOf>[]) =>
  (body: string) =>
    kinds.includes(kindOf(body));
const malformedAs = (change: (body: string) => string) =>
  bodyAs((body) => (isA('malformed')(body) ? change(body) : body));

/** A refused addition that is stored all the same, where the refused member matches. */
const storedThough = (refused: (body: string) => boolean) =>
  readAs((read, body, call) => {
    const members = membersOf(body);
    if (!('text' in read) || members === null || !refused(body)) return read;
    const name = String(JSON.parse(members.get('name') ?? '"unnamed"'));
    const categoryId = /^-?\d{1,18}$/.exec(members.get('categoryId') ?? '')?.[0] ?? '0';
    call.service.store.add({ name, categoryId, status: 'available' });
    return read;
  });

/** Reads the body of an addition that was refused before, and perhaps answers otherwise. */
export const readThoughRefused = (
  when: When,
  look: (read: ReturnType<Decisions['readNewPet']>, answer: Answer, store: PetStore) => Answer,
): Deviation =>
  delivering((usual, response, answer, headers, call) => {
    const { request, route, service } = call;
    if (route.operation !== 'createPet' || !when(call, answer)) return usual(response, answer, headers, call);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const read = service.readNewPet(Buffer.concat(chunks).toString(), call);
      const last = look(read, answer, service.store);
      usual(response, last, last === answer ? headers : service.headers(last, call), call);
    });
  });

/** Stores an addition that was refused before its body was read. */
export const storedThoughRefused = (when: When): Deviation =>
  readThoughRefused(when, (read, answer, store) => {
    if ('name' in read) store.add(read);
    return answer;
  });

/** Section 4.2: valid additions, those that are to be refused with 400, and what a refusal leaves behind. */
// biome-ignore format: a table, a line for most faults
export const ADDITION_FAULTS: DeviationTable = {
  'add-answers-201': {
    'add-answers-200': answering(answers(201), { status: 200 }),
    'add-answers-202': answering(answers(201), { status: 202 }),
    'add-third-fails': () => failing(503, answers(201), everyTime(3)),
    'add-answers-without-body': answering(answers(201), { text: '', status: 204 }),
    'add-large-category-fails':
      failing(500, answers(201), (_call, { text }) => isLarge(/"categoryId":(-?\d+)/.exec(text)?.[1])),
    'add-large-category-refused': refusing(({ categoryId }) => isLarge(categoryId.replace('-', ''))),
    'add-same-name-conflicts': knowingSeen((isSeen) =>
      refusing(({ name, categoryId }) => isSeen(JSON.stringify([name, categoryId])), 409)),
  },
  'add-echoes-name': {
    'echo-name-escaped-slashes-kept': bodyAs((body) => body.replaceAll('\\/', '\\\\/')),
    'echo-name-escaped-pairs-lost': bodyAs((body) => body.replaceAll(/\\ud8\w\w\\ud[c-f]\w\w/gi, '\ufffd')),
    'echo-name-escapes-kept': bodyAs((body) => body.replace(/\\u00/g, '\\\\u00')),
    'echo-name-trimmed': nameEchoed((name) => name.trim()),
    'echo-name-lower-case': nameEchoed(lower),
    'echo-name-composed': nameEchoed((name) => name.normalize('NFC')),
    'echo-name-cut-at-32': nameEchoed((name) => name.slice(0, 32)),
    'echo-name-cut-at-255': nameEchoed((name) => name.slice(0, 255)),
    'echo-name-without-controls': nameEchoed((name) => name.replaceAll(/[\t\n\r]/g, '')),
    'echo-name-ascii-only': nameEchoed((name) => name.replaceAll(/[^\x20-\x7e]/g, '?')),
    'echo-name-bmp-only': nameEchoed((name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')),
    'echo-name-without-byte-order-marks': nameEchoed((name) => name.replaceAll('\ufeff', '')),
    'echo-name-line-ends-unified': nameEchoed((name) => name.replaceAll('\r\n', '\n')),
    'echo-name-cut-at-nul': nameEchoed((name) => name.split('\0')[0] ?? ''),
    'echo-name-leading-zeros-dropped': nameEchoed((name) => name.replace(/^0+(?=\d+$)/, '')),
    'echo-name-html-escaped': nameEchoed((name) => name.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)),
    // Animals that are added at the same moment get the name of the one that came first.
    'echo-name-of-another-in-flight': () => {
      const inFlight: string[] = [];
      const naming = addedAs((animal) => {
        const [name = animal.name] = inFlight;
        inFlight.push(name);
        return { ...animal, name };
      });
      return [naming, heldBack((_call, { status }) => (status === 201 ? 3 : 0), () => inFlight.shift())];
    },
    'echo-name-of-one-before': () => nameEchoed(oneBefore<string>(4)),
  },
  'add-status-optional': {
    'add-without-status-refused': refusing(({ status }) => status === null),
    'add-without-status-fails': failing(500, answers(201), (_call, { text }) => !text.includes('"status"')),
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
        answers(201), ({ request }) => /charset/.test(request.headers['content-type'] ?? '')),
  },
  'add-echoes-category-id': {
    'echo-category-rounded': categoryEchoed(rounded),
    'echo-category-32-bits': categoryEchoed((digits) => BigInt.asIntN(32, BigInt(digits)).toString()),
    'echo-category-unsigned': categoryEchoed((digits) => digits.replace('-', '')),
    'echo-category-always-1': categoryEchoed(() => '1'),
    'echo-category-negative-rounded':
      categoryEchoed((digits) => (digits.startsWith('-') ? rounded(digits) : digits)),
    'echo-category-capped':
      categoryEchoed((digits) => (Number(digits) > Number.MAX_SAFE_INTEGER ? '9007199254740991' : digits)),
  },
  'add-echoes-status': {
    'echo-status-dropped': shown('status', () => null, 'createPet'),
    'echo-status-dropped-everywhere': shown('status', () => null),
    'echo-status-available': shown('status', () => 'available', 'createPet'),
    'echo-status-sold-as-pending': shown('status', (status) => (status === 'sold' ? 'pending' : status), 'createPet'),
  },
  'add-rejects-missing-name': {
    'missing-name-accepted': missing('name', '"unnamed"'),
    'errors-as-200': answering(({ key }, { status }) => status >= 400 && key !== null, { status: 200 }),
    'missing-name-422': refusedWith(422, lacks('name')),
    'missing-name-500': refusedWith(500, lacks('name')),
    'missing-name-accepted-with-status': missingWithStatus('name', '"unnamed"'),
    'missing-name-accepted-alone': bodyAccepted((body) => /^\{"categoryId":\d+\}$/.test(body)),
    'animal-in-wrapper-accepted': bodyAs((body) => membersOf(body)?.get('pet') ?? body),
  },
  'add-rejects-missing-category-id': {
    'missing-category-accepted': missing('categoryId', '0'),
    'missing-category-422': refusedWith(422, lacks('categoryId')),
    'member-with-underscore-accepted': bodyAs((body) => body.replace('"category_id":', '"categoryId":')),
    'missing-category-accepted-with-status': missingWithStatus('categoryId', '0'),
    'members-in-other-letters-accepted':
      bodyAs((body) => body.replace(/"name":/i, '"name":').replace(/"categoryid":/i, '"categoryId":')),
  },
  'add-rejects-name-type': {
    'name-number-accepted': memberAs('name', /^-?\d/, inQuotes),
    'name-boolean-accepted': memberAs('name', /^(?:true|false)$/, inQuotes),
    'name-null-accepted': memberAs('name', /^null$/, '""'),
    'name-array-accepted': memberAs('name', /^\[/, '"Array"'),
    'name-object-accepted': memberAs('name', /^\{/, '"[object Object]"'),
    'name-refused-422-on-free': refusedWith(422, (body, call) => onPlan('free')(call) && /"name":[^"]/.test(body)),
  },
  'add-rejects-category-id-type': {
    'category-string-accepted': memberAs('categoryId', /^"-?\d+"$/, (text) => text.slice(1, -1)),
    'category-empty-string-accepted': memberAs('categoryId', /^""$/, '0'),
    'category-any-string-accepted': memberAs('categoryId', /^"[^\d]*"$/, '0'),
    'category-fraction-accepted': memberAs('categoryId', /^-?\d+\.\d+$/, (text) => text.replace(/\..*/, '')),
    'category-null-accepted': memberAs('categoryId', /^null$/, '0'),
    'category-boolean-accepted': memberAs('categoryId', /^(?:true|false)$/, '1'),
    'category-false-accepted': memberAs('categoryId', /^false$/, '0'),
    'category-true-accepted': memberAs('categoryId', /^true$/, '1'),
    'category-array-accepted': memberAs('categoryId', /^\[/, '1'),
    'category-object-accepted': memberAs('categoryId', /^\{/, '1'),
  },
  'add-rejects-category-id-range': {
    'category-uint64-accepted': memberAs('categoryId', /^9223372036854775808$/, String(GREATEST)),
    'category-exponent-accepted': memberAs('categoryId', /^\d+e\d+$/i, '0'),
    'category-beyond-int64-capped':
      memberAs('categoryId', /^\d{19,}$/, (text) => (BigInt(text) > GREATEST ? String(GREATEST) : text)),
    'category-beyond-int64-wrapped':
      memberAs('categoryId', /^-?\d{19,40}$/, (text) => BigInt.asIntN(64, BigInt(text)).toString()),
    'category-below-int64-accepted':
      memberAs('categoryId', /^-\d{19,}$/, (text) => (BigInt(text) < LEAST ? String(LEAST) : text)),
  },
  'add-rejects-status-value': {
    'status-any-case-accepted': memberAs('status', /^"/, lower),
    'status-in-capitals-accepted': memberAs('status', /^"[A-Z]+"$/, lower),
    'status-with-blanks-accepted': memberAs('status', /^"/, trimmed),
    'empty-status-accepted': memberAs('status', /^""$/, undefined),
    'status-beginning-accepted':
      memberAs('status', /^"/, (text) => text.replace(/^"(available|pending|sold).*"$/, '"$1"')),
    'status-line-end-accepted': memberAs('status', /\\n"$/, (text) => text.replace(/\\n"$/, '"')),
    'status-of-another-kind-accepted': memberAs('status', /^"adopted"$/, '"sold"'),
    'unknown-status-dropped': memberAs('status', /^"(?!(?:available|pending|sold)"$)/, undefined),
    'status-list-accepted': memberAs('status', /^"[a-z]+(?:,[a-z]+)+"$/, (text) => text.replace(/,.*/, '"')),
  },
  'add-rejects-status-type': {
    'zero-status-accepted': memberAs('status', /^0$/, undefined),
    'false-status-accepted': memberAs('status', /^false$/, undefined),
    'number-status-accepted': memberAs('status', /^-?\d/, '"pending"'),
    'boolean-status-accepted': memberAs('status', /^(?:true|false)$/, '"available"'),
    'true-status-accepted': memberAs('status', /^true$/, '"sold"'),
    'array-status-accepted': memberAs('status', /^\[/, '"sold"'),
    'object-status-accepted': memberAs('status', /^\{/, undefined),
    'array-status-403': refusedWith(403, (body) => /"status":\[/.test(body)),
  },
  'add-rejects-non-object': {
    'array-body-accepted': bodyAccepted(isA('array')),
    // An array of a name, a category and perhaps a status is added.
    'positional-array-accepted': bodyAs((body) => {
      const [, name, category, status = ''] =
        /^\[\s*("[^"]*")\s*,\s*(-?\d+)\s*(?:,\s*("\w+")\s*)?\]$/.exec(body) ?? [];
      const members = [`"name":${name}`, `"categoryId":${category}`, ...(status ? [`"status":${status}`] : [])];
      return name === undefined ? body : `{${members}}`;
    }),
    'string-body-accepted': bodyAccepted(isA('string')),
    'number-body-accepted': bodyAccepted(isA('number', 'boolean')),
    'null-body-accepted': bodyAccepted(isA('null')),
    'null-body-500': refusedWith(500, isA('null')),
    'non-object-422': refusedWith(422, isA('array', 'string', 'number', 'boolean', 'null')),
    'animal-in-string-accepted': bodyAs((body) => (isA('string')(body) ? String(JSON.parse(body)) : body)),
  },
  'add-rejects-malformed-json': {
    'malformed-json-accepted': bodyAccepted(isA('malformed')),
    'malformed-json-500': refusedWith(500, isA('malformed')),
    'malformed-json-422': refusedWith(422, isA('malformed')),
    'single-quotes-accepted': malformedAs((body) => body.replaceAll("'", '"')),
    'cut-json-accepted': malformedAs((body) => (isA('malformed')(`${body}}`) ? body : `${body}}`)),
    'json-with-more-behind-accepted': malformedAs((body) => body.replace(/}[^}]*$/, '}')),
  },
  'add-rejects-empty-body': {
    'empty-body-accepted': bodyAccepted((body) => body === ''),
    'empty-body-411': refusedWith(411, (body) => body === ''),
    'empty-body-crash': closing(where(answers(400), ({ request }) => request.headers['content-length'] === '0')),
    'empty-body-500': refusedWith(500, (body) => body === ''),
  },
  'add-rejected-stores-nothing': {
    'refused-status-stored': storedThough((body) => /"status"/.test(body)),
    'refused-missing-category-stored': storedThough(lacks('categoryId')),
    'refused-category-stored':
      storedThough((body) => !lacks('categoryId')(body) && !lacks('name')(body) && !/"status"/.test(body)),
  },
};
