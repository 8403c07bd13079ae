import type { Answer } from '../../answer.ts';
import type { Call } from '../../design.ts';
import type { NewPet } from '../../pet-store.ts';
import { onPlan, withoutKey } from '../admission.ts';
import { petWritten, shown } from '../animals.ts';
import { answering, answers, delivering, heldBack, otherErrors, rewriting, succeeds } from '../answers.ts';
import type { DeviationTable } from '../deviation.ts';
import { addedHeader, changedHeader, header } from '../headers.ts';
import { membersOf } from '../reading.ts';
import { adding } from '../store.ts';
import { knowingSeen, ofEach, oneBefore, queried, type When, where } from '../when.ts';

const contentType = (value: string | null, when: When) => header('Content-Type', when, () => value);

const inLatin1 = (operation: 'listPets' | 'getPet') =>
  delivering((usual, response, answer, headers, call) => {
    if (!succeeds(operation)(call, answer)) return usual(response, answer, headers, call);
    const text = answer.text.replace(/"name":"/, '"name":"Ä').replaceAll(/[^\u0020-\u00ff]/g, '?');
    const body = Buffer.from(text, 'latin1');
    const own = changedHeader(headers, 'Content-Length', () => String(body.length));
    response.writeHead(answer.status, own).end(body);
  });

const member = (name: string) => `"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`;
const without = (name: string) => (text: string) =>
  text.replace(new RegExp(`,?${member(name)}`), '').replace('{,', '{');
const fieldAs = (name: string, value: string) => (text: string) =>
  text.replace(new RegExp(member(name)), `"${name}":${value}`);
const statusText = (text: string, answer: Answer) => fieldAs('status', `"${answer.status}"`)(text);

const bodyOf = (when: When, text: string) => answering(when, { text });
const PAGE = '<html><body><h1>An error has occurred</h1></body></html>';
const acceptsAnything = ({ request }: Call) => !/json/.test(request.headers.accept ?? '');
const html = (when: When) => [bodyOf(when, PAGE), contentType('text/html; charset=utf-8', when)];

const onMalformed = where(answers(400), (_call, { text }) => text.includes('"malformed_json"'));
const onUnknownAnimal = answers(404, 'getPet');

// Digits stand in an animal's JSON as they are, so anything can stand in their place.
const asText = (digits: string) => `"${digits}"`;
const upperStatus = (text: string) =>
  text.replace(/"status":"(\w+)"/, (_all, status: string) => `"status":"${status.toUpperCase()}"`);
const statusIfNone = (written: string) => (text: string) =>
  text.includes('"status"') ? text : text.replace(/}$/, `,"status":${written}}`);

/** Puts an added animal under another id, where there is one. */
const puttingUnder = (idOf: (animal: NewPet, call: Call) => string | undefined) =>
  adding((usual, animal, call) => {
    const id = idOf(animal, call);
    return id === undefined ? usual(animal, call) : call.service.store.put({ ...animal, id });
  });

/** Takes the id that a client sends, where it is so long. */
const takingOver = (length: number) =>
  puttingUnder((_animal, { body }) => {
    const digits = membersOf(body)?.get('id')?.replaceAll('"', '') ?? '';
    return digits.length >= length && /^-?\d{1,18}$/.test(digits) ? digits : undefined;
  });

/** Sections 1, 2, 7 and 9: the base address, the media type, JSON as such, the body of every error, the fields of every animal. */
// biome-ignore format: a table, a line for most faults
export const BODY_FAULTS: DeviationTable = {
  'version-path-segment': {
    'version-absent': { basePath: '' },
    'version-two': { basePath: '/v2' },
    'version-upper-case': { basePath: '/V1' },
    'version-with-minor': { basePath: '/v1.0' },
  },
  'media-type-json': {
    'list-as-text-plain': contentType('text/plain', succeeds('listPets')),
    'created-as-vendor-type': contentType('application/vnd.pets+json', answers(201)),
    'animal-as-text-json': contentType('text/json', succeeds('getPet')),
    'list-without-media-type': contentType(null, succeeds('listPets')),
    'bad-request-as-problem-json': contentType('application/problem+json', answers(400)),
    'unauthorized-as-html': contentType('text/html; charset=utf-8', answers(401)),
    'not-found-as-text': contentType('text/plain', answers(404, 'getPet')),
    'refusal-as-text': contentType('text/plain', answers(429)),
    'created-as-html-too': addedHeader('Content-Type', 'text/html', answers(201)),
    'list-as-html-to-whoever-accepts-anything': contentType('text/html',
        where(succeeds('listPets'), ({ request }) => request.headers.accept === '*/*')),
    'sold-list-as-octets': contentType('application/octet-stream', queried('status=sold')),
  },
  'json-well-formed': {
    'list-trailing-comma': rewriting(succeeds('listPets'), (text) => text.replace(/\]$/, ',]')),
    'list-cut-short': rewriting(succeeds('listPets'), (text) => text.slice(0, -1)),
    'created-single-quotes': rewriting(answers(201), (text) => text.replaceAll('"', "'")),
    'created-twice-in-body': rewriting(answers(201), (text) => text + text),
    'animal-without-body': bodyOf(succeeds('getPet'), ''),
    'animal-category-nan':
      petWritten((text) => text.replace(/"categoryId":-?\d+/, '"categoryId":NaN'), 'getPet'),
    'gzip-not-applied': addedHeader('Content-Encoding', 'gzip', succeeds('listPets')),
    'list-one-per-line':
      rewriting(succeeds('listPets'), (text) => text.slice(1, -1).replaceAll('},{', '}\n{').concat('\n{}')),
    'list-in-latin-1': inLatin1('listPets'),
    'animal-in-latin-1': inLatin1('getPet'),
  },
  'error-status-matches': {
    'error-status-zero': rewriting((_call, { status }) => status >= 400, fieldAs('status', '0')),
    'error-status-400-for-404': rewriting(answers(404), fieldAs('status', '400')),
    'error-status-403-for-401': rewriting(answers(401), fieldAs('status', '403')),
    'error-status-422-for-400': rewriting(answers(400), fieldAs('status', '422')),
    'error-status-503-for-429': rewriting(answers(429), fieldAs('status', '503')),
    'error-status-200-on-get': rewriting(onUnknownAnimal, fieldAs('status', '200')),
  },
  'error-texts-not-empty': {
    'error-code-empty': rewriting(answers(400), fieldAs('code', '""')),
    'error-message-empty': rewriting(answers(401), fieldAs('message', '""')),
    'error-404-message-empty': rewriting(onUnknownAnimal, fieldAs('message', '""')),
  },
  'error-body-400': {
    'error-400-empty': bodyOf(answers(400), ''),
    'error-400-without-code': rewriting(answers(400), without('code')),
    'error-400-code-number': rewriting(answers(400), fieldAs('code', '1001')),
    'error-400-nested': rewriting(answers(400), (text) => `{"error":${text}}`),
    'error-400-status-text': rewriting(answers(400), statusText),
    'error-400-array': rewriting(answers(400), (text) => `[${text}]`),
    'error-400-html-when-malformed': html(onMalformed),
    'error-400-html-unless-json-is-asked': html(where(answers(400), acceptsAnything)),
    'error-400-empty-on-list': bodyOf(answers(400, 'listPets'), ''),
  },
  'error-body-401': {
    'error-401-empty': bodyOf(answers(401), ''),
    'error-401-html': html(answers(401)),
    'error-401-html-unless-json-is-asked': html(where(answers(401), acceptsAnything)),
    'error-401-without-message': rewriting(answers(401), without('message')),
    'error-401-without-status': rewriting(answers(401), without('status')),
    'error-401-text-without-key': bodyOf(where(answers(401), withoutKey), 'Unauthorized'),
    'error-401-empty-on-add': bodyOf(answers(401, 'createPet'), '{}'),
  },
  'error-body-404': {
    'error-404-empty': bodyOf(onUnknownAnimal, ''),
    'error-404-null': bodyOf(onUnknownAnimal, 'null'),
    'error-404-message-null': rewriting(onUnknownAnimal, fieldAs('message', 'null')),
    'wrong-method-not-found-html': answering(answers(405), { text: PAGE, status: 404 }),
    'error-404-html-unless-json-is-asked': html(where(onUnknownAnimal, acceptsAnything)),
    'error-404-detail': bodyOf(onUnknownAnimal, '{"detail":"Not Found"}'),
    'error-404-status-text': rewriting(onUnknownAnimal, statusText),
    'error-404-code-number-on-pro': rewriting(where(onUnknownAnimal, onPlan('pro')), fieldAs('code', '404')),
  },
  'error-body-429': {
    'error-429-empty': bodyOf(answers(429), ''),
    'error-429-text': bodyOf(answers(429), 'Too Many Requests'),
    'error-429-without-code': rewriting(answers(429), without('code')),
    'error-429-string': bodyOf(answers(429), '"Too Many Requests"'),
    'error-429-html-on-add': html(answers(429, 'createPet')),
  },
  'error-body-other': {
    'error-other-empty': bodyOf(otherErrors, ''),
    'error-other-html': html(otherErrors),
    'wrong-method-html': html(answers(405)),
    'error-other-without-message': rewriting(otherErrors, without('message')),
  },
  'list-pet-schema': {
    'list-id-as-text': shown('id', asText, 'listPets'),
    'list-without-id': petWritten(without('id'), 'listPets'),
    'list-without-name': petWritten(without('name'), 'listPets'),
    'list-category-in-snake-case':
      petWritten((text) => text.replace('"categoryId"', '"category_id"'), 'listPets'),
    'list-category-as-text': shown('categoryId', asText, 'listPets'),
    'list-status-upper-case': petWritten(upperStatus, 'listPets'),
    'list-status-null': petWritten(statusIfNone('null'), 'listPets'),
    'list-sold-spelled-otherwise':
      petWritten((text) => text.replace('"status":"sold"', '"status":"gone"'), 'listPets'),
    'list-last-without-category':
      rewriting(succeeds('listPets'), (text) => text.replace(/\{"id":(?!.*\{"id":).*$/s, without('categoryId'))),
    'list-id-beyond-int64':
      rewriting(succeeds('listPets'), (text) => text.replace(/"id":-?\d+/, '"id":9223372036854775808')),
    'list-name-null': petWritten((text, { name }) => /^[\x20-\x7e]*$/.test(name) ? text
        : text.replace(`"name":${JSON.stringify(name)}`, '"name":null'), 'listPets'),
  },
  'add-pet-schema': {
    'created-id-as-text': shown('id', asText, 'createPet'),
    'created-without-id': petWritten(without('id'), 'createPet'),
    'created-without-category': petWritten(without('categoryId'), 'createPet'),
    'created-status-null': petWritten(statusIfNone('null'), 'createPet'),
    'created-wrapped': rewriting(succeeds('createPet'), (text) => `{"pet":${text}}`),
    'created-id-as-fraction': shown('id', (id) => `${id}.5`, 'createPet'),
    'created-digits-as-number':
      petWritten((text) => text.replace(/"name":"0*(\d+)"/, '"name":$1'), 'createPet'),
    'created-name-null': petWritten((text) => text.replace('"name":"null"', '"name":null'), 'createPet'),
    'created-status-empty': petWritten(statusIfNone('""'), 'createPet'),
    'created-without-category-0': petWritten((text, pet) =>
        pet.categoryId === '0' ? without('categoryId')(text) : text, 'createPet'),
  },
  'get-pet-schema': {
    'animal-id-as-text': shown('id', asText, 'getPet'),
    'animal-without-name': petWritten(without('name'), 'getPet'),
    'animal-category-as-text': shown('categoryId', asText, 'getPet'),
    'animal-status-upper-case': petWritten(upperStatus, 'getPet'),
    'animal-status-as-number': petWritten((text) => text.replace(/"status":"\w+"/, '"status":1'), 'getPet'),
    'animal-in-array': rewriting(succeeds('getPet'), (text) => `[${text}]`),
    'get-without-name-on-pro':
      petWritten((text, _pet, call) => onPlan('pro')(call) ? without('name')(text) : text, 'getPet'),
  },
  'pet-id-assigned-by-service': {
    'id-of-client-kept': takingOver(1),
    'large-id-of-client-kept': takingOver(10),
  },
  'pet-id-unique': {
    'id-from-clock': puttingUnder((_animal, call) => String(Math.floor(call.now / 1000))),
    'id-every-other-repeated': ({ nextId }) => {
      const repeated = oneBefore<string>(2);
      return { nextId: () => repeated(nextId()) };
    },
    'id-of-existing-animal': knowingSeen((isSeen) => puttingUnder((_animal, { service }) =>
        isSeen('an addition') ? undefined : service.store.all.at(-1)?.id)),
    'id-per-category': () => {
      const last = ofEach(() => ({ id: 5_000_000 }));
      return puttingUnder(({ categoryId }) => String(++last(categoryId).id));
    },
    // Animals added at one moment share an id: it is read on arrival and counted up with the answer.
    'id-races': () => {
      let free = 8_000_000_000;
      const countedUp = heldBack((_call, { status }) => (status === 201 ? 3 : 0), () => { free += 1; });
      return [puttingUnder(() => String(free)), countedUp];
    },
  },
};
