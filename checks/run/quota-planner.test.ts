import t from 'tap';
import type { Check, Scene } from './check.ts';
import { type Key, MINUTE } from './key-pool.ts';
import { type PlannedRun, quotaBill } from './quota-planner.ts';

function key(
  name: string,
  perMinute: number,
  perDay: number,
  roles: Key['roles'] = ['functional', 'exhaust'],
): Key {
  return {
    name,
    plan: 'free',
    roles,
    limits: { perMinute, perDay },
    value: 'x',
    env: 'X',
    unusedToday: true,
  };
}

const check = (id: string, requests: number, more: Partial<Check> = {}): Check => ({
  id,
  spends: { requests },
  ...more,
});

function scene(id: string, permit: Scene<unknown>['permit'], requests: number): Scene<unknown> {
  return {
    id,
    ...(permit === undefined ? {} : { permit }),
    spends: { requests, animals: 2 },
    play: async () => undefined,
  };
}

function plan(more: Partial<PlannedRun>): PlannedRun {
  return {
    keys: [key('a', 60, 1000)],
    permissions: new Set(['writes', 'exhaust']),
    checks: [],
    gapObservers: [],
    lanes: [],
    ...more,
  };
}

const requests = (run: PlannedRun) =>
  Object.fromEntries(quotaBill(run).keys.map((bill) => [bill.key.name, bill.requests]));

t.test('scenes that checks share are paid once, and what is not permitted not at all', (t) => {
  const shared = scene('shared', undefined, 10);
  const written = scene('written', 'writes', 5);
  const checks = [
    check('one', 3, { scenes: [shared] }),
    check('two', 4, { scenes: [shared, written] }),
    check('three', 7, { permit: 'writes' }),
    check('four', 50, { permit: 'day' }),
  ];
  t.same(requests(plan({ checks })), { a: 1 + 3 + 4 + 7 + 10 + 5 });
  const reading = plan({ checks, permissions: new Set() });
  t.same(requests(reading), { a: 1 + 3 + 4 + 10 });
  t.equal(quotaBill(reading).animals, 0, 'nothing is added without the permission');
  t.equal(quotaBill(plan({ checks })).animals, 4);
  t.end();
});

t.test('the key of the largest plan pays, and a minute is waited for where it has nothing left', (t) => {
  const checks = [check('many', 130)];
  t.same(requests(plan({ checks, keys: [key('a', 60, 1000), key('b', 300, 1000)] })), { a: 1, b: 131 });
  const alike = plan({ checks, keys: [key('a', 60, 1000), key('b', 60, 1000)] });
  t.same(requests(alike), { a: 131, b: 1 }, 'another one may see other animals');
  const alone = quotaBill(plan({ checks }));
  t.equal(alone.keys[0]?.requests, 131);
  t.ok(alone.total >= 2 * MINUTE && alone.total < 3 * MINUTE, 'sixty a minute: two minutes are waited for');
  t.equal(alone.longestWait, MINUTE);
  t.equal(quotaBill(plan({ checks: [check('few', 20)] })).longestWait, 0);
  const banOnly = plan({ checks, keys: [key('ban', 60, 1000, ['ban']), key('b', 300, 1000)] });
  t.same(requests(banOnly), { ban: 1, b: 131 }, 'a key that may be banned pays for nothing else');
  t.end();
});

t.test('what the minute holds already counts towards its exhaustion', (t) => {
  const [a] = [key('a', 60, 1000)];
  const lanes = [{ key: a, scenes: [scene('minute:a', 'exhaust', 65)] }];
  const { keys } = quotaBill(plan({ keys: [a], checks: [check('few', 20)], lanes }));
  t.match(keys, [{ requests: 65, refusals: 1, exhausted: true }]);
  t.end();
});

t.test('a day holds everything that the run spends on its key, and takes its own pace', (t) => {
  const a = key('a', 60, 1000);
  const lanes = [{ key: a, scenes: [scene('minute:a', 'exhaust', 125), scene('day:a', 'day', 1020)] }];
  const bill = quotaBill(
    plan({ keys: [a], checks: [check('few', 20)], lanes, permissions: new Set(['exhaust', 'day']) }),
  );
  t.match(bill.keys, [{ requests: 1020, refusals: 3 }]);
  t.ok(bill.total >= 17 * MINUTE && bill.total <= 23 * MINUTE);
  t.same(bill.unpayable, []);
  t.end();
});

t.test('a plan that the day cannot pay says which key and by how much', (t) => {
  const small = key('small', 60, 100);
  t.same(quotaBill(plan({ keys: [small], checks: [check('many', 130)] })).unpayable, [
    'key small would spend 131 requests, and its plan has 100 a day',
  ]);
  t.end();
});

t.test('lanes run side by side: the longest counts; a ban adds what only the target knows', (t) => {
  const [a, b] = [key('a', 60, 1000), key('b', 60, 1000, ['ban'])];
  const lanes = [
    { key: a, scenes: [scene('minute:a', 'exhaust', 125)] },
    { key: b, scenes: [scene('ban:b', 'ban', 130)] },
  ];
  const bill = quotaBill(plan({ keys: [a, b], lanes, permissions: new Set(['exhaust', 'ban']) }));
  t.equal(bill.waitsForBan, true);
  t.ok(bill.total < 3 * MINUTE, `${bill.total}`);
  t.match(bill.keys[1], { requests: 131, refusals: 70, exhausted: true });
  t.end();
});

t.test('ordinary requests take a round trip each, those without a key too', (t) => {
  const checks = [
    check('few', 20, { spends: { requests: 20, anonymous: 5, animals: 1 } }),
    { id: 'passive' },
  ];
  t.match(quotaBill(plan({ checks })), {
    keys: [{ requests: 21, refusals: 0, refusalsAtMost: false, exhausted: false }],
    anonymous: 5,
    animals: 1,
    longestWait: 0,
    total: 2500,
    waitsForBan: false,
    unpayable: [],
  });
  t.end();
});

t.test('what is asked on every key leaves that much less of its minute', (t) => {
  const bill = (many: number) =>
    quotaBill(plan({ checks: [check('rate-keys-apart', 0), check('many', many)] }));
  t.match(bill(57), { keys: [{ requests: 60 }], total: 5700 });
  t.match(bill(58), { keys: [{ requests: 61 }], total: 5800 + MINUTE });
  const added = (permissions: PlannedRun['permissions']) =>
    requests(plan({ checks: [check('add-rejects-name-type', 0, { permit: 'writes' })], permissions }));
  t.same(added(new Set(['writes'])), { a: 2 });
  t.same(added(new Set()), { a: 1 }, 'where it is permitted');
  t.end();
});

t.test('of keys with plans of the same size the first pays, before a pause and after it', (t) => {
  const paid = (many: number, ...perMinute: readonly number[]) =>
    Object.values(
      requests(
        plan({
          checks: [check('many', many)],
          keys: perMinute.map((limit, index) => key(`key-${index}`, limit, 1000)),
        }),
      ),
    );
  t.strictSame(paid(1, 10, 10), [2, 1]);
  t.strictSame(paid(9, 10, 10), [10, 1]);
  t.strictSame(paid(10, 10, 10), [11, 1]);
  t.strictSame(paid(20, 10, 20), [1, 21], 'or the larger one, wherever it stands');
  t.end();
});

t.test('only a functional key pays, and without one nobody does', (t) => {
  const ban = key('ban', 300, 1000, ['ban']);
  const checks = [check('many', 20)];
  t.same(requests(plan({ checks, keys: [ban, key('a', 60, 1000)] })), { ban: 1, a: 21 });
  t.same(requests(plan({ checks, keys: [ban] })), { ban: 1 });
  t.end();
});

t.test('a minute holds what was sent in its first half, and since the last pause', (t) => {
  const exhausted = (perMinute: number, many: number, scenes: readonly Scene<unknown>[]) => {
    const a = key('a', perMinute, 10_000);
    return requests(plan({ keys: [a], checks: [check('many', many)], lanes: [{ key: a, scenes }] }));
  };
  t.same(exhausted(1000, 299, [scene('minute:a', 'exhaust', 1005)]), { a: 1005 });
  t.same(exhausted(1000, 300, [scene('minute:a', 'exhaust', 1005)]), { a: 301 + 1005 });
  t.same(exhausted(60, 69, [scene('minute:a', 'exhaust', 65)]), { a: 60 + 65 });
  t.same(exhausted(60, 20, [scene('minute:a', 'exhaust', 65), scene('ban:a', 'ban', 70)]), { a: 65 + 70 });
  t.end();
});

t.test('how long a lane takes', (t) => {
  const lane = (perMinute: number, ...scenes: readonly Scene<unknown>[]) => {
    const a = key('a', perMinute, 1000);
    return quotaBill(plan({ keys: [a], lanes: [{ key: a, scenes }] }));
  };
  const minute = scene('minute:a', 'exhaust', 125);
  t.match(lane(60, minute), {
    total: 2 * 3125 + MINUTE,
    longestWait: MINUTE,
    animals: 2,
    waitsForBan: false,
    keys: [{ refusals: 2, refusalsAtMost: false }],
  });
  t.equal(
    lane(1000, scene('minute:a', 'exhaust', 2500)).total,
    3 * MINUTE,
    'no window takes more than a minute',
  );
  t.equal(lane(60, scene('ban:a', 'ban', 130)).total, 3250 + MINUTE);
  t.match(lane(60, minute, scene('ban:a', 'ban', 130)), {
    total: 2 * 3125 + MINUTE + 3250 + MINUTE,
    animals: 4,
    waitsForBan: true,
    keys: [{ refusals: 2 + 70, refusalsAtMost: true }],
  });
  t.equal(
    lane(60, minute, scene('day:a', 'day', 1020)).total,
    17 * MINUTE,
    'windows that were exhausted are the first of the day',
  );
  t.end();
});

t.test('only a day that is spent on purpose may cost a key more than it has', (t) => {
  const small = key('small', 60, 131, ['functional', 'exhaust']);
  const other = key('other', 10, 1000);
  const unpayable = (many: number, lanes: PlannedRun['lanes']) =>
    quotaBill(plan({ keys: [small, other], checks: [check('many', many)], lanes })).unpayable.length;
  const on = (owner: Key, permit: Scene<unknown>['permit']) => [
    { key: owner, scenes: [scene('lane', permit, 140)] },
  ];
  t.equal(
    quotaBill(plan({ keys: [small], checks: [check('many', 130)] })).unpayable.length,
    0,
    'to the last',
  );
  t.equal(quotaBill(plan({ keys: [small], checks: [check('many', 131)] })).unpayable.length, 1);
  t.equal(unpayable(1, on(small, 'exhaust')), 1);
  t.equal(unpayable(1, on(small, 'day')), 0);
  t.equal(unpayable(160, on(other, 'day')), 1, 'the day of another key is no excuse');
  t.end();
});
