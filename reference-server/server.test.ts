import t from 'tap';
import type { IssuedKey } from './api-keys.ts';
import { startReferenceServer } from './reference-server.ts';
import { startServer } from './server.ts';

const KEYS: IssuedKey[] = [{ name: 'business', plan: 'business', value: 'business-key-for-tests' }];
const BUSINESS = 'Bearer business-key-for-tests';

t.test('a store that is full takes no more, and still lists', async (t) => {
  const rex = { name: 'x'.repeat(99_999_999), categoryId: '1', status: null };
  const server = await startServer({
    keys: KEYS,
    design: (usual) => ({ ...usual, seed: (store) => void store.add(rex) }),
  });
  t.teardown(() => server.close());
  const headers = { 'content-type': 'application/json', authorization: BUSINESS };
  const init = { method: 'POST', body: '{"name":"R","categoryId":1}', headers };
  t.equal((await fetch(`${server.baseUrl}/pets`, init)).status, 201);
  const refused = await fetch(`${server.baseUrl}/pets`, init);
  t.equal(refused.status, 507);
  t.match(await refused.json(), { code: 'store_full', status: 507 });
  t.equal((await fetch(`${server.baseUrl}/pets?limit=1`, { headers })).status, 200);
});

t.test('a clock at another speed shows in every header', async (t) => {
  const server = await startReferenceServer({ keys: KEYS, clockSpeed: 10_000 });
  t.teardown(() => server.close());
  const before = server.clock.now();
  const { headers } = await fetch(`${server.baseUrl}/pets`, { headers: { authorization: BUSINESS } });
  const date = Date.parse(headers.get('date') ?? '');
  t.ok(date >= before - 1_000 && date <= server.clock.now());
});

t.test('names that do not exist are refused with the nearest', async (t) => {
  await t.rejects(
    startReferenceServer({ fault: 'filter-ignore' }),
    /no fault named "filter-ignore"; did you mean "filter-ignored"\?/,
  );
  await t.rejects(startReferenceServer({ variant: 'token-bukket' }), /did you mean "token-bucket"\?/);
});
