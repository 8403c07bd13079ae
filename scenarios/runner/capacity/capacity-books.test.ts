import t from 'tap';
import type { BudgetKey } from '../quota/quota.ts';
import { MinuteBooks } from './capacity-books.ts';

const BUSINESS: BudgetKey = {
  name: 'b',
  plan: 'business',
  env: 'B',
  roles: ['load'],
  perMinute: 1000,
  perDay: 2000,
};
const NOW = 1_800_000_000_000;

function spent(...steps: readonly (readonly [secondsAgo: number, requests: number])[]): MinuteBooks {
  const books = new MinuteBooks({ keys: [BUSINESS], clockSpeed: 1 });
  for (const [secondsAgo, sent] of steps) {
    const row = { key: 'b', plan: BUSINESS.plan, requests: sent, busiestMinute: sent, sent };
    const { perMinute, perDay } = BUSINESS;
    books.spend({ keys: [{ ...row, perMinute, perDay }], total: sent }, NOW - secondsAgo * 1000);
  }
  return books;
}

t.test('what the last minute leaves is spent without waiting', async (t) => {
  t.equal(spent([40, 300], [10, 300]).wait({ rate: 100, seconds: 3 }, NOW).waitSeconds, 0);
});

t.test('a step that the next minute can pay waits for it, no longer than it must', async (t) => {
  const { waitSeconds } = spent([40, 300], [10, 300]).wait({ rate: 200, seconds: 3 }, NOW);
  t.ok(waitSeconds !== undefined && waitSeconds > 20 && waitSeconds < 21, `${waitSeconds} s`);
});

t.test('what no minute can pay, or no day any more, is not waited for', async (t) => {
  const { waitSeconds, reason } = spent([40, 300]).wait({ rate: 400, seconds: 3 }, NOW);
  t.equal(waitSeconds, undefined);
  t.match(reason, /^1200 requests in 3 s, .* are more than the load key has$/);
  t.equal(spent([400, 900], [300, 900]).wait({ rate: 200, seconds: 3 }, NOW).waitSeconds, undefined);
});

t.test('the look at the target before each step is on the books', async (t) => {
  t.equal(spent([10, 995]).wait({ rate: 1, seconds: 1 }, NOW).waitSeconds, 0);
  t.not(spent([10, 996]).wait({ rate: 1, seconds: 1 }, NOW).waitSeconds, 0);
});
