import t from 'tap';
import type { IssuedKey } from './api-keys.ts';
import { startReferenceServer } from './reference-server.ts';

const KEYS: IssuedKey[] = [
  { name: 'free', plan: 'free', value: 'free-key-for-tests' },
  { name: 'other', plan: 'free', value: 'other-key-for-tests' },
  { name: 'business', plan: 'business', value: 'business-key-for-tests' },
];
const FREE = 'Bearer free-key-for-tests';
const OTHER = 'Bearer other-key-for-tests';
const BUSINESS = 'Bearer business-key-for-tests';

/** A clock that stands still until it is told to go on; it starts within a second, as real ones do. */
function settableClock() {
  let time = Date.UTC(2026, 5, 1, 12, 0, 0) + 250;
  return {
    now: () => time,
    speed: 1,
    advance: (seconds: number) => (time += seconds * 1000),
    set: (to: number) => (time = to),
  };
}

type Test = Pick<typeof t, 'teardown'>;

async function service(t: Test, options: Parameters<typeof startReferenceServer>[0] = {}) {
  const clock = settableClock();
  const server = await startReferenceServer({ clock, keys: KEYS, ...options });
  t.teardown(() => server.close());
  return {
    clock,
    async send(path: string, init: RequestInit & { key?: string | null } = {}) {
      const { key = BUSINESS, headers, ...rest } = init;
      const response = await fetch(server.baseUrl + path, {
        ...rest,
        headers: { ...(key === null ? {} : { authorization: key }), ...(headers as Record<string, string>) },
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text };
    },
    add(body: string | null, headers: Record<string, string> = { 'content-type': 'application/json' }) {
      return this.send('/pets', { method: 'POST', body, headers });
    },
  };
}

function quota(headers: Headers): (string | null)[] {
  return ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
}

t.test(
  'every answer has the three headers, a Date by its clock, and an Error body where it is an error',
  async (t) => {
    const api = await service(t);
    const large = 'x'.repeat(1_048_577);
    const requests = [
      [200, await api.send('/pets')],
      [201, await api.add('{"name":"Rex","categoryId":1}')],
      [400, await api.send('/pets?limit=0')],
      [400, await api.send('/pets?limit=%zz')],
      [400, await api.send('/%zz')],
      [400, await api.add('{')],
      [401, await api.send('/pets', { key: null })],
      [404, await api.send('/pets/424242')],
      [404, await api.send('/nowhere')],
      [405, await api.send('/pets', { method: 'DELETE' })],
      [405, await api.send('/pets/1', { method: 'PUT' })],
      [413, await api.add(large)],
      [415, await api.add('{}', { 'content-type': 'text/plain' })],
    ] as const;
    for (const [status, { status: actual, headers, text }] of requests) {
      t.equal(actual, status);
      for (const value of quota(headers)) t.match(value, /^\d+$/);
      t.equal(headers.get('date'), 'Mon, 01 Jun 2026 12:00:00 GMT');
      t.equal(headers.get('content-type'), 'application/json');
      if (status >= 400) t.match(JSON.parse(text), { code: String, message: String, status });
    }
    t.equal((await api.send('/pets', { method: 'DELETE' })).headers.get('allow'), 'GET, POST');
  },
);

t.test(
  'a list has 20 animals, as many as limit where more exist, and one status where it is asked for',
  async (t) => {
    const api = await service(t);
    const count = async (query: string) =>
      (JSON.parse((await api.send(`/pets${query}`)).text) as unknown[]).length;
    t.equal(await count(''), 20);
    t.equal(await count('?limit=1'), 1);
    t.equal(await count('?limit=100'), 100);
    t.equal(await count('?status=pending'), 20);
    t.equal(await count('?status=pending&limit=100'), 24);
    const sold = JSON.parse((await api.send('/pets?limit=7&status=sold')).text) as { status: string }[];
    t.same(
      sold.map(({ status }) => status),
      Array.from({ length: 7 }, () => 'sold'),
    );
  },
);

t.test('absurd queries are refused', async (t) => {
  const api = await service(t);
  for (const query of [
    'limit=',
    'limit=101',
    'limit=-1',
    'limit=1.0',
    'limit=01',
    'limit=+5',
    'limit=5&limit=5',
  ]) {
    t.equal((await api.send(`/pets?${query}`)).status, 400, query);
  }
  for (const query of ['status=Sold', 'status=', 'status=sold&status=sold', 'status=sold%00', '%=1']) {
    t.equal((await api.send(`/pets?${query}`)).status, 400, query);
  }
  t.equal((await api.send('/pets?foo=bar&limit=%35&&')).status, 200, 'unknown parameters are passed over');
});

t.test('an added animal comes back to the last digit and character, by list and by id', async (t) => {
  const api = await service(t);
  for (const name of ['"Rex"', '"  两\\u0000\\ud83d\\ude00 "', '"\\ud800"', '""']) {
    const added = await api.add(`{"name":${name},"categoryId":9223372036854775807,"status":"sold","id":7}`);
    t.equal(added.status, 201, name);
    t.match(added.text, /"categoryId":9223372036854775807/);
    t.equal(JSON.parse(added.text).name, JSON.parse(name));
    const id = /"id":(\d+)/.exec(added.text)?.[1];
    t.not(id, '7');
    t.equal((await api.send(`/pets/${id}`)).text, added.text);
    t.ok((await api.send('/pets?status=sold&limit=1')).text.includes(added.text));
    t.ok((await api.send('/pets?limit=1')).text.includes(added.text));
  }
});

t.test('additions are refused one violation at a time, and leave nothing behind', async (t) => {
  const api = await service(t, { animals: 0 });
  for (const body of [
    null,
    '',
    '{}',
    '[]',
    '"x"',
    '1',
    'null',
    '{"name":"a"}',
    '{"categoryId":1}',
    '{"name":null,"categoryId":1}',
    '{"name":1,"categoryId":1}',
    '{"name":"a","categoryId":"1"}',
    '{"name":"a","categoryId":1.5}',
    '{"name":"a","categoryId":9223372036854775808}',
    '{"name":"a","categoryId":1,"status":"Sold"}',
    '{"name":"a","categoryId":1,"status":null}',
    '{"name":"a","categoryId":1,}',
    '\ufeff{"name":"a","categoryId":1}',
  ]) {
    t.equal((await api.add(body)).status, 400, body ?? 'no body');
  }
  t.equal((await api.send('/pets')).text, '[]');
});

t.test('only a bearer token that is a key to the letter is let in', async (t) => {
  const api = await service(t);
  const value = 'free-key-for-tests';
  for (const key of [
    `Basic ${Buffer.from(`${value}:`).toString('base64')}`,
    value,
    'Bearer',
    'Bearer ',
    `Bearer ${value}x`,
    `Bearer ${value.slice(0, -1)}`,
    `Bearer ${value.toUpperCase()}`,
    `Bearer ${value}, Bearer ${value}`,
  ]) {
    const { status, headers } = await api.send('/pets', { key });
    t.equal(status, 401, key);
    t.equal(headers.get('www-authenticate'), 'Bearer realm="pets"');
  }
  t.equal((await api.send('/pets', { key: `bEARER ${value}` })).status, 200, 'a scheme has no case');
});

t.test('retrieval announces its end, and ends', async (t) => {
  const api = await service(t);
  const before = await api.send('/pets/9223372036854775807');
  t.equal(before.status, 200);
  t.equal(before.headers.get('deprecation'), '@1764892800');
  t.equal(before.headers.get('sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
  t.equal(before.headers.get('link'), '<../pets>; rel="successor-version"');
  t.equal((await api.send('/pets')).headers.get('sunset'), null);
  api.clock.set(Date.UTC(2030, 11, 5) - 1);
  t.equal((await api.send('/pets/9223372036854775807')).status, 200);
  api.clock.set(Date.UTC(2030, 11, 5));
  const after = await api.send('/pets/9223372036854775807');
  t.equal(after.status, 410);
  t.match(JSON.parse(after.text), { status: 410 });
});

t.test('a minute has the plan’s requests, and the next one has them again', async (t) => {
  const api = await service(t);
  const end = Math.ceil((api.clock.now() + 60_000) / 1000);
  for (let left = 59; left >= 0; left -= 1) {
    const { status, headers } = await api.send('/pets?limit=1', { key: FREE });
    t.equal(status, 200);
    t.same(quota(headers), ['60', String(left), String(end)]);
  }
  api.clock.advance(20.5);
  const over = await api.send('/pets', { key: FREE });
  t.equal(over.status, 429);
  t.equal(over.headers.get('retry-after'), '40');
  t.same(quota(over.headers), ['60', '0', String(end)]);
  t.equal((await api.send('/pets', { key: OTHER })).status, 200, 'another key does not feel it');
  api.clock.advance(39.499);
  t.equal((await api.send('/pets', { key: FREE })).status, 429, 'a millisecond before the end');
  api.clock.advance(0.001);
  t.equal((await api.send('/pets', { key: FREE })).headers.get('x-ratelimit-remaining'), '59');
});

t.test('a request without a valid key spends nothing, an erroneous one does', async (t) => {
  const api = await service(t);
  await api.send('/pets', { key: FREE });
  for (const key of [null, `${FREE}x`, 'Basic free-key-for-tests']) {
    const { headers } = await api.send('/pets', { key });
    t.same(quota(headers).slice(0, 2), ['0', '0']);
  }
  t.equal((await api.send('/pets?limit=0', { key: FREE })).headers.get('x-ratelimit-remaining'), '58');
});

t.test('the day binds once it leaves fewer requests than the minute', async (t) => {
  const api = await service(t);
  const endOfDay = Math.ceil((api.clock.now() + 86_400_000) / 1000);
  const spend = async (requests: number) => {
    for (let sent = 0; sent < requests; sent += 1) await api.send('/pets?limit=1', { key: FREE });
  };
  for (let minute = 0; minute < 16; minute += 1) {
    await spend(60);
    api.clock.advance(60);
  }
  const bound = await api.send('/pets', { key: FREE });
  t.same(quota(bound.headers), ['1000', '39', String(endOfDay)]);
  await spend(39);
  api.clock.advance(120);
  const over = await api.send('/pets', { key: FREE });
  t.equal(over.status, 429);
  t.equal(over.headers.get('retry-after'), String(86_400 - 18 * 60));
  t.same(quota(over.headers), ['1000', '0', String(endOfDay)]);
  t.match(JSON.parse(over.text), { code: 'daily_quota_exceeded' });
  api.clock.advance(86_400 - 18 * 60);
  t.equal((await api.send('/pets', { key: FREE })).status, 200);
});

t.test('a key that goes on after 429 is banned for a time, alone, and a polite one never', async (t) => {
  const api = await service(t, { ban: { threshold: 10, seconds: 90 } });
  const exhaust = async () => {
    for (let sent = 0; sent < 60; sent += 1) await api.send('/pets?limit=1', { key: FREE });
  };
  await exhaust();
  for (let sent = 0; sent <= 9; sent += 1) {
    t.match(JSON.parse((await api.send('/pets', { key: FREE })).text), { code: 'rate_limit_exceeded' });
    if (sent === 8) api.clock.advance(1);
  }
  const ban = await api.send('/pets', { key: FREE });
  t.match(JSON.parse(ban.text), { code: 'key_banned', status: 429 });
  t.equal(ban.headers.get('retry-after'), '90');
  t.equal((await api.send('/pets', { key: OTHER })).status, 200);
  api.clock.advance(89);
  const still = await api.send('/pets', { key: FREE });
  t.equal(still.headers.get('retry-after'), '1');
  t.match(quota(still.headers), [/^60$/, /^0$/, /^\d+$/]);
  api.clock.advance(1);
  t.equal((await api.send('/pets', { key: FREE })).status, 200, 'the ban ends when it said');

  for (let minute = 0; minute < 12; minute += 1) {
    api.clock.advance(60);
    await exhaust();
    t.match(JSON.parse((await api.send('/pets', { key: FREE })).text), { code: 'rate_limit_exceeded' });
  }
});

t.test('a ban never says less than the window that is still closed', async (t) => {
  const api = await service(t, { ban: { threshold: 1, seconds: 5 } });
  for (let sent = 0; sent < 61; sent += 1) await api.send('/pets?limit=1', { key: FREE });
  const ban = await api.send('/pets', { key: FREE });
  t.match(JSON.parse(ban.text), { code: 'key_banned' });
  t.equal(ban.headers.get('retry-after'), '60');
  api.clock.advance(3);
  t.equal((await api.send('/pets', { key: FREE })).headers.get('retry-after'), '57');
});

t.test('fifty requests at once are counted one by one', async (t) => {
  const api = await service(t);
  for (let round = 0; round < 2; round += 1) {
    const all = await Promise.all(Array.from({ length: 50 }, () => api.send('/pets?limit=1', { key: FREE })));
    t.equal(all.filter(({ status }) => status === 200).length, round === 0 ? 50 : 10);
  }
});

t.test('animals that are added at once have ids of their own', async (t) => {
  const api = await service(t);
  const all = await Promise.all(Array.from({ length: 200 }, () => api.add('{"name":"Rex","categoryId":1}')));
  t.equal(new Set(all.map(({ text }) => /"id":(\d+)/.exec(text)?.[1])).size, 200);
});

t.test('a clock at another speed shows in every header', async (t) => {
  const server = await startReferenceServer({ keys: KEYS, clockSpeed: 10_000 });
  t.teardown(() => server.close());
  const before = server.clock.now();
  const response = await fetch(`${server.baseUrl}/pets`, { headers: { authorization: BUSINESS } });
  const after = server.clock.now();
  const date = Date.parse(response.headers.get('date') ?? '');
  t.ok(date >= before - 1_000 && date <= after);
});

t.test('names that do not exist are refused with the nearest', async (t) => {
  await t.rejects(
    startReferenceServer({ fault: 'filter-ignore' }),
    /there is no fault named "filter-ignore"; did you mean "filter-ignored"\?/,
  );
  await t.rejects(startReferenceServer({ variant: 'token-bukket' }), /did you mean "token-bucket"\?/);
});
