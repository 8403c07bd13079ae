import {
  addedHeader,
  answering,
  answers,
  header,
  petWritten,
  queried,
  succeeds,
  withBody,
} from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

const VERSION = 'version-path-segment';
const MEDIA = 'media-type-json';
const JSON_TEXT = 'json-well-formed';

const contentType = (value: string | null) => () => value;

/** Sections 1 and 9: the base address, the media type, JSON as such. */
export const VERSION_AND_BODY_FAULTS: readonly Fault[] = [
  fault('version-absent', VERSION, 'The base address ends without a version.', {
    recipe: () => ({ basePath: '' }),
  }),
  fault('version-two', VERSION, 'The base address carries /v2.', { recipe: () => ({ basePath: '/v2' }) }),
  fault('version-upper-case', VERSION, 'The base address carries /V1.', {
    recipe: () => ({ basePath: '/V1' }),
  }),
  fault('version-with-minor', VERSION, 'The base address carries /v1.0.', {
    recipe: () => ({ basePath: '/v1.0' }),
  }),

  fault(
    'list-as-text-plain',
    MEDIA,
    'A list is labelled text/plain.',
    header('Content-Type', succeeds('listPets'), contentType('text/plain')),
  ),
  fault(
    'list-as-html-to-whoever-accepts-anything',
    MEDIA,
    'A list is labelled text/html where the client accepts anything.',
    header(
      'Content-Type',
      (answer, call) => succeeds('listPets')(answer, call) && call.request.headers.accept === '*/*',
      contentType('text/html'),
    ),
  ),
  fault(
    'created-as-vendor-type',
    MEDIA,
    'A created animal is labelled application/vnd.pets+json.',
    header('Content-Type', answers(201), contentType('application/vnd.pets+json')),
  ),
  fault(
    'animal-as-text-json',
    MEDIA,
    'A retrieved animal is labelled text/json.',
    header('Content-Type', succeeds('getPet'), contentType('text/json')),
  ),
  fault(
    'list-without-media-type',
    MEDIA,
    'A list has no Content-Type.',
    header('Content-Type', succeeds('listPets'), contentType(null)),
  ),
  fault(
    'bad-request-as-problem-json',
    MEDIA,
    'A 400 is labelled application/problem+json.',
    header('Content-Type', answers(400), contentType('application/problem+json')),
  ),
  fault(
    'unauthorized-as-html',
    MEDIA,
    'A 401 is labelled text/html.',
    header('Content-Type', answers(401), contentType('text/html; charset=utf-8')),
  ),
  fault(
    'not-found-as-text',
    MEDIA,
    'A 404 for an unknown animal is labelled text/plain.',
    header('Content-Type', answers(404, 'getPet'), contentType('text/plain')),
  ),
  fault(
    'refusal-as-text',
    MEDIA,
    'Only a 429 is labelled text/plain.',
    header('Content-Type', answers(429), contentType('text/plain')),
  ),
  fault(
    'sold-list-as-octets',
    MEDIA,
    'Only the list of sold animals is labelled application/octet-stream.',
    header(
      'Content-Type',
      (_answer, call) => queried(call, 'status=sold'),
      contentType('application/octet-stream'),
    ),
  ),

  fault(
    'created-as-html-too',
    MEDIA,
    'A created animal has a second Content-Type, text/html.',
    addedHeader('Content-Type', 'text/html', answers(201)),
  ),

  fault(
    'list-trailing-comma',
    JSON_TEXT,
    'A list ends with a comma before its bracket.',
    answering(succeeds('listPets'), (answer) => withBody(answer, answer.text.replace(/\]$/, ',]'))),
  ),
  fault(
    'list-cut-short',
    JSON_TEXT,
    'The last bracket of a list is missing.',
    answering(succeeds('listPets'), (answer) => withBody(answer, answer.text.slice(0, -1))),
  ),
  fault(
    'list-one-per-line',
    JSON_TEXT,
    'A list is one JSON text per line.',
    answering(succeeds('listPets'), (answer) =>
      withBody(answer, answer.text.slice(1, -1).replaceAll('},{', '}\n{').concat('\n{}')),
    ),
  ),
  fault(
    'created-single-quotes',
    JSON_TEXT,
    'A created animal is written with single quotes.',
    answering(answers(201), (answer) => withBody(answer, answer.text.replaceAll('"', "'"))),
  ),
  fault(
    'created-twice-in-body',
    JSON_TEXT,
    'A created animal is written twice in one body.',
    answering(answers(201), (answer) => withBody(answer, answer.text + answer.text)),
  ),
  fault(
    'animal-without-body',
    JSON_TEXT,
    'A retrieved animal comes with an empty body.',
    answering(succeeds('getPet'), (answer) => withBody(answer, '')),
  ),
  fault(
    'animal-category-nan',
    JSON_TEXT,
    'A retrieved animal has the categoryId NaN.',
    petWritten((text) => text.replace(/"categoryId":-?\d+/, '"categoryId":NaN'), 'getPet'),
  ),
  fault('list-in-latin-1', JSON_TEXT, 'A list is sent as ISO-8859-1, with an umlaut in its first name.', {
    behaviour: (usual) => ({
      finish(answer, call) {
        const last = usual.finish(answer, call);
        if (!succeeds('listPets')(last, call)) return last;
        const text = last.text.replace(/"name":"/, '"name":"Ä').replaceAll(/[^\u0020-\u00ff]/g, '?');
        return { ...last, text, wire: text };
      },
    }),
  }),
  fault(
    'gzip-not-applied',
    JSON_TEXT,
    'A list claims to be compressed with gzip and is not.',
    addedHeader('Content-Encoding', 'gzip', succeeds('listPets')),
  ),
];
