import t from 'tap';
import { MINUTE } from '../limits/time.ts';
import type { Key } from '../profile/key.ts';
import type { Permission } from '../profile/permissions.ts';
import { type Check, check as defineCheck } from './check.ts';
import { type PlannedRun, quotaBill, skippedFor } from './plan.ts';
import { scene as defineScene, keyScene, type Needs, type Scene, type Spending } from './scene.ts';

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

const scene = (id: string, permit: Permission | undefined, spends: Spending): Scene<undefined> =>
  defineScene(id, { ...(permit === undefined ? {} : { permit }), ...spends }, async () => undefined);

/** A check that needs a scene of its own, and others. */
const check = (
  id: string,
  spends: Spending,
  {
    needs = {},
    ...more
  }: Partial<Pick<Check, 'permit' | 'lacks' | 'notApplicable'>> & { readonly needs?: Needs } = {},
): Check => defineCheck(id, { ...more, needs: { own: scene(id, undefined, spends), ...needs } });

/** A check that drives these keys to a limit. */
const limit = (id: string, permit: Permission, keys: readonly string[], requests: number): Check =>
  defineCheck(id, {
    needs: {
      limit: keyScene(
        id,
        {
          permit,
          keys: (all) => all.filter(({ name }) => keys.includes(name)),
          lacks: 'no such key',
          spends: () => ({ requests, animals: 2 }),
        },
        async () => undefined,
      ),
    },
  });

function plan(more: Partial<PlannedRun>): PlannedRun {
  return {
    keys: [key('a', 60, 1000)],
    permissions: new Set(['writes', 'exhaust']),
    checks: [],
    gapObservers: [],
    ...more,
  };
}

const requests = (run: PlannedRun) =>
  Object.fromEntries(quotaBill(run).keys.map((bill) => [bill.key.name, bill.requests]));

t.test('scenes that checks share are paid once, and what is not permitted not at all', (t) => {
  const shared = scene('shared', undefined, { requests: 10 });
  const written = scene('written', 'writes', { requests: 5, animals: 4 });
  const checks = [
    check('one', { requests: 3 }, { needs: { shared } }),
    check('two', { requests: 4 }, { needs: { shared, written } }),
    check('three', { requests: 7 }, { permit: 'writes' }),
    check('four', { requests: 50 }, { permit: 'day' }),
    check('five', { requests: 60 }, { lacks: () => 'the profile has no such key' }),
    check('six', { requests: 70 }, { notApplicable: () => 'the plan is custom' }),
  ];
  t.same(requests(plan({ checks })), { a: 1 + 3 + 4 + 7 + 10 + 5 });
  const reading = plan({ checks, permissions: new Set() });
  t.same(requests(reading), { a: 1 + 3 + 10 });
  t.equal(quotaBill(reading).animals, 0, 'nothing is added without the permission');
  t.equal(quotaBill(plan({ checks })).animals, 4);
  t.end();
});

t.test('the key of the largest plan pays, and a minute is waited for where it has nothing left', (t) => {
  const checks = [check('many', { requests: 130 })];
  t.same(requests(plan({ checks, keys: [key('a', 60, 1000), key('b', 300, 1000)] })), { a: 1, b: 131 });
  const alike = plan({ checks, keys: [key('a', 60, 1000), key('b', 60, 1000)] });
  t.same(requests(alike), { a: 131, b: 1 }, 'another one may see other animals');
  const alone = quotaBill(plan({ checks }));
  t.equal(alone.keys[0]?.requests, 131);
  t.ok(alone.total >= 2 * MINUTE && alone.total < 3 * MINUTE, 'sixty a minute: two minutes are waited for');
  t.equal(alone.longestWait, MINUTE);
  t.equal(quotaBill(plan({ checks: [check('few', { requests: 20 })] })).longestWait, 0);
  const banOnly = plan({ checks, keys: [key('ban', 60, 1000, ['ban']), key('b', 300, 1000)] });
  t.same(requests(banOnly), { ban: 1, b: 131 }, 'a key that may be banned pays for nothing else');
  t.end();
});

t.test('what the minute holds already counts towards its exhaustion', (t) => {
  const [a] = [key('a', 60, 1000)];
  const checks = [check('few', { requests: 20 }), limit('minute', 'exhaust', ['a'], 65)];
  const { keys } = quotaBill(plan({ keys: [a], checks }));
  t.match(keys, [{ requests: 65, refusals: 1, exhausted: true }]);
  t.end();
});

t.test('a day holds everything that the run spends on its key, and takes its own pace', (t) => {
  const a = key('a', 60, 1000);
  const checks = [
    check('few', { requests: 20 }),
    limit('minute', 'exhaust', ['a'], 125),
    limit('day', 'day', ['a'], 1020),
  ];
  const bill = quotaBill(plan({ keys: [a], checks, permissions: new Set(['exhaust', 'day']) }));
  t.match(bill.keys, [{ requests: 1020, refusals: 3 }]);
  t.ok(bill.total >= 17 * MINUTE && bill.total <= 23 * MINUTE);
  t.same(bill.unpayable, []);
  t.end();
});

t.test('a plan that the day cannot pay says which key and by how much', (t) => {
  const small = key('small', 60, 100);
  t.same(quotaBill(plan({ keys: [small], checks: [check('many', { requests: 130 })] })).unpayable, [
    'key small would spend 131 requests, but its plan allows 100 a day',
  ]);
  t.end();
});

t.test('lanes run side by side: the longest counts; a ban adds what only the target knows', (t) => {
  const [a, b] = [key('a', 60, 1000), key('b', 60, 1000, ['ban'])];
  const checks = [limit('minute', 'exhaust', ['a'], 125), limit('ban', 'ban', ['b'], 130)];
  const bill = quotaBill(plan({ keys: [a, b], checks, permissions: new Set(['exhaust', 'ban']) }));
  t.equal(bill.waitsForBan, true);
  t.ok(bill.total < 3 * MINUTE, `${bill.total}`);
  t.match(bill.keys[1], { requests: 131, refusals: 70, exhausted: true });
  t.end();
});

t.test('ordinary requests take a round trip each, those without a key too', (t) => {
  const checks = [check('few', { requests: 20, anonymous: 5, animals: 1 }), defineCheck('passive', {})];
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
    quotaBill(plan({ checks: [check('every', { onEveryKey: 2 }), check('many', { requests: many })] }));
  t.match(bill(57), { keys: [{ requests: 60 }], total: 5700 });
  t.match(bill(58), { keys: [{ requests: 61 }], total: 5800 + MINUTE });
  const added = (permissions: PlannedRun['permissions']) =>
    requests(plan({ checks: [check('adds', { onEveryKey: 1 }, { permit: 'writes' })], permissions }));
  t.same(added(new Set(['writes'])), { a: 2 });
  t.same(added(new Set()), { a: 1 }, 'where it is permitted');
  t.end();
});

t.test('of keys with plans of the same size the first pays, before a pause and after it', (t) => {
  const paid = (many: number, ...perMinute: readonly number[]) =>
    Object.values(
      requests(
        plan({
          checks: [check('many', { requests: many })],
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
  const checks = [check('many', { requests: 20 })];
  t.same(requests(plan({ checks, keys: [ban, key('a', 60, 1000)] })), { ban: 1, a: 21 });
  t.same(requests(plan({ checks, keys: [ban] })), { ban: 1 });
  t.end();
});

t.test('a minute holds what was sent in its first half, and since the last pause', (t) => {
  const exhausted = (perMinute: number, many: number, ...limits: readonly Check[]) => {
    const a = key('a', perMinute, 10_000);
    const checks = [check('many', { requests: many }), ...limits];
    return requests(plan({ keys: [a], checks, permissions: new Set(['exhaust', 'ban']) }));
  };
  t.same(exhausted(1000, 299, limit('minute', 'exhaust', ['a'], 1005)), { a: 1005 });
  t.same(exhausted(1000, 300, limit('minute', 'exhaust', ['a'], 1005)), { a: 301 + 1005 });
  t.same(exhausted(60, 69, limit('minute', 'exhaust', ['a'], 65)), { a: 60 + 65 });
  t.same(exhausted(60, 20, limit('minute', 'exhaust', ['a'], 65), limit('ban', 'ban', ['a'], 70)), {
    a: 65 + 70,
  });
  t.end();
});

t.test('how long a lane takes', (t) => {
  const lane = (perMinute: number, ...checks: readonly Check[]) =>
    quotaBill(
      plan({
        keys: [key('a', perMinute, 1000)],
        checks,
        permissions: new Set(['writes', 'exhaust', 'ban', 'day']),
      }),
    );
  const minute = limit('minute', 'exhaust', ['a'], 125);
  t.match(lane(60, minute), {
    total: 2 * 3125 + MINUTE,
    longestWait: MINUTE,
    animals: 2,
    waitsForBan: false,
    keys: [{ refusals: 2, refusalsAtMost: false }],
  });
  t.equal(
    lane(1000, limit('minute', 'exhaust', ['a'], 2500)).total,
    3 * MINUTE,
    'no window takes more than a minute',
  );
  t.equal(lane(60, limit('ban', 'ban', ['a'], 130)).total, 3250 + MINUTE);
  t.match(lane(60, minute, limit('ban', 'ban', ['a'], 130)), {
    total: 2 * 3125 + MINUTE + 3250 + MINUTE,
    animals: 4,
    waitsForBan: true,
    keys: [{ refusals: 2 + 70, refusalsAtMost: true }],
  });
  t.equal(
    lane(60, minute, limit('day', 'day', ['a'], 1020)).total,
    17 * MINUTE,
    'windows that were exhausted are the first of the day',
  );
  t.end();
});

t.test('only a day that is spent on purpose may cost a key more than it has', (t) => {
  const small = key('small', 60, 131, ['functional', 'exhaust']);
  const other = key('other', 10, 1000);
  const unpayable = (many: number, spending: Check) =>
    quotaBill(
      plan({
        keys: [small, other],
        checks: [check('many', { requests: many }), spending],
        permissions: new Set(['exhaust', 'day']),
      }),
    ).unpayable.length;
  const on = (owner: Key, permit: Permission) => limit('lane', permit, [owner.name], 140);
  t.equal(
    quotaBill(plan({ keys: [small], checks: [check('many', { requests: 130 })] })).unpayable.length,
    0,
    'to the last',
  );
  t.equal(quotaBill(plan({ keys: [small], checks: [check('many', { requests: 131 })] })).unpayable.length, 1);
  t.equal(unpayable(1, on(small, 'exhaust')), 1);
  t.equal(unpayable(1, on(small, 'day')), 0);
  t.equal(unpayable(160, on(other, 'day')), 1, 'the day of another key is no excuse');
  t.end();
});

t.test('why a check is skipped', (t) => {
  const given = { keys: [key('a', 60, 1000)], permissions: new Set<Permission>(['writes']) };
  const bans = limit('ban', 'ban', ['a'], 70);
  t.equal(skippedFor(bans, given), 'needs the permission ban');
  t.equal(skippedFor(bans, { ...given, permissions: new Set(['ban']) }), undefined);
  t.equal(skippedFor(check('adds', {}, { permit: 'writes' }), given), undefined);
  t.equal(skippedFor(check('lacks', {}, { lacks: () => 'no such key' }), given), 'no such key');
  const unbound = check('unbound', {}, { permit: 'day', notApplicable: () => 'custom' });
  t.equal(skippedFor(unbound, given), undefined, 'what does not apply is not skipped');
  t.end();
});
