/** Section 4.1, limit: a list holds as many animals as exist, up to its limit. */
import t from 'tap';
import { NOTHING_TRIED } from '../../run/scene.ts';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import type { ClientRequest } from '../../wire/client.ts';
import type { ListQuery } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { judged, played } from '../testing/judged.ts';
import { listLimitChecks } from './limits.ts';
import { take } from './scenes.ts';
import { type Animal, animals, listBody, listsOf, storeOf } from './testing/listed.ts';

const ID = 'list-limit-fills';

/** What is said of a store, and what was asked of it for that. */
async function said(
  store: readonly Animal[],
  listed: Parameters<typeof listsOf>[2] = {},
  answers: (request: ClientRequest) => AnswerParts = storeOf(store),
) {
  const { run, sent } = testRun(answers);
  await played(run, 'lists', listsOf(store, [], listed));
  return { ...(await judged(run, listLimitChecks, ID)), sent, paths: sent.map(({ path }) => path) };
}

/** Lists around the default and within the bounds, one of them in other bytes. */
const PATHS = ['/pets?limit=1', '/pets?limit=20', '/pets?limit=%32%31', '/pets?limit=99'];

t.test('lists on either side of the default and next to the bounds are as long as they can be', async (t) => {
  const { sent, paths, ...judgement } = await said(animals(120));
  t.match(judgement, { verdict: 'pass', evidence: 'full-pages#1,full-pages#2,full-pages#3' });
  t.strictSame(paths, PATHS);
  t.strictSame(
    sent.map(({ acceptsAnything = false, headers }) => [acceptsAnything, headers]),
    [
      [true, undefined],
      [false, undefined],
      [false, undefined],
      [false, [['accept', 'application/json;q=0.9']]],
    ],
    'as several clients would ask',
  );
  for (const path of PATHS) {
    const cut = (request: ClientRequest) => storeOf(animals(request.path === path ? 0 : 120))(request);
    t.match(await said(animals(120), {}, cut), { verdict: 'fail', reason: '0 animals' }, path);
  }
});

t.test(
  'the longest list was taken before: only one that was shorter than it could be is taken again',
  async (t) => {
    const store = animals(30);
    t.strictSame((await said(store)).paths, PATHS);
    t.strictSame((await said(animals(400))).paths, PATHS, 'of more than it can hold it need show 100');
    const shorter = { all: store.slice(0, 25) };
    t.match(await said(store, shorter), { verdict: 'pass', paths: [...PATHS, '/pets?limit=100'] });
    const short = (request: ClientRequest) =>
      request.path === '/pets?limit=100' ? { body: listBody(store.slice(0, 25)) } : storeOf(store)(request);
    t.match(await said(store, shorter, short), {
      verdict: 'fail',
      expected: '30 animals with limit=100, since lists show 30 that match',
      reason: '25 animals',
    });
    t.match(await said(store, { all: 500 }), { verdict: 'pass', paths: [...PATHS, '/pets?limit=100'] });
  },
);

t.test('an empty store shows nothing', async (t) => {
  t.match(await said([]), {
    verdict: 'inconclusive',
    reason: 'no list shows an animal with an id',
    paths: [],
  });
});

const KEYS = [testKey(), testKey({ name: 'pro-1', plan: 'pro' })];

/** A list that the run took, by how many animals it held; a path of another operation; the status of no list. */
type Earlier = readonly [
  asked: ListQuery | string,
  count: number | { readonly status: number },
  key?: string,
];

/** What is said in the end of a run that saw these lists, and what is asked of the target for that, of a store of 90. */
async function inTheEnd(
  earlier: readonly Earlier[],
  later: (request: ClientRequest) => AnswerParts = storeOf(animals(90)),
  unusable?: string,
) {
  const { run, sent } = testRun(
    (request, number) => {
      const [, count] = earlier[number - 1] ?? [];
      if (count === undefined) return later(request);
      return typeof count === 'number' ? { body: listBody(animals(count)) } : count;
    },
    { keys: KEYS },
  );
  await played(run, 'lists', listsOf(animals(90)));
  const probe = run.probe('earlier');
  for (const [asked, , name] of earlier) {
    const key = KEYS.find((candidate) => candidate.name === name) ?? testKey();
    if (typeof asked === 'string')
      await probe.send({ operation: 'other', method: 'GET', path: asked }, { key });
    else await take(probe, asked, { key });
  }
  const lane = run.sender.lanes.find(({ key }) => key.name === unusable);
  if (lane !== undefined) lane.unusable = 'it is banned';
  await played(run, 'full-pages', NOTHING_TRIED);
  const judgement = await judged(run, listLimitChecks, ID);
  const asked = sent
    .slice(earlier.length)
    .map((request) => `${payer(request)} ${request.path.slice('/pets'.length)}`);
  return { ...judgement, asked };
}

/** What a key's own lists show, taken before one of them is judged. */
const measured = (key: string) => [
  `${key} ?limit=100`,
  ...['available', 'pending', 'sold'].map((status) => `${key} ?limit=100&status=${status}`),
];

t.test(
  'a list that is as long as its limit, its filter and what was listed before let it be is not asked for again',
  async (t) => {
    for (const [why, ...earlier] of [
      ['nothing was listed'],
      ['a smaller limit', [{ limit: 50 }, 50], [{ limit: 3 }, 3]],
      ['the default limit', [{ limit: 50 }, 50], [{}, 20]],
      ['more than before', [{ limit: 50 }, 30], [{ limit: 50 }, 31]],
      ['as many as before', [{ limit: 50 }, 30], [{ limit: 60 }, 30]],
      ['a filter', [{ limit: 50 }, 50], [{ limit: 50, status: 'sold' }, 4]],
      ['another filter', [{ limit: 50, status: 'sold' }, 9], [{ limit: 50, status: 'pending' }, 4]],
      ['a limit that is not allowed', [{ limit: 50 }, 50], [{ limit: 101 }, 0]],
      ['another operation', [{ limit: 50 }, 50], ['/store/orders', 2]],
    ] as readonly (readonly [string, ...Earlier[]])[])
      t.match(await inTheEnd(earlier), { verdict: 'pass', evidence: 'list-all', asked: { length: 0 } }, why);
  },
);

t.test(
  'one that was shorter than an earlier one is, with the same key, and judged by what that key sees',
  async (t) => {
    t.strictSame(
      await inTheEnd([
        [{ limit: 10 }, 10, 'pro-1'],
        [{ limit: 8 }, 5, 'pro-1'],
      ]),
      {
        verdict: 'pass',
        reason: 'held in 2 observations',
        expected: undefined,
        evidence: 'list-all,short-pages#5',
        asked: [...measured('pro-1'), 'pro-1 ?limit=8'],
      },
    );
    for (const [why, asked, ...earlier] of [
      ['the default limit', '', [{ limit: 50 }, 50], [{}, 19]],
      ['a filter', '?status=sold', [{ status: 'sold', limit: 9 }, 9], [{ status: 'sold' }, 4]],
      ['both', '?limit=9&status=sold', [{ status: 'sold' }, 8], [{ limit: 9, status: 'sold' }, 4]],
      [
        'after one that was refused',
        '?limit=9',
        [{ limit: 50 }, 50],
        [{}, { status: 500 }],
        [{ limit: 9 }, 4],
      ],
      ['not the one right before', '?limit=9', [{ limit: 50 }, 50], [{ limit: 2 }, 2], [{ limit: 9 }, 4]],
    ] as readonly (readonly [string, string, ...Earlier[]])[])
      t.strictSame((await inTheEnd(earlier)).asked.slice(4), [`free-1 ${asked}`], why);
  },
);

t.test('it breaks the rule where it goes on to be short', async (t) => {
  const cut = (request: ClientRequest) =>
    storeOf(animals(request.path === '/pets?limit=8' ? 5 : 90))(request);
  t.match(
    await inTheEnd(
      [
        [{ limit: 10 }, 10],
        [{ limit: 8 }, 5],
      ],
      cut,
    ),
    {
      verdict: 'fail',
      expected: '8 animals with limit=8, since lists show 90 that match',
      reason: '5 animals',
    },
  );
  const ofOthers = (request: ClientRequest) => storeOf(animals(payer(request) === 'pro-1' ? 5 : 90))(request);
  t.equal(
    (
      await inTheEnd(
        [
          [{ limit: 10 }, 10],
          [{ limit: 8 }, 5, 'pro-1'],
        ],
        ofOthers,
      )
    ).verdict,
    'pass',
    'what a key may see is open',
  );
});

t.test('a key that can no longer be used is replaced by another, and its lists by the run’s', async (t) => {
  t.match(
    await inTheEnd(
      [
        [{ limit: 10 }, 10, 'pro-1'],
        [{ limit: 8 }, 5, 'pro-1'],
      ],
      undefined,
      'pro-1',
    ),
    {
      verdict: 'pass',
      asked: ['free-1 ?limit=8'],
    },
  );
});

t.test('no more than three of them are asked for, each once', async (t) => {
  const short = (limit: number): Earlier => [{ limit }, 1];
  const { asked } = await inTheEnd([[{ limit: 50 }, 50], short(2), short(3), short(2), short(4), short(5)]);
  t.strictSame(
    asked.filter((path) => !path.includes('limit=100')),
    ['free-1 ?limit=2', 'free-1 ?limit=3', 'free-1 ?limit=4'],
  );
});
