import type { Answer } from '../../behaviour.ts';
import { type Personality, together } from '../personality.ts';
import {
  answering,
  answeringWith,
  asksForStatus,
  everyNth,
  failing,
  queried,
  succeeds,
  type When,
  where,
  withBody,
  withError,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { readingLimit } from './listing-limits.ts';

/** A store that begins without sold animals, and what it says of a list that finds none. */
const noMatch = (change: (answer: Answer) => Answer): Personality =>
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
    answering(
      (answer, call) => succeeds('listPets')(answer, call) && answer.text === '[]',
      (answer) => change(answer),
    ),
  );

const lists = succeeds('listPets');
const isFull: When = (answer, call) =>
  lists(answer, call) && (answer.text.match(/{"id":/g)?.length ?? 0) >= 20;

/** Section 4.1: a list is answered with 200 and an array, for every limit from 1 to 100. */
// biome-ignore format: a table, a line or two for each fault
export const LISTING_ANSWER_FAULTS: FaultTable = {
  'list-answers-200': {
    'list-as-object': ['A list comes in an object with the field items.',
      answering(lists, (answer) => withBody(answer, `{"items":${answer.text}}`))],
    'list-fails-now-and-then': ['Every seventh list is answered with 503.',
      () => failing(503, everyNth(7, lists))],
    'list-no-match-404': ['A list that finds no animal is answered with 404.',
      noMatch((answer) => withError(answer, 404))],
    'list-no-match-204': ['A list that finds no animal is answered with 204.',
      noMatch((answer) => ({ ...withBody(answer, ''), status: 204 }))],
    'list-no-match-null': ['A list that finds no animal is null.',
      noMatch((answer) => withBody(answer, 'null'))],
    'list-partial-content': ['A list that reaches its limit is answered with 206.',
      answering(isFull, (answer) => ({ ...answer, status: 206 }))],
    'list-without-accept-406': ['A list is answered with 406 where the client sends no Accept.',
      failing(406, where(lists, ({ request }) => request.headers.accept === undefined))],
    'list-with-quality-406': ['A list is answered with 406 where Accept has a quality value.',
      failing(406, where(lists, ({ request }) => request.headers.accept?.includes('q=') === true))],
    'list-accepted': ['A list with a status is answered with 202.',
      answering(where(lists, asksForStatus), (answer) => ({ ...answer, status: 202 }))],
    'list-pending-fails': ['Only status=pending is answered with 500.',
      failing(500, where(lists, (call) => queried(call, 'status=pending')))],
    'list-status-with-limit-fails': ['A list with both a status and a limit is answered with 404.',
      failing(404, where(lists, ({ target }) => /status=.*limit=|limit=.*status=/.test(target)))],
    'list-moved': ['A list is redirected to a path with a trailing slash.',
      answering(lists, (answer) => ({ ...withError(answer, 308), headers: ['Location', 'pets/'] }))],
    'list-null-for-sold': ['The list of sold animals is null.',
      answeringWith('null', where(lists, (call) => queried(call, 'status=sold')))],
  },
  'list-limit-range': {
    'limit-1-refused': ['limit=1 is refused.', readingLimit((limit) => (limit === 1 ? null : limit))],
    'limit-100-refused': ['limit=100 is refused.', readingLimit((limit) => (limit === 100 ? null : limit))],
    'limit-above-50-refused': ['A limit above 50 is refused.',
      readingLimit((limit) => (limit > 50 ? null : limit))],
    'limit-not-in-tens-refused': ['A limit above 20 that is no multiple of ten is refused.',
      readingLimit((limit) => (limit > 20 && limit % 10 !== 0 ? null : limit))],
    'limit-odd-refused': ['An odd limit above 1 is refused.',
      readingLimit((limit) => (limit > 1 && limit % 2 === 1 ? null : limit))],
    'limit-99-refused': ['Only limit=99 is refused.', readingLimit((limit) => (limit === 99 ? null : limit))],
    'limit-2-refused': ['Only limit=2 is refused.', readingLimit((limit) => (limit === 2 ? null : limit))],
  },
};
