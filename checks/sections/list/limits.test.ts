import t from 'tap';
import type { Permission } from '../../profile/permissions.ts';
import { check } from '../../run/check.ts';
import { scene } from '../../run/scene.ts';
import { type Answers, payer, testKey, testRun } from '../../run/testing/test-run.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';
import { judged as judgedCheck, played } from '../testing/judged.ts';
import { judgeLength } from './lengths.ts';
import { listLimitChecks } from './limits.ts';
import { takePage } from './pages.ts';
import { type LongestLists, takeAll } from './scenes.ts';
import { type Animal, animals, listBody, listsOf, select, storeOf } from './testing/listed.ts';

type Animals = Readonly<Record<number, string>>;

/**
 * Judges a list of the sold animals with limit=100.
 *
 * @param shows what every other list shows of the store, by id, one after the other; the last one goes on
 * @param sold ids in the list that is judged
 */
async function judged(shows: readonly Animals[], sold: readonly number[]): Promise<string[]> {
  let lists = 0;
  const pet = (id: number, status: string) => ({ id, name: 'Mia', categoryId: 1, status });
  const { run } = testRun(({ path }) => {
    const query = new URL(path, 'http://target').searchParams;
    if (query.get('limit') === '99') return { body: JSON.stringify(sold.map((id) => pet(id, 'sold'))) };
    const store = Object.entries(shows[Math.min(lists++, shows.length - 1)] ?? {});
    const status = query.get('status');
    const listed = store.filter(([, its]) => status === null || its === status);
    return { body: JSON.stringify(listed.map(([id, its]) => pet(Number(id), its))) };
  });
  const probe = run.probe('list-limits');
  const said: string[] = [];
  const judge = {
    holds: () => said.push('holds'),
    breaks: ({ actual }: { readonly actual: string }) => said.push(actual),
    unsettled: () => said.push('unsettled'),
    skips: () => said.push('skips'),
    notApplicable: () => said.push('not applicable'),
  };
  const before = await takeAll(probe);
  judgeLength(judge, before, await takePage(probe, before, { status: 'sold', limit: 99 }));
  return said;
}

const STORE = { 1: 'sold', 2: 'sold', 3: 'sold', 4: 'pending' };

/** What four lists show of a store: the one of all animals, and the one of each status. */
const four = (store: Animals) => [store, store, store, store];

t.test('a list is to hold every animal that matches, up to limit', async (t) => {
  t.strictSame(await judged([STORE], [1, 2, 3]), ['holds']);
  t.strictSame(await judged([STORE], [1, 2]), ['2 animals']);
});

t.test('an animal that was shown with another status may have had it in between', async (t) => {
  t.strictSame(
    await judged([...four(STORE), { ...STORE, 3: 'available' }], [1, 2]),
    ['holds'],
    'changed since',
  );
  t.strictSame(
    await judged([...four(STORE), { 1: 'sold', 2: 'sold', 5: 'sold' }], [1, 2]),
    ['holds'],
    'one gone, and another one there',
  );
  const changed = { ...STORE, 3: 'pending' };
  t.strictSame(await judged([STORE, STORE, changed, STORE, ...four(STORE)], [1, 2]), ['holds'], 'to and fro');
});

/** What is said of a list, after other lists were taken, and what was asked for that. */
async function lengthSaid(wanted: ListQuery, before: LongestLists, answers: Answers) {
  const { run, sent } = testRun(answers);
  const pages = scene('length', {}, (probe) => takePage(probe, before, wanted));
  const length = check('length', { needs: { pages } }, (outcomes, judge) =>
    judgeLength(judge, before, outcomes.pages),
  );
  const said = await judgedCheck(run, [length], 'length');
  return { ...said, requests: sent.length };
}

/** Shows so many animals in the list that is judged, which may be told by its number too, and the store in others. */
const cutTo =
  (count: number, wanted: ListQuery, store: readonly Animal[], until = Number.POSITIVE_INFINITY): Answers =>
  (request, number) =>
    request.path === listPets(wanted).path && number <= until
      ? { body: listBody(animals(count)) }
      : storeOf(store)(request);

t.test(
  'what is said of a short list names what was asked for, what is there, and what shows it',
  async (t) => {
    const store = animals(30);
    for (const [wanted, expected] of [
      [{}, '20 animals with no limit, since lists show 30 that match'],
      [{ limit: 7 }, '7 animals with limit=7, since lists show 30 that match'],
      [{ status: 'sold' }, '10 animals with status=sold, no limit, since lists show 10 that match'],
      [{ status: 'sold', limit: 3 }, '3 animals with status=sold, limit=3, since lists show 10 that match'],
    ] as const)
      t.match(await lengthSaid(wanted, listsOf(store), cutTo(2, wanted, store)), {
        verdict: 'fail',
        expected,
        reason: '2 animals',
        evidence: 'length#6,length#7',
      });
  },
);

t.test('a list that is short once may have been answered while animals came', async (t) => {
  const [wanted, store] = [{ limit: 7 }, animals(30)];
  t.match(await lengthSaid(wanted, listsOf(store), cutTo(2, wanted, store, 1)), {
    verdict: 'pass',
    evidence: 'length#6',
    requests: 6,
  });
});

t.test('of what is no list the length is not known', async (t) => {
  const none: Answers = () => ({ status: 500, body: 'oops' });
  t.match(await lengthSaid({ limit: 7 }, listsOf(animals(30)), none), {
    verdict: 'inconclusive',
    reason: 'a list with limit=7 was answered 500 without a media type, 4 bytes',
    evidence: 'length#1',
    requests: 1,
  });
});

t.test('what was listed without an id of the document is not owed', async (t) => {
  const store: readonly Animal[] = [
    [1, 'sold'],
    [2n ** 64n, 'sold'],
  ];
  const wanted = { status: 'sold', limit: 50 };
  t.match(await lengthSaid(wanted, listsOf(store), cutTo(1, wanted, store)), {
    verdict: 'pass',
    requests: 1,
  });
});

t.test('where every animal was replaced meanwhile, the longest list shows how many there are', async (t) => {
  const wanted = { limit: 50 };
  const others: readonly Animal[] = [[7], [8], [9]];
  t.match(await lengthSaid(wanted, listsOf(animals(4)), cutTo(2, wanted, others)), {
    verdict: 'fail',
    expected: '3 animals with limit=50, since lists show 3 that match',
    reason: '2 animals',
  });
  const filtered = { limit: 50, status: 'sold' };
  t.equal(
    (await lengthSaid(filtered, listsOf(animals(4)), cutTo(0, filtered, others))).verdict,
    'pass',
    'but not how many match a filter',
  );
});

t.test('and where that one is refused, the filtered ones do', async (t) => {
  const [wanted, store] = [{ limit: 7 }, animals(30)];
  const cut = cutTo(2, wanted, store);
  const refused: Answers = (request, number) =>
    request.path === '/pets?limit=100' ? { status: 500, body: '{}' } : cut(request, number);
  t.match(await lengthSaid(wanted, listsOf(store), refused), {
    verdict: 'fail',
    expected: '7 animals with limit=7, since lists show 30 that match',
  });
  const before = listsOf(store, [], { all: 500 });
  t.equal((await lengthSaid(wanted, before, cut)).verdict, 'fail', 'before or after');
});

const KEYS = [testKey(), testKey({ name: 'pro-1', plan: 'pro' }), testKey({ name: 'ban', roles: ['ban'] })];

t.test('without a limit a list is a list of 20, whatever the client accepts', async (t) => {
  const said = async (count: number, most = 20, permissions: readonly Permission[] = []) => {
    const { run, sent } = testRun(
      ({ path }) => ({ body: listBody(select(animals(count), path).slice(0, most)) }),
      { permissions: new Set(permissions) },
    );
    await played(run, 'lists', listsOf(animals(count)));
    return { ...(await judgedCheck(run, listLimitChecks, 'list-limit-default')), headers: sent[0]?.headers };
  };
  t.match(await said(21), { verdict: 'pass', headers: [['accept', '*/*']] });
  t.match(await said(21, 19), {
    verdict: 'fail',
    expected: '20 animals with no limit, since lists show 21 that match',
    reason: '19 animals',
  });
  t.match(
    await said(20),
    {
      verdict: 'skipped',
      reason:
        'lists show 20 animals with ids that differ, and 21 are needed to see the default; adding them needs the permission writes',
    },
    'in a smaller store it is not seen',
  );
  t.match(
    await said(20, 20, ['writes']),
    {
      verdict: 'inconclusive',
      reason: 'lists show 20 animals with ids that differ, and 21 are needed to see the default',
    },
    'nor where enough could not be added',
  );
  t.equal((await said(20, 9)).verdict, 'fail', 'but where fewer than that are shown');
});

/** What is said of the default limit where each key is shown animals of its own, and who asked for which list. */
async function byKey(shown: (key: string | null, path: string) => readonly Animal[]) {
  const { run, sent } = testRun(
    (request) => ({ body: listBody(select(shown(payer(request), request.path), request.path)) }),
    { keys: KEYS },
  );
  await played(run, 'lists', listsOf(animals(90)));
  const { verdict } = await judgedCheck(run, listLimitChecks, 'list-limit-default');
  return { verdict, asked: sent.map((request) => `${payer(request)} ${request.path.slice('/pets'.length)}`) };
}

t.test('a filtered list without limit is asked for with every key that pays', async (t) => {
  t.strictSame(await byKey(() => animals(90)), {
    verdict: 'pass',
    asked: ['free-1 ', 'pro-1 ?status=available', 'free-1 ?status=pending', 'free-1 ?status=sold'],
  });
});

t.test('a key that sees other animals breaks nothing, one that lists fewer than it sees does', async (t) => {
  const few = animals(90).slice(60, 75);
  const { verdict, asked } = await byKey((key) => (key === 'pro-1' ? few : animals(90)));
  t.equal(verdict, 'pass');
  t.strictSame(
    asked.filter((one) => one.startsWith('pro-1')).length,
    1 + 4,
    'what a key sees is measured by its own lists',
  );
  const cut = await byKey((key, path) =>
    key === 'pro-1' && path === '/pets?status=available' ? few : animals(90),
  );
  t.equal(cut.verdict, 'fail');
});
