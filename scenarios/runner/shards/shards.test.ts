import t from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { type BudgetKey, planQuota } from '../quota/quota.ts';
import { divideKeys, divideLoad, divideUsers } from './shards.ts';

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

t.test('processes have virtual users in proportion to what their keys pay, and each has one', async (t) => {
  const parts = (...shares: number[]) => shares.map((share, key) => ({ keys: [key], share }));
  t.same(divideUsers(parts(0.5, 0.25, 0.25), 8), [4, 2, 2]);
  t.same(divideUsers(parts(0.5, 0.3, 0.2), 7), [4, 2, 1]);
  t.same(divideUsers(parts(0.98, 0.01, 0.01), 5), [3, 1, 1]);
  t.same(divideUsers(parts(0.4, 0.3, 0.3), 3), [1, 1, 1]);
});

t.test('a small key beside a large one is given no more than it has', async (t) => {
  const mixed = scenarioNamed('mixed');
  if (mixed === undefined) throw new Error('no mixed');
  const key = (name: string, plan: BudgetKey['plan'], perMinute: number): BudgetKey => {
    return { name, plan, env: name, roles: ['load'], perMinute, perDay: 100_000 };
  };
  const keys = [key('f', 'free', 60), key('b', 'business', 1000)];
  const quota = planQuota({ facts: mixed, rate: 16, seconds: 120, clockSpeed: 1 }, keys);
  if (quota.kind !== 'paid') throw new Error(quota.reason);
  const { users, bill } = divideLoad('mixed', quota, 2, keys, 7);
  t.ok(users > 7, `${users} users: with seven a seventh would be on the small key`);
  for (const { key, requests, busiestMinute, perMinute } of bill.keys)
    t.ok(busiestMinute <= perMinute && requests > 0, `${key}: ${busiestMinute} of ${perMinute}`);
  t.throws(() => divideLoad('mixed', quota, 3, keys, 7), { message: /3 load keys, one each; there are 2/ });
});
