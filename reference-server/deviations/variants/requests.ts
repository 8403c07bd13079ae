import { badRequest } from '../../answer.ts';
import type { Call } from '../../design.ts';
import { int64FromPath } from '../../int64.ts';
import { isAskedFor, type ListQuery, readListQuery } from '../../list-query.ts';
import { admitting } from '../admission.ts';
import { answering, rewriting, succeeds } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { header, headersAbsent, RATE_HEADERS } from '../headers.ts';
import { memberAs, readingQuery } from '../reading.ts';
import { finding, selecting } from '../store.ts';

const parameter = (search: string, name: string) => new URLSearchParams(search).get(name) ?? undefined;

/** Reads a list's query again without a parameter that was refused, and puts something in its place; null leaves it. */
const lenient = (name: keyof ListQuery, instead: (text: string) => Partial<ListQuery> | null): Deviation =>
  readingQuery((usual, search, call) => {
    const read = usual(search, call);
    if (!('text' in read) || !read.text.includes(`"invalid_${name}"`)) return read;
    const query = instead(parameter(search, name) ?? '');
    if (query === null) return read;
    const rest = search.split('&').filter((pair) => !pair.startsWith(`${name}=`));
    const again = usual(rest.join('&'), call);
    return 'text' in again ? again : { ...again, ...query };
  });

const isInteger = (text: string) => /^-?\d+$/.test(text);
const outOfRange = (instead: (asked: number) => Partial<ListQuery>): Deviation =>
  lenient('limit', (text) => (isInteger(text) ? instead(Number(text)) : null));

/** Takes the ids of animals that pass a test, and refuses others. */
const idsThat = (pass: (petId: string) => boolean, rule: string) =>
  finding((usual, petId, call) => (pass(petId) ? usual(petId, call) : badRequest('invalid_id', rule)));

function pageOf({ route }: Call): number {
  const number = Number(parameter(route.search, 'page') ?? '1');
  return Number.isInteger(number) && number >= 1 ? Math.min(number, 1_000_000) : 1;
}

/** Pages by number: `page` beside limit, and the next one in a Link header (RFC 8288). */
const linkedPages = [
  selecting((usual, query, call) => {
    const end = query.limit * pageOf(call);
    return usual({ ...query, limit: end }, call).slice(end - query.limit);
  }),
  answering(succeeds('listPets'), ({ headers }, call) => {
    const read = readListQuery(call.route.search);
    if ('text' in read) return {};
    const { limit, status } = read;
    const number = pageOf(call);
    const listed = call.service.store.all.filter((pet) => isAskedFor(read, pet));
    if (limit * number >= listed.length) return {};
    const filter = status === null ? '' : `&status=${status}`;
    return { headers: [...headers, 'Link', `<pets?limit=${limit}${filter}&page=${number + 1}>; rel="next"`] };
  }),
];

const isOtherPath = ({ request: { url = '' } }: Call) => !/^\/v1\/pets(?:[/?]|$)/.test(url);

/** Requests that the document does not describe: values out of range, unknown ones, other paths. */
// biome-ignore format: a table, a line for most answers
export const REQUEST_ANSWERS = {
  'limit-out-of-range': {
    clamped: outOfRange((asked) => ({ limit: Math.min(100, Math.max(1, asked)) })),
    defaulted: outOfRange(() => ({})),
    // The range is not looked at: 1000 gives a thousand, 0 gives none.
    ignored: outOfRange((asked) => ({ limit: Math.min(1_000, Math.max(0, asked)) })),
  },
  'limit-not-a-number': {
    defaulted: lenient('limit', (text) => (isInteger(text) ? null : {})),
  },
  'unknown-status-filter': {
    unfiltered: lenient('status', () => ({})),
    'empty-list': lenient('status', () => ({ limit: 0 })),
  },
  'malformed-id': {
    'rejected-400': idsThat((petId) => int64FromPath(petId) !== null, 'The id of an animal is an int64.'),
    'rejected-400 (and below 1)':
      idsThat((petId) => /^[1-9]\d*$/.test(petId), 'The id of an animal is above 0.'),
  },
  'null-status': {
    'taken-as-omitted': memberAs('status', /^null$/, undefined),
  },
  'unsupported-media-type': {
    'rejected-400': { refuseMediaType: () => badRequest('unsupported_media_type', 'The body must be application/json.') },
    accepted: { refuseMediaType: () => null },
  },
  'store-orders': {
    present: answering(({ request: { method, url = '' } }, { status }) =>
        status === 404 && method === 'GET' && /\/store\/orders(?:\?|$)/.test(url), { text: '[]', status: 200 }),
  },
  // A router answers what it does not know, before anything is counted.
  'other-paths': {
    'html, uncounted': [
      admitting((usual, key, call) =>
        isOtherPath(call) ? { quota: call.quota, refusedBy: null, refusal: null } : usual(key, call)),
      answering(isOtherPath, { text: '<h1>Not Found</h1>' }),
      header('Content-Type', isOtherPath, () => 'text/html'),
      headersAbsent(isOtherPath, ...RATE_HEADERS),
    ],
  },
  // Errors carry fields of the server's own beside the three of the document.
  'error-codes': {
    'upper-case, with details': rewriting((_call, { status, text }) => status >= 400 && text.startsWith('{"code":'),
      (text) => text
        .replace(/^{"code":"(\w+)"/, (_all, code: string) => `{"code":"ERR.${code.toUpperCase()}"`)
        .replace(/}$/, ',"details":[],"traceId":"00-0af7651916cd43dd8448eb211c80319c-01"}')),
  },
  'pagination-mechanism': { 'link-header': linkedPages },
} as const satisfies DeviationTable;
