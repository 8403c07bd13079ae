import t from 'tap';
import { testRun } from '../harness/run-for-tests.ts';
import { judgeLength } from './list-limits.ts';
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
