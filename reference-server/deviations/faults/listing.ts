import type { Call } from '../../call.ts';
import { badRequest } from '../../error-body.ts';
import { type Personality, together } from '../personality.ts';
import {
  answering,
  answeringAs,
  answeringWith,
  asksForStatus,
  everyNth,
  failing,
  queried,
  readingQuery,
  rewriting,
  succeeds,
  type When,
  where,
  withError,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

/** Takes another limit than the one that was asked for; null refuses it. `absent` tells that none was sent. */
const readingLimit = (
  change: (limit: number, absent: boolean, filtered: boolean, call: Call) => number | null,
): Personality =>
  readingQuery((usual, search, call) => {
    const read = usual(search, call);
    if ('problem' in read) return read;
    const absent = !/(?:^|&)limit=/.test(search);
    const limit = change(read.query.limit, absent, read.query.status !== null, call);
    if (limit === null) return { problem: badRequest('invalid_limit', 'This limit is not allowed.') };
    return { query: { ...read.query, limit } };
  });

const whenSent = (change: (limit: number, filtered: boolean) => number): Personality =>
  readingLimit((limit, absent, filtered) => (absent ? limit : change(limit, filtered)));
const whenAbsent = (limit: number): Personality => readingLimit((sent, absent) => (absent ? limit : sent));

const lists = succeeds('listPets');

/** A store that begins without sold animals, and what it says of a list that finds none. */
const noMatch = (answered: (when: When) => Personality): Personality =>
  together(
    {
      recipe: () => ({
        seed: (store, animals) => {
          for (let index = 0; index < animals; index += 1)
            store.add({
              name: `Rex ${index}`,
              categoryId: '1',
              status: index % 2 === 0 ? 'available' : 'pending',
            });
        },
      }),
    },
    answered((answer, call) => lists(answer, call) && answer.text === '[]'),
  );

const isFull: When = (answer, call) =>
  lists(answer, call) && (answer.text.match(/{"id":/g)?.length ?? 0) >= 20;

/** Section 4.1: a list is answered with 200 and an array, and holds as many animals as limit says. */
// biome-ignore format: a table, a line for most faults
export const LISTING_FAULTS: FaultTable = {
  'list-limit-maximum': {
    'limit-plus-one': whenSent((limit) => limit + 1),
    'limit-ignored': whenSent(() => 20),
    'limit-at-least-ten': whenSent((limit) => Math.max(limit, 10)),
    'limit-1-gives-two': whenSent((limit) => (limit === 1 ? 2 : limit)),
    'limit-100-gives-101': whenSent((limit) => (limit === 100 ? 101 : limit)),
    'limit-20-gives-21': whenSent((limit) => (limit === 20 ? 21 : limit)),
    'limit-in-thirties-plus-one': whenSent((limit) => (limit > 30 && limit < 40 ? limit + 1 : limit)),
    'limit-ignored-with-status': whenSent((limit, filtered) => (filtered ? 100 : limit)),
    'limit-plus-one-with-status': whenSent((limit, filtered) => (filtered ? limit + 1 : limit)),
  },
  'list-limit-fills': {
    'limit-minus-one': whenSent((limit) => limit - 1),
    'limit-1-gives-none': whenSent((limit) => (limit === 1 ? 0 : limit)),
    'limit-100-gives-99': whenSent((limit) => (limit === 100 ? 99 : limit)),
    'limit-capped-at-50': whenSent((limit) => Math.min(limit, 50)),
    'limit-capped-at-20': whenSent((limit) => Math.min(limit, 20)),
    'limit-minus-one-with-status': whenSent((limit, filtered) => (filtered ? limit - 1 : limit)),
    'limit-rounded-to-tens': whenSent((limit) => (limit > 10 ? limit - (limit % 10) : limit)),
    'limit-20-gives-19': whenSent((limit) => (limit === 20 ? 19 : limit)),
    'limit-percent-encoded-ignored':
      readingLimit((limit, _absent, _filtered, call) => (call.route.search.includes('limit=%') ? 20 : limit)),
    'limit-capped-at-50-on-pro': readingLimit((limit, _absent, _filtered, call) =>
        call.key?.plan === 'pro' ? Math.min(limit, 50) : limit),
  },
  'list-limit-default': {
    'default-limit-10': whenAbsent(10),
    'default-limit-19': whenAbsent(19),
    'default-limit-21': whenAbsent(21),
    'default-limit-50': whenAbsent(50),
    'default-limit-100': whenAbsent(100),
    'default-limit-none': whenAbsent(1_000),
    'default-limit-10-with-status':
      readingLimit((limit, absent, filtered) => (absent && filtered ? 10 : limit)),
    'default-limit-none-with-status':
      readingLimit((limit, absent, filtered) => (absent && filtered ? 100 : limit)),
    'default-limit-25-on-free':
      readingLimit((limit, absent, _filtered, call) => (absent && call.key?.plan === 'free' ? 25 : limit)),
    // Without limit, every list but the first holds 25.
    'default-limit-after-first': () => {
      let lists = 0;
      return readingLimit((limit, absent) => (absent && ++lists > 1 ? 25 : limit));
    },
  },
  'list-answers-200': {
    'list-as-object': rewriting(lists, (text) => `{"items":${text}}`),
    'list-fails-now-and-then': () => failing(503, everyNth(7, lists)),
    'list-no-match-404': noMatch((when) => failing(404, when)),
    'list-no-match-204': noMatch((when) => answeringWith('', when, 204)),
    'list-no-match-null': noMatch((when) => answeringWith('null', when)),
    'list-partial-content': answeringAs(206, isFull),
    'list-without-accept-406':
      failing(406, where(lists, ({ request }) => request.headers.accept === undefined)),
    'list-with-quality-406':
      failing(406, where(lists, ({ request }) => request.headers.accept?.includes('q=') === true)),
    'list-accepted': answeringAs(202, where(lists, asksForStatus)),
    'list-pending-fails': failing(500, where(lists, (call) => queried(call, 'status=pending'))),
    'list-status-with-limit-fails':
      failing(404, where(lists, ({ route }) => /status=.*limit=|limit=.*status=/.test(route.search))),
    'list-moved':
      answering(lists, (answer) => ({ ...withError(answer, 308), headers: ['Location', 'pets/'] })),
    'list-null-for-sold': answeringWith('null', where(lists, (call) => queried(call, 'status=sold'))),
  },
  'list-limit-range': {
    'limit-1-refused': readingLimit((limit) => (limit === 1 ? null : limit)),
    'limit-100-refused': readingLimit((limit) => (limit === 100 ? null : limit)),
    'limit-above-50-refused': readingLimit((limit) => (limit > 50 ? null : limit)),
    'limit-not-in-tens-refused': readingLimit((limit) => (limit > 20 && limit % 10 !== 0 ? null : limit)),
    'limit-odd-refused': readingLimit((limit) => (limit > 1 && limit % 2 === 1 ? null : limit)),
    'limit-99-refused': readingLimit((limit) => (limit === 99 ? null : limit)),
    'limit-2-refused': readingLimit((limit) => (limit === 2 ? null : limit)),
  },
};
