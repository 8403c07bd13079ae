/** Section 4.1, limit: how many animals a list holds, from 1 to 100, and 20 where nobody says. */
import t from 'tap';
import type { ClientRequest } from '../harness/client.ts';
import { type AnswerParts, answered } from '../harness/exchange-for-tests.ts';
import { listPets } from '../harness/requests.ts';
import { payer, testKey, testRun } from '../harness/run-for-tests.ts';
import { judged, played, seen } from './judged-for-tests.ts';
import { listLimitChecks } from './list-limits.ts';
import { type Animal, animals, listBody, listsOf, select, storeOf } from './listed-for-tests.ts';

/** What a check says of one list as it came. */
const list = (id: string, path: string, count: number, parts: AnswerParts = {}) =>
  seen(testRun().run, listLimitChecks, id, [
    answered({ id: 'list', path, body: listBody(animals(count)), ...parts }),
  ]);

t.test('each limit from 1 to 100 is taken', async (t) => {
  const id = 'list-limit-range';
  t.match(list(id, '/pets?limit=1', 1), { verdict: 'pass', evidence: 'list' });
  for (const status of [400, 413, 414, 422])
    t.match(list(id, '/pets?limit=100&status=sold', 0, { status }), {
      verdict: 'fail',
      expected: '200 for limit=100',
      reason: new RegExp(`^${status}`),
      evidence: 'list',
    });
  for (const status of [404, 500, 401, 429])
    t.equal(
      list(id, '/pets?limit=5', 0, { status }).verdict,
      'inconclusive',
      `${status} is about something else`,
    );
  t.equal(list(id, '/pets?limit=101', 0, { status: 400 }).verdict, 'inconclusive', 'nor has 101 to be taken');
  t.equal(list(id, '/pets', 0, { status: 400 }).verdict, 'inconclusive');
});

t.test('a list holds no more than was asked for', async (t) => {
  const id = 'list-limit-maximum';
  t.match(list(id, '/pets?limit=2', 2), { verdict: 'pass', evidence: 'list' });
  t.equal(list(id, '/pets?limit=2', 1).verdict, 'pass');
  t.match(list(id, '/pets?limit=2', 3), {
    verdict: 'fail',
    expected: 'at most 2 animals with limit=2',
    reason: '3 animals',
    evidence: 'list',
  });
  t.match(list(id, '/pets?limit=1', 2), { expected: 'at most 1 animal with limit=1' });
  t.equal(list(id, '/pets', 30).verdict, 'inconclusive');
  t.equal(list(id, '/pets?limit=2', 3, { status: 500 }).verdict, 'inconclusive');
});

type Answers = (request: ClientRequest) => AnswerParts;

/** What is said of a store whose lists were taken before, as it answers now. */
async function said(
  id: string,
  store: readonly Animal[],
  answers: Answers = storeOf(store),
  otherwise: Parameters<typeof listsOf>[2] = {},
) {
  const { run, sent } = testRun(answers);
  await played(run, 'lists', listsOf(store, [], otherwise));
  return { ...(await judged(run, listLimitChecks, id)), sent, paths: sent.map(({ path }) => path) };
}

/** A target that answers lists of this path with so many animals. */
const showing =
  (store: readonly Animal[], path: string, count: number): Answers =>
  (request) =>
    request.path === path ? { body: listBody(store.slice(0, count)) } : storeOf(store)(request);

t.test('a list is as long as limit says, where so many match', async (t) => {
  const id = 'list-limit-fills';
  const { verdict, sent, paths } = await said(id, animals(120));
  t.equal(verdict, 'pass');
  t.strictSame(paths, ['/pets?limit=2', '/pets?limit=20', '/pets?limit=%32%31', '/pets?limit=99']);
  t.equal(sent[0]?.acceptsAnything, true, 'as other clients would ask');
  t.strictSame(sent[3]?.headers, [['accept', 'application/json;q=0.9']]);
  for (const [path, limit] of [
    ['/pets?limit=2', 2],
    ['/pets?limit=20', 20],
    ['/pets?limit=%32%31', 21],
    ['/pets?limit=99', 99],
  ] as const)
    t.match(
      await said(id, animals(120), showing(animals(120), path, limit - 1)),
      {
        verdict: 'fail',
        expected: `${limit} animals with limit=${limit}, since lists show 120 that match`,
        reason: limit === 2 ? '1 animal' : `${limit - 1} animals`,
      },
      path,
    );
});

t.test('and as long as there are, where fewer match', async (t) => {
  const id = 'list-limit-fills';
  t.equal((await said(id, animals(30))).verdict, 'pass');
  t.match(await said(id, animals(30), showing(animals(30), '/pets?limit=99', 29)), {
    verdict: 'fail',
    expected: '30 animals with limit=99, since lists show 30 that match',
    reason: '29 animals',
  });
  t.match(await said(id, []), { verdict: 'inconclusive', reason: /the store is empty/ });
  t.match(
    await said(id, animals(30), (request) =>
      request.path === '/pets?limit=20' ? { status: 500, body: '{}' } : storeOf(animals(30))(request),
    ),
    { verdict: 'inconclusive', reason: /^a list with no limit|limit=20 was answered 500/ },
  );
});

t.test('the longest list was taken before, and is taken again only where it was short', async (t) => {
  const id = 'list-limit-fills';
  const store = animals(30);
  const short = { all: store.slice(0, 25) };
  const again = await said(id, store, storeOf(store), short);
  t.equal(again.verdict, 'pass', 'it was late');
  t.equal(again.paths.at(-1), '/pets?limit=100');
  t.equal((await said(id, store)).paths.at(-1), '/pets?limit=99');
  t.match(await said(id, store, showing(store, '/pets?limit=100', 25), short), {
    verdict: 'fail',
    expected: '30 animals with limit=100, since lists show 30 that match',
    reason: '25 animals',
  });
});

t.test('others may take animals away meanwhile: what is there is counted again', async (t) => {
  const store = animals(30);
  const fewer = store.slice(0, 15);
  t.equal((await said('list-limit-fills', store, storeOf(fewer))).verdict, 'pass');
  let lists = 0;
  const backAgain: Answers = (request) => {
    lists += 1;
    return lists === 2 ? { body: '[]' } : storeOf(store)(request);
  };
  t.equal((await said('list-limit-fills', store, backAgain)).verdict, 'pass', 'short once is not short');
});

t.test('any list of the run that was shorter than an earlier one is asked for again', async (t) => {
  const id = 'list-limit-fills';
  const store = animals(30);
  const other = testKey({ name: 'free-2' });
  /** What is said after these lists of another check, by their queries and lengths. */
  const after = async (
    lists: readonly (readonly [query: Parameters<typeof listPets>[0], count: number])[],
    answers: Answers = storeOf(store),
  ) => {
    const { run, sent } = testRun(
      (request, number) => {
        const [, count] = lists[number - 1] ?? [];
        return count === undefined ? answers(request) : { body: listBody(store.slice(0, count)) };
      },
      { keys: [testKey(), other] },
    );
    for (const [index, [query]] of lists.entries())
      await run.probe(`another-${index}`).attempt(listPets(query), other);
    await played(run, 'lists', listsOf(store));
    const { verdict } = await judged(run, listLimitChecks, id);
    // After the four of the check itself.
    const asked = sent.slice(lists.length + 4);
    return { verdict, again: asked.map(({ path }) => path), payers: new Set(asked.map(payer)) };
  };
  t.strictSame(
    (
      await after([
        [{ limit: 9 }, 9],
        [{ limit: 9 }, 9],
      ])
    ).again,
    [],
  );
  t.strictSame(
    (
      await after([
        [{ limit: 9 }, 9],
        [{ limit: 5 }, 5],
      ])
    ).again,
    [],
  );
  const shorter = await after([
    [{ limit: 9 }, 9],
    [{ limit: 9 }, 8],
  ]);
  t.equal(shorter.verdict, 'pass', 'it is as long as it should be by now');
  t.equal(shorter.again.at(-1), '/pets?limit=9');
  t.strictSame([...shorter.payers], ['free-2'], 'by the key that it was short for');
  const byDefault = await after([
    [{}, 20],
    [{}, 15],
  ]);
  t.equal(byDefault.again.at(-1), '/pets');
  t.strictSame(
    (
      await after([
        [{ limit: 9 }, 9],
        [{ limit: 9, status: 'sold' }, 8],
      ])
    ).again,
    [],
    'another filter',
  );
  const sold = await after([
    [{ limit: 9, status: 'sold' }, 9],
    [{ limit: 9, status: 'sold' }, 8],
  ]);
  t.equal(sold.again.at(-1), '/pets?limit=9&status=sold');
  t.strictSame(
    (
      await after([
        [{ limit: 9 }, 9],
        [{ limit: 101 }, 8],
      ])
    ).again,
    [],
    'no limit of the document',
  );
  const stays: Answers = (request) => ({
    body: listBody(
      select(store, request.path).slice(
        0,
        payer(request) === 'free-2' && request.path === '/pets?limit=9' ? 8 : 100,
      ),
    ),
  });
  t.equal(
    (
      await after(
        [
          [{ limit: 9 }, 9],
          [{ limit: 9 }, 8],
        ],
        stays,
      )
    ).verdict,
    'fail',
  );
});

t.test('without a limit it is 20', async (t) => {
  const id = 'list-limit-default';
  t.equal(list(id, '/pets', 20).verdict, 'inconclusive', 'how many there are is for others to tell');
  t.match(list(id, '/pets?status=sold', 21), {
    verdict: 'fail',
    expected: 'at most 20 animals without limit',
    reason: '21 animals',
    evidence: 'list',
  });
  t.equal(list(id, '/pets?limit=30', 30).verdict, 'inconclusive');
  t.equal(list(id, '/pets', 21, { key: null }).verdict, 'inconclusive');

  const store = animals(90);
  const { verdict, sent, paths } = await said(id, store);
  t.equal(verdict, 'pass');
  t.strictSame(paths, ['/pets', '/pets?status=available', '/pets?status=pending', '/pets?status=sold']);
  t.strictSame(sent[0]?.headers, [['accept', '*/*']]);
  t.match(await said(id, store, showing(store, '/pets', 10)), {
    verdict: 'fail',
    expected: '20 animals with no limit, since lists show 90 that match',
    reason: '10 animals',
  });
  t.match(await said(id, store, showing(store, '/pets?status=sold', 10)), {
    verdict: 'fail',
    expected: '20 animals with status=sold, no limit, since lists show 30 that match',
  });
  t.match(await said(id, animals(20)), {
    verdict: 'inconclusive',
    reason: /^the store shows 20 animals, and 21 are needed to see the default/,
  });
  t.equal((await said(id, animals(21))).verdict, 'pass');
});
