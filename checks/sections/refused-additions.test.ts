import t from 'tap';
import type { History, Judge } from '../harness/check.ts';
import { answered } from '../harness/exchange-for-tests.ts';
import { storedThoughRefused } from './refused-additions.ts';

const addition = (status: number, sentAt: number, name = 'harness-1 refused') =>
  answered({
    operation: 'createPet',
    method: 'POST',
    requestBody: JSON.stringify({ name, categoryId: 1 }),
    status,
    body: '{}',
    sentAt,
  });
const list = (names: readonly string[], sentAt: number) =>
  answered({
    sentAt,
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify(names.map((name, index) => ({ id: index + 1, name, categoryId: 1 }))),
  });

function broken(exchanges: History['exchanges']): number {
  let count = 0;
  const judge: Judge = {
    holds() {},
    breaks() {
      count += 1;
    },
    unsettled() {},
    notApplicable() {},
  };
  storedThoughRefused(429, 'none was refused')({ exchanges }, judge);
  return count;
}

t.test('an animal whose addition was refused is not listed afterwards', async (t) => {
  t.equal(broken([addition(429, 1), list(['another'], 2)]), 0);
  t.equal(broken([addition(429, 1), list(['harness-1 refused'], 2)]), 1);
});

t.test('one that was also added by a request that was admitted is rightly there', async (t) => {
  t.equal(broken([addition(201, 1), addition(429, 2), list(['harness-1 refused'], 3)]), 0);
  t.equal(broken([addition(429, 1), addition(201, 2), list(['harness-1 refused'], 3)]), 0);
});

t.test('of a name that anybody may have given nothing can be told', async (t) => {
  t.equal(broken([addition(429, 1, 'null'), list(['null'], 2)]), 0);
});
