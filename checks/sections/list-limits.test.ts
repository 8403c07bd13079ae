import t from 'tap';
import { payer, testKey, testRun } from '../harness/run-for-tests.ts';
import { judged as judgedCheck, played } from './judged-for-tests.ts';
import { judgeLength, listLimitChecks } from './list-limits.ts';
import { type Animal, animals, listBody, listsOf, select } from './listed-for-tests.ts';
import { take, takeAll } from './lists.ts';

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
    notApplicable: () => said.push('not applicable'),
  };
  const all = {
    ...(await takeAll(probe)),
    own: [],
    short: await take(probe, { limit: 1 }),
    shownLater: false,
  };
  lists = 4;
  await judgeLength(probe, judge, all, { status: 'sold', limit: 99 });
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

const KEYS = [testKey(), testKey({ name: 'pro-1', plan: 'pro' }), testKey({ name: 'ban', roles: ['ban'] })];

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
