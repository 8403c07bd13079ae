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

t.test('the key with most left pays, and a minute is waited for where none has any', (t) => {
  const checks = [check('many', 130)];
  t.same(requests(plan({ checks, keys: [key('a', 60, 1000), key('b', 300, 1000)] })), { a: 1, b: 131 });
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
