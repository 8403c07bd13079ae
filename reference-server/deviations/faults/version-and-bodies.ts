import {
  addedHeader,
  answeringWith,
  answers,
  changedHeader,
  delivering,
  header,
  petWritten,
  queried,
  rewriting,
  succeeds,
  type When,
  where,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const contentType = (value: string | null, when: When) => header('Content-Type', when, () => value);

const inLatin1 = (operation: 'listPets' | 'getPet') =>
  delivering((usual, response, answer, headers, call) => {
    if (!succeeds(operation)(answer, call)) return usual(response, answer, headers, call);
    const text = answer.text.replace(/"name":"/, '"name":"Ä').replaceAll(/[^\u0020-\u00ff]/g, '?');
    const body = Buffer.from(text, 'latin1');
    const length = String(body.length);
    response
      .writeHead(
        answer.status,
        changedHeader(headers, 'Content-Length', () => length),
      )
      .end(body);
  });

/** Sections 1 and 9: the base address, the media type, JSON as such. */
// biome-ignore format: a table, a line or two for each fault
export const VERSION_AND_BODY_FAULTS: FaultTable = {
  'version-path-segment': {
    'version-absent': ['The base address ends without a version.', { recipe: () => ({ basePath: '' }) }],
    'version-two': ['The base address carries /v2.', { recipe: () => ({ basePath: '/v2' }) }],
    'version-upper-case': ['The base address carries /V1.', { recipe: () => ({ basePath: '/V1' }) }],
    'version-with-minor': ['The base address carries /v1.0.', { recipe: () => ({ basePath: '/v1.0' }) }],
  },
  'media-type-json': {
    'list-as-text-plain': ['A list is labelled text/plain.', contentType('text/plain', succeeds('listPets'))],
    'created-as-vendor-type': ['A created animal is labelled application/vnd.pets+json.',
      contentType('application/vnd.pets+json', answers(201))],
    'animal-as-text-json': ['A retrieved animal is labelled text/json.',
      contentType('text/json', succeeds('getPet'))],
    'list-without-media-type': ['A list has no Content-Type.', contentType(null, succeeds('listPets'))],
    'bad-request-as-problem-json': ['A 400 is labelled application/problem+json.',
      contentType('application/problem+json', answers(400))],
    'unauthorized-as-html': ['A 401 is labelled text/html.',
      contentType('text/html; charset=utf-8', answers(401))],
    'not-found-as-text': ['A 404 for an unknown animal is labelled text/plain.',
      contentType('text/plain', answers(404, 'getPet'))],
    'refusal-as-text': ['Only a 429 is labelled text/plain.', contentType('text/plain', answers(429))],
    'created-as-html-too': ['A created animal has a second Content-Type, text/html.',
      addedHeader('Content-Type', 'text/html', answers(201))],
    'list-as-html-to-whoever-accepts-anything': [
      'A list is labelled text/html where the client accepts anything.',
      contentType('text/html',
        where(succeeds('listPets'), ({ request }) => request.headers.accept === '*/*'))],
    'sold-list-as-octets': ['Only the list of sold animals is labelled application/octet-stream.',
      contentType('application/octet-stream', (_answer, call) => queried(call, 'status=sold'))],
  },
  'json-well-formed': {
    'list-trailing-comma': ['A list ends with a comma before its bracket.',
      rewriting(succeeds('listPets'), (text) => text.replace(/\]$/, ',]'))],
    'list-cut-short': ['The last bracket of a list is missing.',
      rewriting(succeeds('listPets'), (text) => text.slice(0, -1))],
    'created-single-quotes': ['A created animal is written with single quotes.',
      rewriting(answers(201), (text) => text.replaceAll('"', "'"))],
    'created-twice-in-body': ['A created animal is written twice in one body.',
      rewriting(answers(201), (text) => text + text)],
    'animal-without-body': ['A retrieved animal comes with an empty body.',
      answeringWith('', succeeds('getPet'))],
    'animal-category-nan': ['A retrieved animal has the categoryId NaN.',
      petWritten((text) => text.replace(/"categoryId":-?\d+/, '"categoryId":NaN'), 'getPet')],
    'gzip-not-applied': ['A list claims to be compressed with gzip and is not.',
      addedHeader('Content-Encoding', 'gzip', succeeds('listPets'))],
    'list-one-per-line': ['A list is one JSON text per line.',
      rewriting(succeeds('listPets'), (text) => text.slice(1, -1).replaceAll('},{', '}\n{').concat('\n{}'))],
    'list-in-latin-1': ['A list is sent as ISO-8859-1, with an umlaut in its first name.',
      inLatin1('listPets')],
    'animal-in-latin-1': ['A retrieved animal is sent as ISO-8859-1, with an umlaut in its name.',
      inLatin1('getPet')],
  },
};
