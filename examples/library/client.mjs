// Tests a Pet Store client against a conforming server and against a faulty one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from 'petstore-harness';

/** The client under test. */
async function sold(address, key) {
  const response = await fetch(`${address}/pets?status=sold`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (response.status === 429) return { retryAfter: Number(response.headers.get('retry-after')) };
  return { animals: (await response.json()).filter(({ status }) => status === 'sold') };
}

test('lists what is sold', async (t) => {
  const server = await serve({ animals: 30 });
  t.after(() => server.close());
  assert.ok((await sold(server.address, server.keys[0].value)).animals.length > 0);
});

test('filters by itself if the server ignores the filter', async (t) => {
  const server = await serve({ faults: ['filter-ignored'] });
  t.after(() => server.close());
  const { animals } = await sold(server.address, server.keys[0].value);
  assert.ok(animals.every(({ status }) => status === 'sold'));
});

test('backs off', async (t) => {
  const server = await serve();
  t.after(() => server.close());
  const { value, plan } = server.keys[0];
  assert.equal(plan, 'free');
  for (let request = 0; request < 60; request += 1) await sold(server.address, value);
  assert.ok((await sold(server.address, value)).retryAfter > 0);
});
