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
    // Four lists show the store once: one of all, and one for each status.
    const store = Object.entries(shows[Math.min(Math.floor(lists++ / 4), shows.length - 1)] ?? {});
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

t.test('a list is to hold every animal that matches, up to limit', async (t) => {
  t.strictSame(await judged([STORE], [1, 2, 3]), ['holds']);
  t.strictSame(await judged([STORE], [1, 2]), ['2 animals']);
});

t.test('an animal that was shown with another status may have had it in between', async (t) => {
  t.strictSame(await judged([STORE, { ...STORE, 3: 'available' }], [1, 2]), ['holds'], 'changed since');
  t.strictSame(
    await judged([STORE, { 1: 'sold', 2: 'sold', 5: 'sold' }], [1, 2]),
    ['holds'],
    'one gone, and another one there',
  );
  const back = [
    { ...STORE, 4: 'sold' },
    { ...STORE, 3: 'pending', 4: 'sold' },
  ];
  t.strictSame(await judged([...back, ...back], [1, 2, 4]), ['holds'], 'changing to and fro');
});
