import t from 'tap';
import { tlsFront } from '../../cli/testing/gateways.ts';
import {
  createAuthority,
  createCertificate,
  trustedTarget,
} from '../accuracy/hostile/testing/tls-targets.ts';
import { type Access, DIRECT } from './access.ts';
import { createClient, type HttpClient } from './client.ts';
import { answersWith, clientOf, KEY, LIST, ok, RECORD, serve } from './testing/test-client.ts';

t.test('an https address is trusted by the authority that is named, and by no other', async (t) => {
  const authority = await createAuthority();
  const target = await (await trustedTarget(authority)).start();
  t.teardown(() => target.close());
  const outcomeWith = async (tls: Access['tls']) => {
    const access = { ...DIRECT, tls };
    const client = createClient({ baseUrl: target.url, now: Date.now, secrets: [KEY], access });
    t.teardown(() => client.close());
    return (await client.exchange(LIST, RECORD)).outcome;
  };
  t.match(await outcomeWith({ ca: authority.cert }), { kind: 'response', status: 200 });
  t.equal(target.requests.length, 1);
  const untrusted = { kind: 'failure', reason: 'tls', message: /authority is not (trusted|known)/ };
  t.match(await outcomeWith({}), untrusted);
  t.match(await outcomeWith({ ca: (await createAuthority('another')).cert }), untrusted);
  t.equal(target.requests.length, 1, 'no key is sent to whom nobody trusts');
});

t.test('whoever speaks HTTP/2 only is spoken to, by several connections at once', async (t) => {
  const server = await serve(t, answersWith(ok()));
  const upstream = new URL(`http://127.0.0.1:${server.port}`);
  const port = await tlsFront(t, upstream, await createCertificate(undefined), 2);
  const access = { ...DIRECT, tls: { rejectUnauthorized: false } } as const;
  const client = clientOf(t, server, { baseUrl: `https://127.0.0.1:${port}/v1`, access });
  const all = await Promise.all(Array.from({ length: 5 }, () => client.exchange(LIST, RECORD)));
  for (const { outcome } of all) t.match(outcome, { kind: 'response', status: 200, httpVersion: '2' });
});

t.test('a handshake that does not end is a connection that does not come', async (t) => {
  const silent = await serve(t, {});
  const client = clientOf(t, silent, {
    baseUrl: `https://127.0.0.1:${silent.port}/v1`,
    timeouts: { connect: 50 },
  });
  t.match(await client.exchange(LIST, RECORD), {
    outcome: { kind: 'failure', reason: 'connect-timeout', message: 'no connection within 0.05 s' },
  });
});

t.test('once a connection was reset, each request has one of its own', async (t) => {
  const server = await serve(t, {
    request: (connection, { number }) => (number === 2 ? connection.reset() : connection.write(ok())),
  });
  const client = clientOf(t, server);
  const outcomes: string[] = [];
  for (let sent = 0; sent < 4; sent++) {
    const { outcome } = await client.exchange(LIST, RECORD);
    outcomes.push(outcome.kind === 'response' ? 'answered' : outcome.reason);
  }
  t.strictSame(outcomes, ['answered', 'reset', 'answered', 'answered']);
  t.strictSame(
    server.requests.map((request) => request.header('connection')),
    ['keep-alive', 'keep-alive', 'close', 'close'],
  );
});

t.test('a connection that is reset before it ever answered costs no other', async (t) => {
  const server = await serve(t, {
    request: (connection, { number }) => (number === 1 ? connection.reset() : connection.write(ok())),
  });
  const client = clientOf(t, server);
  for (let sent = 0; sent < 3; sent++) await client.exchange(LIST, RECORD);
  t.strictSame(
    server.requests.map((request) => request.header('connection')),
    ['keep-alive', 'keep-alive', 'keep-alive'],
  );
  t.equal(server.connections, 2);
});

/** Bodies and failures of so many exchanges, one after the other; each answer has the number of its request. */
async function inTurn(client: HttpClient, count: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let sent = 0; sent < count; sent++) {
    const { outcome } = await client.exchange(LIST, RECORD);
    outcomes.push(outcome.kind === 'response' ? outcome.body : outcome.reason);
  }
  return outcomes;
}

t.test('an answer that is delivered twice with the first time is not taken for the next one', async (t) => {
  const numbered = (number: number) => ok(`[${number}]`);
  const server = await serve(t, {
    request: (connection, { number }) =>
      connection.write(number === 2 ? numbered(2).repeat(2) : numbered(number)),
  });
  t.strictSame(await inTurn(clientOf(t, server), 4), ['[1]', '[2]', '[3]', '[4]']);
  t.equal(server.requests.length, 4, 'nothing is sent again');
});

t.test('answers that are the same are taken as they are, on one connection', async (t) => {
  const server = await serve(t, answersWith(ok('[]', 'Date: Sun, 22 Nov 2026 09:00:00 GMT\r\n')));
  const client = clientOf(t, server);
  t.strictSame(await inTurn(client, 3), ['[]', '[]', '[]']);
  t.equal(server.connections, 1);
});

t.test('an interim 100 Continue is passed over, and a body that looks like one is not', async (t) => {
  const body = `["HTTP/1.1 100 Continue"]`;
  const server = await serve(t, {
    request(connection, { number }) {
      if (number === 1) connection.write('HTTP/1.1 100 Continue\r\n\r\n');
      const [head = ''] = ok(body).split('[');
      connection.write(`${head}["`);
      setImmediate(() => connection.write(body.slice(2)));
    },
  });
  t.strictSame(await inTurn(clientOf(t, server), 2), [body, body]);
});

t.test('a server that is gone is told as it is, not as its last connection ended', async (t) => {
  const server = await serve(t, {
    request: (connection, { number }) => (number === 1 ? connection.write(ok()) : connection.reset()),
  });
  const client = clientOf(t, server);
  t.strictSame(await inTurn(client, 2), ['[]', 'reset']);
  await server.close();
  t.strictSame(await inTurn(client, 1), ['refused']);
});

t.test('no other failure costs the connections that are kept', async (t) => {
  const server = await serve(t, answersWith('HTTP/1.1 OK\r\n\r\n'));
  const client = clientOf(t, server);
  for (let sent = 0; sent < 2; sent++) {
    t.match(await client.exchange(LIST, RECORD), { outcome: { reason: 'malformed-response' } });
  }
  t.strictSame(
    server.requests.map((request) => request.header('connection')),
    ['keep-alive', 'keep-alive'],
  );
});
