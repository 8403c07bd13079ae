import t from 'tap';
import { createAuthority, trustedTarget } from '../accuracy/hostile/tls-targets.ts';
import { createClient } from './client.ts';
import { answersWith, clientOf, KEY, LIST, ok, RECORD, serve } from './testing/test-client.ts';

t.test('an https address is trusted by the authority that is named, and by no other', async (t) => {
  const authority = await createAuthority();
  const target = await (await trustedTarget(authority)).start();
  t.teardown(() => target.close());
  const outcomeWith = async (authorities: { authorities?: string }) => {
    const client = createClient({ baseUrl: target.url, now: Date.now, secrets: [KEY], ...authorities });
    t.teardown(() => client.close());
    return (await client.exchange(LIST, RECORD)).outcome;
  };
  t.match(await outcomeWith({ authorities: authority.cert }), { kind: 'response', status: 200 });
  t.equal(target.requests.length, 1);
  const untrusted = { kind: 'failure', reason: 'tls', message: /authority is not (trusted|known)/ };
  t.match(await outcomeWith({}), untrusted);
  t.match(await outcomeWith({ authorities: (await createAuthority('another')).cert }), untrusted);
  t.equal(target.requests.length, 1, 'no key is sent to whom nobody trusts');
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
