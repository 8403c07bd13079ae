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
// biome-ignore format: a table, a line for most faults
export const VERSION_AND_BODY_FAULTS: FaultTable = {
  'version-path-segment': {
    'version-absent': { recipe: () => ({ basePath: '' }) },
    'version-two': { recipe: () => ({ basePath: '/v2' }) },
    'version-upper-case': { recipe: () => ({ basePath: '/V1' }) },
    'version-with-minor': { recipe: () => ({ basePath: '/v1.0' }) },
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
    'sold-list-as-octets':
      contentType('application/octet-stream', (_answer, call) => queried(call, 'status=sold')),
  },
  'json-well-formed': {
    'list-trailing-comma': rewriting(succeeds('listPets'), (text) => text.replace(/\]$/, ',]')),
    'list-cut-short': rewriting(succeeds('listPets'), (text) => text.slice(0, -1)),
    'created-single-quotes': rewriting(answers(201), (text) => text.replaceAll('"', "'")),
    'created-twice-in-body': rewriting(answers(201), (text) => text + text),
    'animal-without-body': answeringWith('', succeeds('getPet')),
    'animal-category-nan':
      petWritten((text) => text.replace(/"categoryId":-?\d+/, '"categoryId":NaN'), 'getPet'),
    'gzip-not-applied': addedHeader('Content-Encoding', 'gzip', succeeds('listPets')),
    'list-one-per-line':
      rewriting(succeeds('listPets'), (text) => text.slice(1, -1).replaceAll('},{', '}\n{').concat('\n{}')),
    'list-in-latin-1': inLatin1('listPets'),
    'animal-in-latin-1': inLatin1('getPet'),
  },
};
