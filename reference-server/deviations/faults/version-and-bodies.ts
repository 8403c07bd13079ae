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
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';

const MEDIA = 'media-type-json';
const JSON_TEXT = 'json-well-formed';

const contentType = (value: string | null) => () => value;

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'version-path-segment': {
    'version-absent': ['The base address ends without a version.', { recipe: () => ({ basePath: '' }) }],
    'version-two': ['The base address carries /v2.', { recipe: () => ({ basePath: '/v2' }) }],
    'version-upper-case': ['The base address carries /V1.', { recipe: () => ({ basePath: '/V1' }) }],
    'version-with-minor': ['The base address carries /v1.0.', { recipe: () => ({ basePath: '/v1.0' }) }],
  },
  'media-type-json': {
    'list-as-text-plain': ['A list is labelled text/plain.',
      header('Content-Type', succeeds('listPets'), contentType('text/plain'))],
    'created-as-vendor-type': ['A created animal is labelled application/vnd.pets+json.',
      header('Content-Type', answers(201), contentType('application/vnd.pets+json'))],
    'animal-as-text-json': ['A retrieved animal is labelled text/json.',
      header('Content-Type', succeeds('getPet'), contentType('text/json'))],
    'list-without-media-type': ['A list has no Content-Type.',
      header('Content-Type', succeeds('listPets'), contentType(null))],
    'bad-request-as-problem-json': ['A 400 is labelled application/problem+json.',
      header('Content-Type', answers(400), contentType('application/problem+json'))],
    'unauthorized-as-html': ['A 401 is labelled text/html.',
      header('Content-Type', answers(401), contentType('text/html; charset=utf-8'))],
    'not-found-as-text': ['A 404 for an unknown animal is labelled text/plain.',
      header('Content-Type', answers(404, 'getPet'), contentType('text/plain'))],
    'refusal-as-text': ['Only a 429 is labelled text/plain.',
      header('Content-Type', answers(429), contentType('text/plain'))],
    'created-as-html-too': ['A created animal has a second Content-Type, text/html.',
      addedHeader('Content-Type', 'text/html', answers(201))],
  },
  'json-well-formed': {
    'list-trailing-comma': ['A list ends with a comma before its bracket.',
      answering(succeeds('listPets'), (answer) => withBody(answer, answer.text.replace(/\]$/, ',]')))],
    'list-cut-short': ['The last bracket of a list is missing.',
      answering(succeeds('listPets'), (answer) => withBody(answer, answer.text.slice(0, -1)))],
    'created-single-quotes': ['A created animal is written with single quotes.',
      answering(answers(201), (answer) => withBody(answer, answer.text.replaceAll('"', "'")))],
    'created-twice-in-body': ['A created animal is written twice in one body.',
      answering(answers(201), (answer) => withBody(answer, answer.text + answer.text))],
    'animal-without-body': ['A retrieved animal comes with an empty body.',
      answering(succeeds('getPet'), (answer) => withBody(answer, ''))],
    'animal-category-nan': ['A retrieved animal has the categoryId NaN.',
      petWritten((text) => text.replace(/"categoryId":-?\d+/, '"categoryId":NaN'), 'getPet')],
    'gzip-not-applied': ['A list claims to be compressed with gzip and is not.',
      addedHeader('Content-Encoding', 'gzip', succeeds('listPets'))],
  },
};

/** Sections 1 and 9: the base address, the media type, JSON as such. */
export const VERSION_AND_BODY_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
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
    'list-one-per-line',
    JSON_TEXT,
    'A list is one JSON text per line.',
    answering(succeeds('listPets'), (answer) =>
      withBody(answer, answer.text.slice(1, -1).replaceAll('},{', '}\n{').concat('\n{}')),
    ),
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
];
