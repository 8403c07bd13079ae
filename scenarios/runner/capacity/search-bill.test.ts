import t from 'tap';
import type { KeyBill } from '../quota/quota.ts';
import { searchBill } from './capacity-books.ts';

const step = (...keys: Partial<KeyBill>[]) => ({
  keys: keys.map((given, index) => ({
    key: `load-${index}`,
    plan: 'business' as const,
    requests: 25,
    busiestMinute: 25,
    perMinute: 1000,
    perDay: 100_000,
    ...given,
  })),
  total: 25 * keys.length,
});

t.test('a search may take every minute of its three, from every key', (t) => {
  const { keys, total } = searchBill(step({}, {}), 1);
  t.strictSame(
    keys.map(({ requests, busiestMinute }) => [requests, busiestMinute]),
    [
      [3000, 1000],
      [3000, 1000],
    ],
  );
  t.equal(total, 6000);
  t.end();
});

t.test('never more than a day has, however many of its minutes a fast clock brings', (t) => {
  const { keys, total } = searchBill(step({ perDay: 2000 }, {}), 60);
  t.strictSame(
    keys.map(({ requests }) => requests),
    [2000, 100_000],
  );
  t.equal(total, 102_000);
  t.end();
});

t.test('nor more than the fastest step sends in all that time', (t) => {
  const { keys, total } = searchBill(
    step({ perMinute: 1e8, perDay: 1e9 }, { perMinute: 1e8, perDay: 1e9 }),
    1,
  );
  t.equal(total, 3_400_000);
  t.equal(keys[0]?.requests, 3_400_000);
  t.equal(keys[0]?.busiestMinute, 1_200_000);
  t.end();
});
