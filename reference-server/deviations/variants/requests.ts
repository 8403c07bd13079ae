import type { Call } from '../../call.ts';
import { badRequest, type Problem, problem } from '../../error-body.ts';
import { int64FromPath } from '../../int64.ts';
import { isAskedFor, type ListQuery, readListQuery } from '../../list-query.ts';
import type { Personality } from '../personality.ts';
import {
  answeringWith,
  finding,
  memberAs,
  readingPet,
  readingQuery,
  rewriting,
  selecting,
  sendingHeaders,
} from '../shapes.ts';
import { type Answer, answer } from './variant.ts';

/** Answers about requests that the document does not describe: values out of range, unknown ones, other paths. */

function parameter(search: string, name: string): string | undefined {
  return new URLSearchParams(search).get(name) ?? undefined;
}

/** Reads a list's query again without what was wrong with it, and puts a limit or status of its own there. */
const lenient = (
  code: string,
  repair: (search: string) => { without: string; query?: Partial<ListQuery> } | null,
): Personality =>
  readingQuery((usual, search, call) => {
    const read = usual(search, call);
    if (!('problem' in read) || read.problem.code !== code) return read;
    const repaired = repair(search);
    if (repaired === null) return read;
    const rest = search
      .split('&')
      .filter((pair) => !pair.startsWith(`${repaired.without}=`))
      .join('&');
    const again = usual(rest, call);
    return 'problem' in again ? again : { query: { ...again.query, ...repaired.query } };
  });

function outOfRange(limitFor: (asked: number) => number | undefined): Personality {
  return lenient('invalid_limit', (search) => {
    const text = parameter(search, 'limit') ?? '';
    if (!/^-?\d+$/.test(text)) return null;
    const limit = limitFor(Number(text));
    return limit === undefined ? { without: 'limit' } : { without: 'limit', query: { limit } };
  });
}

export const limitClamped: Answer = answer(
  'limit-out-of-range',
  'clamped',
  outOfRange((asked) => Math.min(100, Math.max(1, asked))),
);
export const limitDefaulted: Answer = answer(
  'limit-out-of-range',
  'defaulted',
  outOfRange(() => undefined),
);
/** The range is not looked at: 1000 gives a thousand, 0 gives none. */
export const limitRangeIgnored: Answer = answer(
  'limit-out-of-range',
  'ignored',
  outOfRange((asked) => Math.min(1_000, Math.max(0, asked))),
);
export const wordLimitDefaulted: Answer = answer(
  'limit-not-a-number',
  'defaulted',
  lenient('invalid_limit', (search) =>
    /^-?\d+$/.test(parameter(search, 'limit') ?? '') ? null : { without: 'limit' },
  ),
);

export const unknownStatusUnfiltered: Answer = answer(
  'unknown-status-filter',
  'unfiltered',
  lenient('invalid_status', () => ({ without: 'status' })),
);
export const unknownStatusEmpty: Answer = answer(
  'unknown-status-filter',
  'empty-list',
  lenient('invalid_status', () => ({ without: 'status', query: { limit: 0 } })),
);

export const malformedIdRefused: Answer = answer(
  'malformed-id',
  'rejected-400',
  finding((usual, petId, call) =>
    int64FromPath(petId) === null
      ? badRequest('invalid_id', 'The id of an animal is an integer of 64 bits.')
      : usual(petId, call),
  ),
);

export const idsAboveZero: Answer = answer(
  'malformed-id',
  'rejected-400',
  finding((usual, petId, call) =>
    /^[1-9]\d*$/.test(petId)
      ? usual(petId, call)
      : badRequest('invalid_id', 'The id of an animal is above 0.'),
  ),
);

export const nullStatusOmitted: Answer = answer(
  'null-status',
  'taken-as-omitted',
  memberAs('status', (text) => (text === 'null' ? undefined : text)),
);

/** Keys have permissions: one of them may read and not add. */
export const readOnly = (name: string): Answer =>
  answer(
    'permissions-of-keys',
    `${name}-reads-only`,
    readingPet((usual, body, call) =>
      call.key?.name === name
        ? { problem: problem(403, 'forbidden', 'This key may read only.') }
        : usual(body, call),
    ),
  );

const mediaType = (refusal: Problem | null): Personality => ({
  behaviour: () => ({ refuseMediaType: () => refusal }),
});
export const otherMediaTypeRefused400: Answer = answer(
  'unsupported-media-type',
  'rejected-400',
  mediaType(badRequest('unsupported_media_type', 'The request body must be application/json.')),
);
export const anyMediaTypeRead: Answer = answer('unsupported-media-type', 'accepted', mediaType(null));

export const storeOrders: Answer = answer(
  'store-orders',
  'present',
  answeringWith(
    '[]',
    (usual, { request }) =>
      usual.status === 404 && request.method === 'GET' && /\/store\/orders(?:\?|$)/.test(request.url ?? ''),
    200,
  ),
);

/** Errors carry fields of the server's own beside the three of the document. */
export const wordyErrors: Answer = answer(
  'error-codes',
  'upper-case, with details',
  rewriting(
    (usual) => usual.status >= 400 && usual.text.startsWith('{"code":'),
    (text) =>
      text
        .replace(/^{"code":"(\w+)"/, (_all, code: string) => `{"code":"ERR.${code.toUpperCase()}"`)
        .replace(/}$/, ',"details":[],"traceId":"00-0af7651916cd43dd8448eb211c80319c-01"}'),
  ),
);

/** Pages by number: `page` beside limit, and the next one in a Link header (RFC 8288). */
export const linkedPages: Answer = answer(
  'pagination-mechanism',
  'link-header',
  selecting((usual, query, call, { store }) => {
    const number = pageOf(call);
    if (number === 1) return usual(query, call);
    const end = query.limit * number;
    return usual({ ...query, limit: Math.min(end, store.all.length) }, call).slice(end - query.limit);
  }),
  sendingHeaders((usual, answered, call, { store }) => {
    const headers = usual(answered, call);
    if (answered.status !== 200 || call.route.operation !== 'listPets') return headers;
    const read = readListQuery(call.route.search);
    if ('problem' in read) return headers;
    const { limit, status } = read.query;
    const number = pageOf(call);
    const listed = store.all.filter((pet) => isAskedFor(read.query, pet));
    if (limit * number >= listed.length) return headers;
    const filter = status === null ? '' : `&status=${status}`;
    headers.push('Link', `<pets?limit=${limit}${filter}&page=${number + 1}>; rel="next"`);
    return headers;
  }),
);

function pageOf({ route }: Call): number {
  const number = route.operation === 'listPets' ? Number(parameter(route.search, 'page') ?? '1') : 1;
  return Number.isInteger(number) && number >= 1 ? Math.min(number, 1_000_000) : 1;
}
