/** The lists that the checks of section 4.1 share: how they are asked for, what they hold, when an addition is served. */
import t from 'tap';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets, percentEncoded } from '../../wire/requests.ts';
import { observed, outcomeOf, played } from '../testing/judged.ts';
import { listAnimalGaps } from './gaps.ts';
import { isWhole, limitOf, lists, missing, shown, shows, take, takeAll } from './scenes.ts';
import {
  type Animal,
  animals,
  listBody,
  listsOf,
  type Own,
  select,
  storeOf,
  taken,
} from './testing/listed.ts';

t.test('a list is asked for with any key or one, in usual bytes or others', async (t) => {
  const other = testKey({ name: 'other', roles: ['load'] });
  const { run, sent } = testRun(storeOf(animals(3)), { keys: [testKey(), other] });
  const probe = run.probe('a check');
  const list = await take(probe, { limit: 2 });
  t.match(list, { query: { limit: 2 }, exchange: { id: 'a check#1' }, pets: [{ id: 1n }, { id: 2n }] });
  await take(probe, { limit: 2 }, { key: other, written: percentEncoded });
  t.strictSame(
    sent.map((request) => [request.path, payer(request)]),
    [
      ['/pets?limit=2', 'free-1'],
      ['/pets?limit=%32', 'other'],
    ],
  );
  const failing = testRun(() => ({ status: 500 }));
  t.equal((await take(failing.run.probe('a check'), {})).pets, undefined);
  sent.length = 0;
  const { all, byStatus } = await takeAll(probe, other);
  t.strictSame(
    [all.query, ...[...byStatus].map(([status, { query }]) => [status, query])],
    [
      { limit: 100 },
      ['available', { limit: 100, status: 'available' }],
      ['pending', { limit: 100, status: 'pending' }],
      ['sold', { limit: 100, status: 'sold' }],
    ],
  );
  t.ok(sent.every((request) => payer(request) === 'other'));
});

t.test('a list that has room for more is whole', (t) => {
  t.equal(limitOf({}), 20);
  t.equal(limitOf({ limit: 100 }), 100);
  t.equal(limitOf({ limit: '7' }), 7);
  for (const [limit, count, whole] of [
    [undefined, 19, true],
    [undefined, 20, false],
    [100, 99, true],
    [100, 100, false],
    [3, 2, true],
    [3, 4, false],
  ] as const)
    t.equal(
      isWhole(taken(limit === undefined ? {} : { limit }, animals(count))),
      whole,
      `${count} of ${limit}`,
    );
  t.notOk(isWhole(taken({}, 500)), 'what came is no list');
  t.end();
});

t.test('an animal as a list shows it', (t) => {
  const list = taken({}, [[1, 'sold'], [2]]);
  t.match(shown(list, 1n), { id: 1n, status: 'sold' });
  t.equal(shown(list, 3n), undefined);
  t.strictSame([shows(list, 2n), shows(list, 3n), shows(taken({}, 500), 1n)], [true, false, false]);
  t.end();
});

t.test('of the run’s animals a whole list misses those that match and are not there', (t) => {
  const own: readonly Own[] = [
    { id: 1, sent: 'sold' },
    { id: 2, created: 'sold' },
    { id: 3, sent: 'pending' },
    { id: 4 },
  ];
  const missed = (list: ReturnType<typeof taken>) => missing(list, listsOf([], own)).map(({ pet }) => pet.id);
  t.strictSame(missed(taken({}, [[1]])), [2n, 3n, 4n]);
  t.strictSame(missed(taken({ status: 'sold' }, [])), [1n, 2n]);
  t.strictSame(missed(taken({ status: 'sold' }, [[1], [2]])), []);
  t.strictSame(missed(taken({ limit: 1 }, [[9]])), [], 'it may have had no room');
  t.strictSame(missed(taken({}, 500)), []);
  t.strictSame(
    missing(taken({ status: 'sold' }, []), listsOf([], [{ id: 1, sent: 'pending', created: 'sold' }])),
    [],
    'it counts with the status that was sent',
  );
  t.end();
});

/** The lists of a run that added animals 2 and 3 to a store of one, which a target shows from a request on. */
async function listed(shownFrom: Readonly<Record<number, number>>, mayWrite = true) {
  const store: readonly Animal[] = [[1, 'available'], [2, 'pending'], [3]];
  const { run, sent, waits } = testRun(
    ({ path }, number) => ({
      body: listBody(
        select(
          store.filter(([id]) => number >= (shownFrom[Number(id)] ?? 0)),
          path,
        ),
      ),
    }),
    mayWrite ? { permissions: new Set(['writes'] as const) } : {},
  );
  const additions = listsOf([], [{ id: 2, sent: 'pending' }, { id: 3 }]).own;
  const refused = additions.map((addition) => ({ ...addition, pet: undefined }));
  await played(run, 'basic-animals', additions);
  await played(run, 'enough-animals', [...additions, ...refused]);
  const scene = await outcomeOf(run, lists);
  const gap = await observed(run, listAnimalGaps, 'added-visibility');
  return {
    own: scene.own.map(({ pet }) => pet.id),
    all: scene.all.pets?.map(({ id }) => id),
    shownLater: scene.shownLater,
    visibility: gap?.answer,
    paths: sent.map(({ path }) => path),
    waits: waits(),
  };
}

const ROUND = [
  '/pets?limit=100',
  ...['available', 'pending', 'sold'].map((status) => listPets({ limit: 100, status }).path),
];
const pause = (seconds: number) => `${seconds}: animals that were just added to be listed`;

t.test('each list once where all that was added is there', async (t) => {
  const said = await listed({});
  t.strictSame(said, {
    own: [2n, 3n],
    all: [1n, 2n, 3n],
    shownLater: false,
    visibility: 'at-once',
    paths: ROUND,
    waits: [],
  });
  t.equal(said.paths.length, lists.requests);
});

t.test('an addition may take a while to be listed', async (t) => {
  t.match(await listed({ 2: 5 }), {
    all: [1n, 2n, 3n],
    shownLater: true,
    visibility: 'later',
    paths: [...ROUND, ...ROUND],
    waits: [pause(0.29)],
  });
  t.match(
    await listed({ 2: 3 }),
    { shownLater: true, visibility: 'later', paths: { length: 8 } },
    'be it in one of the lists only',
  );
  t.match(await listed({ 2: 5, 3: 9 }), {
    all: [1n, 2n, 3n],
    visibility: 'later',
    waits: [pause(0.29), pause(1.08)],
  });
});

t.test('one that is never listed was not shown later', async (t) => {
  t.match(await listed({ 2: 99 }), {
    all: [1n, 3n],
    shownLater: false,
    visibility: undefined,
    paths: { length: 20 },
    waits: [pause(0.29), pause(1.08), pause(3.12), pause(7.16)],
  });
  t.match(await listed({ 2: 99, 3: 5 }), { shownLater: true, visibility: 'later' }, 'another one was');
});

t.test('a run that may not add waits for nothing', async (t) => {
  t.match(await listed({ 2: 99 }, false), {
    own: [],
    shownLater: false,
    visibility: undefined,
    waits: [],
    paths: { length: 4 },
  });
});
