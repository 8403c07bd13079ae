import { once } from 'node:events';
import net from 'node:net';
import t from 'tap';
import { type ClientRequest, createClient } from './client.ts';
import { header } from './exchange.ts';
import { answersWith, clientOf, KEY, LIST, ok, RECORD, serve } from './testing/test-client.ts';

t.test('one exchange, as it was sent and as it is recorded', async (t) => {
  const server = await serve(
    t,
    answersWith(ok('[1]', 'X-RateLimit-Limit: 60\r\nx-twice: a\r\nX-Twice: b\r\n')),
  );
  let time = 1000;
  const client = clientOf(t, server, { now: () => time++ });
  const record = { ...RECORD, intent: 'fill' } as const;
  const exchange = await client.exchange({ ...LIST, headers: [['X-Extra', '1']] }, record);
  const [request] = server.requests;
  t.equal(request?.path, '/v1/pets?limit=1');
  t.equal(request?.header('authorization'), `Bearer ${KEY}`);
  t.equal(request?.header('accept'), 'application/json');
  t.equal(request?.header('accept-encoding'), 'identity');
  t.match(request?.header('user-agent'), /^petstore-harness\/\d+\.\d+\.\d+/);
  t.equal(request?.header('x-extra'), '1');
  t.equal(request?.header('content-type'), undefined);
  t.equal(request?.header('content-length'), undefined);
  t.match(exchange, {
    ...record,
    key: 'free-1',
    request: { operation: 'listPets', method: 'GET', path: '/pets?limit=1' },
    outcome: { kind: 'response', status: 200, body: '[1]', bodyBytes: 3 },
  });
  t.ok(exchange.sentAt > 1000, 'sent when the connection stood, not when it was asked for');
  t.ok(exchange.sentAt < exchange.receivedAt);
  t.strictSame(exchange.request.headers.slice(-2), [
    ['X-Extra', '1'],
    ['authorization', 'Bearer [key free-1]'],
  ]);
  t.notOk('body' in exchange.request);
  t.strictSame(exchange.outcome.kind === 'response' && exchange.outcome.headers, [
    ['Content-Type', 'application/json'],
    ['X-RateLimit-Limit', '60'],
    ['x-twice', 'a'],
    ['X-Twice', 'b'],
    ['Content-Length', '3'],
  ]);
});

t.test("bodies, and headers in place of the client's own", async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  const add: ClientRequest = { ...LIST, operation: 'createPet', method: 'POST', path: '/pets' };
  const body = '{"name":"犬","categoryId":9223372036854775807}';
  const exchange = await client.exchange({ ...add, body, headers: [['Accept', 'text/html']] }, RECORD);
  await client.exchange({ ...add, body: '' }, RECORD);
  await client.exchange(add, RECORD);
  t.strictSame(
    server.requests.map((request) => [request.body, request.header('content-length')]),
    [
      [body, String(Buffer.byteLength(body))],
      ['', '0'],
      ['', '0'],
    ],
  );
  t.equal(exchange.request.body, body);
  t.equal(server.requests[0]?.header('accept'), 'text/html');
  t.equal(server.requests[0]?.head.match(/^accept:/gim)?.length, 1);
});

t.test('credentials that are no key of the profile', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  const raw = {
    kind: 'raw',
    header: `Basic ${btoa(`${KEY}:`)}`,
    described: 'Basic and a valid key',
  } as const;
  const first = await client.exchange({ ...LIST, authorization: raw }, RECORD);
  const second = await client.exchange({ ...LIST, authorization: { kind: 'none' } }, RECORD);
  t.equal(server.requests[0]?.header('authorization'), raw.header);
  t.equal(server.requests[1]?.header('authorization'), undefined);
  t.strictSame([first.key, second.key], [null, null]);
  t.strictSame(first.request.headers.at(-1), ['authorization', 'Basic and a valid key']);
  t.strictSame(
    second.request.headers.map(([name]) => name),
    ['accept', 'accept-encoding', 'user-agent'],
  );
});

t.test('a media type that is left to the target is not asked for, nor recorded as asked for', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  for (const acceptsAnything of [true, false]) {
    const { request } = await client.exchange({ ...LIST, acceptsAnything }, RECORD);
    const asked = acceptsAnything ? undefined : 'application/json';
    t.equal(server.requests.at(-1)?.header('accept'), asked);
    t.equal(header(request.headers, 'accept'), asked);
  }
});

t.test('a path is sent as it is', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  for (const path of [
    '/pets/%zz',
    '/pets/../pets',
    '/pets//1',
    '/pets/%2e%2e',
    "/pets?limit='1'",
    '/pets?',
  ]) {
    await client.exchange({ ...LIST, path }, RECORD);
    t.equal(server.requests.at(-1)?.path, `/v1${path}`);
  }
});

t.test('base addresses', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const paths: [base: string, path: string][] = [
    ['/v1', '/v1/pets?limit=1'],
    ['/v1/', '/v1/pets?limit=1'],
    ['/store/api/v1//', '/store/api/v1/pets?limit=1'],
    ['', '/pets?limit=1'],
    ['/', '/pets?limit=1'],
  ];
  for (const [base, path] of paths) {
    const client = clientOf(t, server, { baseUrl: new URL(`http://localhost:${server.port}${base}`) });
    t.match(await client.exchange(LIST, RECORD), { outcome: { kind: 'response' } });
    t.equal(server.requests.at(-1)?.path, path, base);
  }
});

const hasIpv6 = await (async () => {
  const probe = net.createServer().listen(0, '::1');
  const listening = await Promise.race([
    once(probe, 'listening').then(() => true),
    once(probe, 'error').then(() => false),
  ]);
  probe.close();
  return listening;
})().catch(() => false);

t.test('IPv6', { skip: !hasIpv6 && 'this machine has none' }, async (t) => {
  const server = await serve(t, answersWith(ok()), '::1');
  const client = clientOf(t, server, { baseUrl: `http://[::1]:${server.port}/v1` });
  t.match(await client.exchange(LIST, RECORD), { outcome: { kind: 'response', status: 200 } });
  t.equal(server.requests[0]?.header('host'), `[::1]:${server.port}`);
});

t.test('connections are kept, and as many as there are exchanges', async (t) => {
  let waiting: (() => void)[] = [];
  const server = await serve(t, {
    request(connection) {
      // Answers when fifty are in flight, which one connection after the other never would be.
      waiting.push(() => connection.write(ok()));
      if (waiting.length < 50) return;
      for (const answer of waiting) answer();
      waiting = [];
    },
  });
  const client = clientOf(t, server);
  const burst = () => Promise.all(Array.from({ length: 50 }, () => client.exchange(LIST, RECORD)));
  const exchanges = [...(await burst()), ...(await burst())];
  t.ok(exchanges.every(({ outcome }) => outcome.kind === 'response'));
  t.equal(server.requests.length, 100);
  t.ok(server.connections <= 60, `${server.connections} connections`);
});

t.test('nothing is sent again on a connection that the other side closes', async (t) => {
  for (const method of ['GET', 'POST', 'HEAD']) {
    const server = await serve(t, {
      request: (connection, { number }) => (number === 1 ? connection.write(ok()) : connection.reset()),
    });
    const client = clientOf(t, server);
    await client.exchange(LIST, RECORD);
    const dropped = await client.exchange({ ...LIST, method }, RECORD);
    t.match(dropped.outcome, { kind: 'failure', reason: 'reset', message: /closed without a response/ });
    await client.exchange(LIST, RECORD);
    t.equal(server.requests.length, 3, `${method}: three exchanges, three requests`);
  }
});

t.test('an idle connection is used again, unless the server is about to close it', async (t) => {
  for (const [keepAlive, connections] of [
    ['', 1],
    ['Keep-Alive: timeout=5\r\n', 1],
    ['Keep-Alive: timeout=1\r\n', 2],
  ] as const) {
    const server = await serve(t, answersWith(ok('[]', keepAlive)));
    const client = clientOf(t, server);
    await client.exchange(LIST, RECORD);
    // The connection is free again some turns of the event loop later.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    await client.exchange(LIST, RECORD);
    t.equal(server.connections, connections, keepAlive);
  }
});

t.test('an interruption ends an exchange at once, whatever it waits for', async (t) => {
  const silent = await serve(t, {});
  const stuck = await serve(t, answersWith('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'));
  for (const server of [silent, stuck]) {
    const client = clientOf(t, server);
    const stop = new AbortController();
    const pending = client.exchange(LIST, RECORD, stop.signal);
    setTimeout(() => stop.abort(), 50);
    const exchange = await pending;
    t.match(exchange.outcome, { kind: 'failure', reason: 'interrupted', message: 'interrupted' });
    t.ok(exchange.receivedAt - exchange.sentAt < 1000);
    const sent = server.requests.length;
    t.match(await client.exchange(LIST, RECORD, stop.signal), { outcome: { reason: 'interrupted' } });
    t.equal(server.requests.length, sent, 'nothing is sent when it has been interrupted before');
  }
});

t.test('a connection that did not answer in time is closed', async (t) => {
  let closed: Promise<unknown> | undefined;
  const server = await serve(t, {
    connected: (connection) => {
      closed = connection.closed;
    },
  });
  const client = clientOf(t, server, { timeouts: { headers: 50 } });
  t.match(await client.exchange(LIST, RECORD), { outcome: { reason: 'headers-timeout' } });
  await closed;
  t.equal(server.connections, 1);
});

t.test('an interruption while connecting sends nothing', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  const stop = new AbortController();
  const pending = client.exchange(LIST, RECORD, stop.signal);
  stop.abort();
  t.match(await pending, { outcome: { kind: 'failure', reason: 'interrupted' } });
  t.match(await client.exchange(LIST, RECORD), { outcome: { kind: 'response' } });
  t.equal(server.requests.length, 1);
});

t.test('closing ends what is under way', async (t) => {
  const server = await serve(t, {});
  const client = clientOf(t, server);
  const pending = client.exchange(LIST, RECORD);
  setTimeout(() => client.close(), 50);
  t.match(await pending, { outcome: { kind: 'failure', reason: 'interrupted' } });
  t.match(await client.exchange(LIST, RECORD), { outcome: { kind: 'failure', reason: 'interrupted' } });
});

t.test('a body of 2 MiB is read, and none that is larger', async (t) => {
  const exact = await serve(t, answersWith(ok('x'.repeat(2 ** 21))));
  t.match(await clientOf(t, exact).exchange(LIST, RECORD), {
    outcome: { kind: 'response', bodyBytes: 2 ** 21 },
  });
  const more = await serve(t, answersWith(ok('x'.repeat(2 ** 21 + 1))));
  t.match(await clientOf(t, more).exchange(LIST, RECORD), {
    outcome: { reason: 'too-large', message: /larger than 2097152 bytes/ },
  });
});

t.test("a request that cannot be sent is the harness's own error, not a failure of the target", async (t) => {
  const server = await serve(t, answersWith(ok()));
  const client = clientOf(t, server);
  await t.rejects(client.exchange({ ...LIST, path: '/pe ts' }, RECORD));
  await t.rejects(client.exchange({ ...LIST, headers: [['X-Bad', 'a\r\nb']] }, RECORD));
  t.equal(server.requests.length, 0);
});

t.test('a host without an address', async (t) => {
  const client = createClient({ baseUrl: 'http://petstore.invalid/v1', now: Date.now, secrets: [] });
  t.teardown(() => client.close());
  t.match(await client.exchange(LIST, RECORD), { outcome: { kind: 'failure', reason: 'unresolved' } });
});

t.test(
  "a key that the target throws back is redacted in the record, the request's own parts too",
  async (t) => {
    const server = await serve(t, answersWith(ok(`{"key":"${KEY}"}`, `X-Key: ${KEY}\r\n`)));
    const client = clientOf(t, server);
    const exchange = await client.exchange(
      { ...LIST, method: 'POST', path: `/pets?key=${KEY}`, body: KEY, headers: [['X-Key', KEY]] },
      RECORD,
    );
    t.notOk(JSON.stringify(exchange).includes(KEY));
    t.match(exchange, {
      request: { path: '/pets?key=[key redacted]', body: '[key redacted]' },
      outcome: { body: '{"key":"[key redacted]"}', bodyBytes: KEY.length + 10 },
    });
    t.equal(server.requests[0]?.body, KEY, 'what is sent is not redacted');
  },
);
