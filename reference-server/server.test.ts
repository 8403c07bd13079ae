import t from 'tap';
import type { IssuedKey } from './api-keys.ts';
import { startReferenceServer } from './reference-server.ts';
import { startServer } from './server.ts';

const KEYS: IssuedKey[] = [
  { name: 'free', plan: 'free', value: 'free-key-for-tests' },
  { name: 'other', plan: 'free', value: 'other-key-for-tests' },
  { name: 'business', plan: 'business', value: 'business-key-for-tests' },
];
const FREE = 'Bearer free-key-for-tests';
const OTHER = 'Bearer other-key-for-tests';
const BUSINESS = 'Bearer business-key-for-tests';
const JSON_TYPE = { 'content-type': 'application/json' };

type Sent = Omit<RequestInit, 'headers'> & { key?: string | null; headers?: Record<string, string> };

/** A server whose clock stands still until it is told to go on; it starts within a second, as real ones do. */
async function service(
  t: { teardown(end: () => unknown): void },
  options: Parameters<typeof startReferenceServer>[0] = {},
) {
  const clock = { time: Date.UTC(2026, 5, 1, 12) + 250, speed: 1, now: () => clock.time };
  const server = await startReferenceServer({ clock, keys: KEYS, ...options });
  t.teardown(() => server.close());
  const send = async (path: string, { key = BUSINESS, headers, ...init }: Sent = {}) => {
    const all = key === null ? { ...headers } : { authorization: key, ...headers };
    const response = await fetch(server.baseUrl + path, { ...init, headers: all });
    const quota = ['limit', 'remaining', 'reset'].map((name) => response.headers.get(`x-ratelimit-${name}`));
    return { status: response.status, headers: response.headers, quota, text: await response.text() };
  };
  return {
    clock,
    send,
    add: (body: string, headers: Record<string, string> = JSON_TYPE) =>
      send('/pets', { method: 'POST', body, headers }),
    /** Sends so many requests with a key, and gives the last answer. */
    async spend(requests: number, key = FREE) {
      await Promise.all(Array.from({ length: requests - 1 }, () => send('/pets?limit=1', { key })));
      return send('/pets?limit=1', { key });
    },
  };
}

t.test('what the document leaves open is answered as README.md says', async (t) => {
  const api = await service(t);
  const post = (body: string, headers: Record<string, string> = JSON_TYPE): Sent => ({
    method: 'POST',
    body,
    headers,
  });
  const rex = '{"name":"Rex","categoryId":1}';
  const rows: [number, string, Sent?][] = [
    ...['', '?foo=bar&limit=%35&&', '?limit=100&status=sold'].map((query): [number, string] => [
      200,
      `/pets${query}`,
    ]),
    ...[
      'limit=',
      'limit=101',
      'limit=0',
      'limit=1.0',
      'limit=01',
      'limit=+5',
      'limit=5&limit=5',
      'limit=%zz',
    ].map((query): [number, string] => [400, `/pets?${query}`]),
    ...['status=Sold', 'status=', 'status=sold&status=sold', 'status=sold%00', '%=1'].map(
      (query): [number, string] => [400, `/pets?${query}`],
    ),
    [400, '/%zz'],
    ...[
      '/nowhere',
      '/pets/',
      '/pets/1/2',
      '/pets/01',
      '/pets/+1',
      '/pets/424242',
      '/pets/9223372036854775808',
    ].map((path): [number, string] => [404, path]),
    [405, '/pets', { method: 'DELETE' }],
    [405, '/pets/1', { method: 'PUT' }],
    [201, '/pets', post(rex)],
    [201, '/pets', post(rex, { 'content-type': 'Application/JSON ; charset="UTF-8"; v=1' })],
    [201, '/pets', post('{"name":"","categoryId":1e2,"id":7,"name":"the last one","tags":[{}]}')],
    [400, '/pets', post('\ufeff{"name":"a","categoryId":1}')],
    [400, '/pets', post('{"name":"a","categoryId":1,"status":null}')],
    [400, '/pets', { method: 'POST' }],
    [413, '/pets', post('x'.repeat(1_048_577))],
    [415, '/pets', post(rex, { 'content-type': 'text/plain' })],
    [415, '/pets', post(rex, { 'content-type': 'application/json; charset=latin1' })],
    [415, '/pets', post(rex, { ...JSON_TYPE, 'content-encoding': 'gzip' })],
    [401, '/pets', { key: null }],
    ...[
      'Bearer ',
      `${BUSINESS}x`,
      `Basic ${BUSINESS.slice(7)}`,
      `${BUSINESS}, ${BUSINESS}`,
      BUSINESS.slice(7),
    ].map((key): [number, string, Sent] => [401, '/pets', { key }]),
    [200, '/pets', { key: BUSINESS.replace('Bearer', 'bEARER') }],
  ];
  for (const [expected, path, init] of rows) {
    const { status, headers, quota, text } = await api.send(path, init);
    t.equal(status, expected, `${path} ${JSON.stringify(init)}`.slice(0, 120));
    t.ok(quota.every((value) => /^\d+$/.test(value ?? '')));
    t.equal(headers.get('date'), 'Mon, 01 Jun 2026 12:00:00 GMT');
    t.equal(headers.get('content-type'), 'application/json');
    if (status >= 400) t.match(JSON.parse(text), { code: String, message: String, status });
    if (status === 401)
      t.strictSame([headers.get('www-authenticate'), quota[0], quota[1]], ['Bearer realm="pets"', '0', '0']);
    if (status === 405) t.equal(headers.get('allow'), path === '/pets' ? 'GET, POST' : 'GET');
  }
});

t.test('an added animal comes back to the last digit and character, newest first', async (t) => {
  const api = await service(t);
  for (const name of ['"Rex"', '"  两\\u0000\\ud83d\\ude00 "', '"\\ud800"', '""']) {
    const added = await api.add(`{"name":${name},"categoryId":9223372036854775807,"status":"sold","id":7}`);
    t.match(added.text, /^\{"id":9\d+,"name":".*","categoryId":9223372036854775807,"status":"sold"\}$/);
    t.equal(JSON.parse(added.text).name, JSON.parse(name));
    t.equal((await api.send(`/pets/${/\d+/.exec(added.text)?.[0]}`)).text, added.text);
    for (const list of ['/pets?status=sold&limit=1', '/pets?limit=1'])
      t.equal((await api.send(list)).text, `[${added.text}]`);
  }
});

t.test('a store that is full takes no more, and still lists', async (t) => {
  const rex = { name: 'x'.repeat(99_999_999), categoryId: '1', status: null };
  const server = await startServer({
    keys: KEYS,
    design: (usual) => ({ ...usual, seed: (store) => void store.add(rex) }),
  });
  t.teardown(() => server.close());
  const headers = { ...JSON_TYPE, authorization: BUSINESS };
  const init = { method: 'POST', body: '{"name":"R","categoryId":1}', headers };
  t.equal((await fetch(`${server.baseUrl}/pets`, init)).status, 201);
  const refused = await fetch(`${server.baseUrl}/pets`, init);
  t.equal(refused.status, 507);
  t.match(await refused.json(), { code: 'store_full', status: 507 });
  t.equal((await fetch(`${server.baseUrl}/pets?limit=1`, { headers })).status, 200);
});

t.test('retrieval announces its end, and ends', async (t) => {
  const api = await service(t);
  const { headers } = await api.send('/pets/9223372036854775807');
  t.strictSame(
    ['deprecation', 'sunset', 'link'].map((name) => headers.get(name)),
    ['@1764892800', 'Thu, 05 Dec 2030 00:00:00 GMT', '<../pets>; rel="successor-version"'],
  );
  for (const [time, status] of [
    [-1, 200],
    [0, 410],
  ] as const) {
    api.clock.time = Date.UTC(2030, 11, 5) + time;
    t.equal((await api.send('/pets/9223372036854775807')).status, status);
  }
});

t.test('a minute is counted to the millisecond, also for what is in flight at once', async (t) => {
  const api = await service(t);
  const first = await api.send('/pets', { key: FREE });
  const [, , end] = first.quota;
  t.strictSame(first.quota, ['60', '59', String(Math.ceil((api.clock.time + 60_000) / 1000))]);
  t.equal((await api.send('/pets', { key: `${FREE}x` })).status, 401, 'spends nothing');
  t.strictSame((await api.send('/pets?limit=0', { key: FREE })).quota, ['60', '58', end], 'spends one');
  const all = await Promise.all(Array.from({ length: 70 }, () => api.send('/pets?limit=1', { key: FREE })));
  t.equal(all.filter(({ status }) => status === 200).length, 58);
  api.clock.time += 59_999;
  t.equal((await api.send('/pets', { key: OTHER })).status, 200, 'another key does not feel it');
  t.equal((await api.send('/pets', { key: FREE })).status, 429, 'a millisecond before the end');
});

t.test('the day binds once it leaves fewer requests than the minute', async (t) => {
  const api = await service(t);
  const endOfDay = String(Math.ceil((api.clock.time + 86_400_000) / 1000));
  for (let minute = 0; minute < 16; minute += 1) {
    await api.spend(60);
    api.clock.time += 60_000;
  }
  t.strictSame((await api.spend(1)).quota, ['1000', '39', endOfDay]);
  await api.spend(39);
  api.clock.time += 120_000;
  const over = await api.spend(1);
  t.strictSame([over.status, over.headers.get('retry-after')], [429, String(86_400 - 18 * 60)]);
  t.strictSame(over.quota, ['1000', '0', endOfDay]);
  t.match(JSON.parse(over.text), { code: 'daily_quota_exceeded' });
  api.clock.time += (86_400 - 18 * 60) * 1000;
  t.equal((await api.spend(1)).status, 200);
});

t.test(
  'a ban follows the tenth request after a 429, ends as told, and never before the window',
  async (t) => {
    const api = await service(t, { ban: { threshold: 10, seconds: 90 } });
    t.match((await api.spend(60)).quota, ['60', '0']);
    const codeOf = ({ text }: { text: string }) => JSON.parse(text).code;
    t.equal(codeOf(await api.spend(10)), 'rate_limit_exceeded');
    const ban = await api.spend(1);
    t.strictSame([codeOf(ban), ban.status, ban.headers.get('retry-after')], ['key_banned', 429, '90']);
    t.equal((await api.spend(1, OTHER)).status, 200, 'another key does not feel it');
    api.clock.time += 89_000;
    t.equal((await api.spend(1)).headers.get('retry-after'), '1', 'a request does not prolong it');
    api.clock.time += 1_000;
    t.equal((await api.spend(60)).status, 200);
    t.equal(codeOf(await api.spend(10)), 'rate_limit_exceeded', 'the count starts afresh');
    api.clock.time += 60_000;
    await api.spend(60);
    t.equal(codeOf(await api.spend(10)), 'rate_limit_exceeded', 'whoever was admitted in between is polite');

    const short = await service(t, { ban: { threshold: 1, seconds: 5 } });
    const longer = await short.spend(62);
    t.strictSame([codeOf(longer), longer.headers.get('retry-after')], ['key_banned', '60']);
  },
);

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
