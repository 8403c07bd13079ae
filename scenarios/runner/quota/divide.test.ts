import t from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { divideKeys, divideLoad } from './divide.ts';
import { type BudgetKey, planQuota } from './quota.ts';

t.test('keys are divided evenly, each to one process', async (t) => {
  const parts = divideKeys(
    new Map([
      [0, 0.4],
      [1, 0.3],
      [2, 0.2],
      [3, 0.1],
    ]),
    2,
  );
  t.same(
    parts.map(({ keys }) => keys),
    [
      [0, 3],
      [1, 2],
    ],
  );
  for (const { share } of parts) t.ok(Math.abs(share - 0.5) < 1e-9);
});

const mixed = scenarioNamed('mixed');
if (mixed === undefined) throw new Error('no mixed');
const facts = mixed;

function key(name: string, plan: BudgetKey['plan'], perMinute: number): BudgetKey {
  return { name, plan, env: name, roles: ['load'], perMinute, perDay: 100_000 };
}

function divided(rate: number, count: number, evenly: boolean, ...keys: BudgetKey[]) {
  const demand = { facts, rate, seconds: 120, clockSpeed: 1 };
  const quota = planQuota(demand, keys);
  if (quota.kind !== 'paid') throw new Error(quota.reason);
  return divideLoad(demand, keys, quota, { count, evenly });
}

t.test('a small key beside a large one is given no more than it has', async (t) => {
  const { parts, bill } = divided(16, 2, false, key('f', 'free', 60), key('b', 'business', 1000));
  for (const { key, requests, busiestMinute, perMinute } of bill.keys)
    t.ok(busiestMinute <= perMinute && requests > 0, `${key}: ${busiestMinute} of ${perMinute}`);
  const rates = parts.map(({ rate }) => rate);
  t.ok(Math.abs(rates.reduce((a, b) => a + b, 0) - 16) < 1e-9, `${rates}`);
  t.ok(Math.max(...rates) > 14, 'the large key pays for most');
  t.same(
    parts.map(({ streams }) => streams[0]?.keys),
    [[1], [0]],
  );
});

t.test('the bill is the whole load once, with one look at the target', async (t) => {
  const keys = [key('a', 'business', 1000), key('b', 'business', 1000), key('c', 'business', 1000)];
  const { parts, bill } = divided(9, 3, false, ...keys);
  // Each process rounds its own part up.
  t.ok(bill.total > 9 * 120 && bill.total <= 9 * 120 + 3, `${bill.total}`);
  t.equal(parts.length, 3);
  t.equal(bill.keys.length, 3);
});

t.test('equal parts are for keys that can pay them', async (t) => {
  const [large, other] = [key('a', 'business', 1000), key('b', 'business', 1000)];
  const { parts } = divided(16, 2, true, large, other);
  t.same(
    parts.map(({ rate }) => rate),
    [8, 8],
  );
  t.throws(() => divided(16, 2, true, large, key('f', 'free', 60)), {
    message: /f cannot pay an even part; a lower rate or fewer shards may do$/,
  });
});

t.test('no two processes share a key', async (t) => {
  t.throws(() => divided(1, 3, false, key('f', 'free', 60), key('b', 'business', 1000)), {
    message: /3 load keys, one each; there are 2/,
  });
});
