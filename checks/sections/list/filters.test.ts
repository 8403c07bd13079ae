/** Section 4.1, status: a filtered list holds the animals with that status, all of them and no other. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import type { ClientRequest } from '../../wire/client.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { judged, played, seen } from '../testing/judged.ts';
import { listFilterChecks } from './filters.ts';
import { type Animal, animals, listBody, listsOf, type Own, storeOf } from './testing/listed.ts';

/** What is said of one list as it came. */
const list = (path: string, shown: readonly Animal[], parts: AnswerParts = {}) =>
  seen(testRun().run, listFilterChecks, 'list-status-filter', [
    answered({ id: 'list', path, body: listBody(shown), ...parts }),
  ]);

t.test('a list with a status holds no animal with another one', async (t) => {
  const path = '/pets?status=sold';
  t.match(
    list(path, [
      [1, 'sold'],
      [2, 'sold'],
    ]),
    { verdict: 'pass', evidence: 'list' },
  );
  t.equal(list(path, []).verdict, 'pass');
  t.equal(list(path, [[1, 'sold'], [2]]).verdict, 'pass', 'the field is optional');
  t.match(
    list(path, [
      [1, 'sold'],
      [2, 'pending'],
    ]),
    {
      verdict: 'fail',
      expected: 'only animals with status sold',
      reason: 'animal 2 with status pending',
      evidence: 'list',
    },
  );
  t.equal(list('/pets', [[1, 'sold']]).verdict, 'inconclusive', 'nothing was asked for');
  t.equal(list('/pets?status=lost', [[1, 'sold']]).verdict, 'inconclusive', 'no status of the document');
});

t.test('each status that the document allows is taken', async (t) => {
  const refused = (status: number, path = '/pets?status=sold&limit=5', parts: AnswerParts = {}) =>
    list(path, [], { status, ...parts });
  for (const status of [400, 414, 422])
    t.match(refused(status), {
      verdict: 'fail',
      expected: '200 for status=sold',
      reason: new RegExp(`^${status}`),
    });
  t.equal(refused(400, '/pets?status=sold&limit=100').verdict, 'inconclusive', 'it may be the limit');
  for (const status of [500, 404, 401, 403, 429])
    t.equal(refused(status).verdict, 'inconclusive', `${status} is no answer to the parameter`);
  t.equal(refused(400, undefined, { id: 'ban:free-1#1' }).verdict, 'inconclusive');
});

const STORE: readonly Animal[] = [
  [1, 'available'],
  [2, 'pending'],
  [3, 'sold'],
];

/** What is said of lists that were taken of a store, and of those that are taken of it now. */
async function said(
  id: string,
  store: readonly Animal[],
  own: readonly Own[] = [],
  otherwise: Parameters<typeof listsOf>[2] = {},
  answers: (request: ClientRequest) => AnswerParts = storeOf(store),
) {
  const { run, sent, clock } = testRun(answers, { permissions: new Set(['writes'] as const) });
  await played(run, 'lists', listsOf(store, own, otherwise));
  const begin = clock.now();
  const judgement = await judged(run, listFilterChecks, id);
  return { ...judgement, paths: sent.map(({ path }) => path), waited: clock.now() - begin };
}

t.test('an animal of the run is in no list of another status', async (t) => {
  const id = 'list-status-filter';
  const inSold = (own: Own, shown: Animal = [3, 'sold']) => said(id, STORE, [own], { sold: [shown] });
  t.match(await inSold({ id: 3, sent: 'pending' }, [3]), {
    verdict: 'fail',
    expected: 'only animals with status sold',
    reason: 'animal 3, added with status pending',
    evidence: 'list-sold,added-3',
  });
  const fine = 'inconclusive';
  t.equal((await inSold({ id: 3, sent: 'sold' }, [3])).verdict, fine);
  t.equal((await inSold({ id: 2, sent: 'pending' })).verdict, fine, 'it is not in that list');
  t.match(
    await inSold({ id: 3, created: 'pending' }, [3]),
    { verdict: 'fail', reason: 'animal 3, added with status (none)' },
    'without a status it was created with another one',
  );
  t.equal((await inSold({ id: 3, sent: 'pending' })).verdict, fine, 'it may have changed since');
  t.equal((await inSold({ id: 3, created: 'sold' })).verdict, fine, 'or with this one');
  t.equal((await inSold({ id: 3 }, [3, 'sold'])).verdict, fine, 'it shows a status, which was to be chosen');
  t.equal((await inSold({ id: 3 }, [3])).verdict, 'fail', 'nor does it show one');
  t.equal(
    (await inSold({ id: 3, sent: 'pending', created: null }, [3])).verdict,
    'fail',
    'it was chosen, though its creation did not show it',
  );
  t.equal(
    (await said(id, STORE, [{ id: 3 }], { available: [[3]] })).verdict,
    fine,
    'it may count as available',
  );
});

t.test('a filter leaves out nothing that matches', async (t) => {
  const id = 'list-status-complete';
  const own = [{ id: 3, sent: 'sold' }];
  t.match(await said(id, STORE, own), { verdict: 'pass', paths: { length: 0 }, waited: 0 });
  t.equal((await said(id, STORE, own, { all: 500 })).verdict, 'pass', 'by lists with a status alone');
  t.match(await said(id, STORE, own, { sold: [[9, 'sold']] }), {
    verdict: 'fail',
    expected: 'animal 3 in the list with status=sold',
    reason: '1 animal without it',
    evidence: 'list-sold,added-3',
  });
  const unlisted = STORE.slice(0, 2);
  t.equal(
    (await said(id, unlisted, own, { sold: [[9, 'sold']] })).verdict,
    'pass',
    'no list shows it at all',
  );
  t.equal((await said(id, unlisted, own, { sold: [] })).verdict, 'fail', 'but for one that shows nothing');
  t.match(await said(id, STORE, own, { sold: 500 }), {
    verdict: 'inconclusive',
    reason: /^the list with status=sold was answered 500/,
    evidence: 'list-sold',
  });
  const many = animals(300).map(([number]): Animal => [number, 'sold']);
  const { verdict } = await said(id, many, [{ id: 299, sent: 'sold' }], { all: [[299, 'sold']] });
  t.equal(verdict, 'pass', 'what does not fit a list is not missing from it');
  t.equal((await said(id, animals(300), own)).verdict, 'not-applicable');
});

t.test('nor an animal of others that the whole store shows with that status', async (t) => {
  const id = 'list-status-complete';
  const store = animals(9);
  const [, ...hiding] = store;
  const lists = (filtered: readonly Animal[]) => (request: ClientRequest) =>
    storeOf(request.path.includes('status=') ? filtered : store)(request);
  t.match(await said(id, store, [], { available: [[4, 'available']] }, lists(hiding)), {
    verdict: 'fail',
    expected: '3 animals with status=available, limit=100, since lists show 3 that match',
    reason: '2 animals',
  });
  const late = await said(id, store, [], { available: [[4, 'available']] });
  t.match(late, { verdict: 'pass', paths: ['/pets?status=available&limit=100'] }, 'it was not served yet');
  t.ok(late.waited >= 10_000);
  const changed: readonly Animal[] = [[1, 'sold'], ...hiding];
  t.match(
    await said(
      id,
      store,
      [],
      { available: hiding.filter(([, status]) => status === 'available') },
      storeOf(changed),
    ),
    { verdict: 'pass' },
    'others may change theirs',
  );
});

t.test('the filter comes first, and then the limit', async (t) => {
  const id = 'list-filter-before-limit';
  const store = animals(9);
  const { verdict, paths } = await said(id, store);
  t.equal(verdict, 'pass');
  t.strictSame(paths, [
    '/pets?status=pending&limit=1',
    '/pets?status=sold&limit=2',
    '/pets?status=%61%76%61%69%6C%61%62%6C%65&limit=%33',
  ]);
  const limitFirst = ({ path }: ClientRequest): AnswerParts => {
    const query = new URL(path, 'http://target').searchParams;
    const first = store.slice(0, Number(query.get('limit')));
    const wanted = query.get('status');
    return { body: listBody(first.filter(([, status]) => wanted === null || status === wanted)) };
  };
  t.match(await said(id, store, [], {}, limitFirst), {
    verdict: 'fail',
    expected: '1 animal with status=pending, limit=1, since lists show 3 that match',
    reason: /^0 animals/,
  });
  t.strictSame(
    (
      await said(id, [
        [1, 'sold'],
        [2, 'sold'],
      ])
    ).paths,
    ['/pets?status=%73%6F%6C%64&limit=%32'],
  );
  const sold = STORE.toReversed();
  t.strictSame(
    (await said(id, sold)).paths.map((path) => path.slice(0, 15)),
    ['/pets?status=av', '/pets?status=pe', '/pets?status=%7'],
    'last the status of the first animal of all, which a list of one would show without a filter too',
  );
  t.match(await said(id, []), { verdict: 'not-applicable', reason: 'no animal is available' });
  t.equal((await said(id, STORE, [], { all: 500 })).verdict, 'pass');
  t.match(await said(id, STORE, [], { pending: 500 }), {
    verdict: 'inconclusive',
    reason: /^the list with status=pending was answered 500/,
    evidence: 'list-pending',
  });
});

t.test('without a filter an animal of any status is listed', async (t) => {
  const id = 'list-unfiltered';
  const own = [
    { id: 3, sent: 'sold' },
    { id: 1, sent: 'available' },
  ];
  t.match(await said(id, STORE, own), { verdict: 'pass', evidence: /^list-all,/ });
  t.match(await said(id, STORE, own, { all: STORE.slice(0, 2) }), {
    verdict: 'fail',
    expected: 'animal 3, which is sold, in the list without status',
    reason: '2 animals without it',
    evidence: 'list-all,list-sold',
  });
  t.equal((await said(id, STORE, [], { all: [] })).verdict, 'pass', 'somebody else’s may have come since');
  t.equal((await said(id, animals(100), own)).verdict, 'not-applicable', 'not all fit a list');
  t.match(await said(id, STORE, own, { all: 500 }), {
    verdict: 'inconclusive',
    reason: /^the list was answered 500/,
    evidence: 'list-all',
  });
});

t.test('nor is an animal without a status left out', async (t) => {
  const id = 'list-unfiltered';
  const statusless = { id: 7 };
  t.match(await said(id, STORE, [{ id: 3, sent: 'sold' }, statusless]), {
    verdict: 'fail',
    expected: 'animal 7, which has no status, in the list without status',
    reason: '3 animals without it',
    evidence: 'list-all,added-7',
  });
  t.equal((await said(id, [...STORE, [7]], [{ id: 3, sent: 'sold' }, statusless])).verdict, 'pass');
  t.equal(
    (await said(id, STORE, [{ id: 8, sent: 'sold' }, statusless])).verdict,
    'pass',
    'where others are late as well, it may be late',
  );
  t.equal(
    (await said(id, STORE, [{ id: 3, sent: 'sold' }, { id: 8, sent: 'sold' }, statusless])).verdict,
    'pass',
    'be it one of them',
  );
  t.equal((await said(id, STORE, [{ id: 7, created: 'sold' }])).verdict, 'pass', 'it was given a status');
  t.equal(
    (await said(id, STORE, [{ id: 7, sent: 'sold', created: null }])).verdict,
    'pass',
    'or was added with one',
  );
});
