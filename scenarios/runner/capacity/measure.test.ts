import t from 'tap';
import type { BudgetKey } from '../quota/quota.ts';
import { type Spent, searchBill, waitFor } from './measure.ts';

const BUSINESS: BudgetKey = {
  name: 'b',
  plan: 'business',
  env: 'B',
  roles: ['load'],
  perMinute: 1000,
  perDay: 2000,
};
const NOW = 1_800_000_000_000;

const BOOKS = { keys: [BUSINESS], clockSpeed: 1 };

const spent = (...steps: readonly (readonly [secondsAgo: number, requests: number])[]): Spent[] =>
  steps.map(([secondsAgo, sent]) => ({ at: NOW - secondsAgo * 1000, name: 'b', sent }));

t.test('what the last minute leaves is spent without waiting', async (t) => {
  t.equal(waitFor({ rate: 100, seconds: 3 }, BOOKS, spent([40, 300], [10, 300]), NOW).waitSeconds, 0);
});

t.test('a step that the next minute can pay waits for it, no longer than it must', async (t) => {
  const { waitSeconds } = waitFor({ rate: 200, seconds: 3 }, BOOKS, spent([40, 300], [10, 300]), NOW);
  t.ok(waitSeconds > 20 && waitSeconds < 21, `${waitSeconds} s`);
});

t.test('what no minute can pay, or no day any more, is not waited for', async (t) => {
  const { waitSeconds, reason } = waitFor({ rate: 400, seconds: 3 }, BOOKS, spent([40, 300]), NOW);
  t.equal(waitSeconds, Number.POSITIVE_INFINITY);
  t.match(reason, /^1,200 requests in 3 s, .* are more than the load key has$/);
  t.equal(
    waitFor({ rate: 200, seconds: 3 }, BOOKS, spent([400, 900], [300, 900]), NOW).waitSeconds,
    Number.POSITIVE_INFINITY,
  );
});

t.test('the look at the target before each step is on the books', async (t) => {
  t.equal(waitFor({ rate: 1, seconds: 1 }, BOOKS, spent([10, 995]), NOW).waitSeconds, 0);
  t.not(waitFor({ rate: 1, seconds: 1 }, BOOKS, spent([10, 996]), NOW).waitSeconds, 0);
});

t.test(
  'a search may take every minute of its three, but no more than a day or than its fastest step',
  async (t) => {
    const row = {
      name: 'b',
      env: 'B',
      plan: 'business',
      requests: 25,
      busiestMinute: 25,
      perMinute: 1000,
      perDay: 100_000,
    } as const;
    for (const [given, clockSpeed, requests, busiestMinute] of [
      [row, 1, 3000, 1000],
      [{ ...row, perDay: 2000 }, 60, 2000, 1000],
      [{ ...row, perMinute: 1e8, perDay: 1e9 }, 1, 3_400_000, 1_200_000],
    ] as const)
      t.match(searchBill([given], clockSpeed), [{ requests, busiestMinute }]);
  },
);
