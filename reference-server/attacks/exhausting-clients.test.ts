import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { startReferenceServer } from '../reference-server.ts';
import type { Patience } from '../server.ts';
import { RawConnection, responsesIn } from './testing/raw-connection.ts';

const KEY = 'exhausting-clients-key';
const HEAD = `Host: pets\r\nAuthorization: Bearer ${KEY}\r\n`;
const GET = `GET /v1/pets?limit=100 HTTP/1.1\r\n${HEAD}\r\n`;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function heapInUse(): number {
  if (typeof collectGarbage === 'function') for (let time = 0; time < 3; time += 1) collectGarbage();
  return process.memoryUsage().heapUsed;
}

type Test = Pick<typeof t, 'teardown'>;

async function service(t: Test, patience: Partial<Patience> = {}) {
  const server = await startReferenceServer({
    keys: [{ name: 'raw', plan: 'enterprise', value: KEY }],
    enterprise: { perMinute: 1e9, perDay: 1e12 },
    patience: { drainMs: 50, ...patience },
  });
  t.teardown(() => server.close());
  const connections: RawConnection[] = [];
  t.teardown(() => connections.map((connection) => connection.end()));
  const port = Number(new URL(server.baseUrl).port);
  return {
    port,
    connect() {
      const connection = new RawConnection(port);
      connections.push(connection);
      return connection.connected();
    },
    async remaining(): Promise<number> {
      const response = await fetch(`${server.baseUrl}/pets?limit=1`, {
        headers: { authorization: `Bearer ${KEY}` },
      });
      await response.arrayBuffer();
      return response.status === 200 ? Number(response.headers.get('x-ratelimit-remaining')) : Number.NaN;
    },
  };
}

t.test(
  'clients that never finish their headers are told so and cut off, while others are served',
  async (t) => {
    const api = await service(t, { headersMs: 300 });
    const slow = await Promise.all(Array.from({ length: 50 }, () => api.connect()));
    const drip = setInterval(() => {
      for (const connection of slow) if (!connection.closed) connection.send('X: 1\r\n');
    }, 20);
    for (const connection of slow) connection.send('GET /v1/pets HTTP/1.1\r\nHost: pets\r\n');
    t.ok((await api.remaining()) > 0);
    for (const connection of slow) {
      const { text, closed } = await connection.untilClosed();
      t.ok(closed);
      const [answer] = responsesIn(text).responses;
      t.equal(answer?.status, 408);
      t.match(JSON.parse(answer?.body ?? '{}'), { status: 408, code: 'request_timeout' });
      t.match(answer?.headers.get('x-ratelimit-limit'), '0');
    }
    clearInterval(drip);
  },
);

t.test('clients that never finish their body, or never send a byte, are cut off', async (t) => {
  const api = await service(t, { headersMs: 300, requestMs: 400 });
  const halfBody = await api.connect();
  halfBody.send(
    `POST /v1/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 30\r\n\r\n{"name":`,
  );
  const silent = await api.connect();
  const [{ text }, nothing] = await Promise.all([halfBody.untilClosed(), silent.untilClosed()]);
  t.equal(responsesIn(text).responses[0]?.status, 408);
  t.ok(nothing.closed);
  t.ok((await api.remaining()) > 0);
});

t.test('an idle connection is closed after its time, a busy one is not', async (t) => {
  const api = await service(t, { idleMs: 200 });
  const idle = await api.connect();
  idle.send(GET);
  const { text } = await idle.untilClosed();
  t.equal(responsesIn(text).responses.length, 1);
});

t.test('a body without end is refused at once, and cut off', async (t) => {
  const api = await service(t);
  const endless = await api.connect();
  endless.send(
    `POST /v1/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  let sent = 0;
  while (!endless.closed && sent < 100e6) {
    sent += 65_536;
    if (!endless.socket.write(chunk, 'latin1')) await new Promise((resolve) => setImmediate(resolve));
  }
  const { text, closed } = await endless.untilClosed();
  t.ok(closed);
  t.equal(responsesIn(text).responses[0]?.status, 413);
  t.ok((await api.remaining()) > 0);
});

t.test('a client that never reads is not served ahead of its reading, and is cut off', async (t) => {
  const api = await service(t, { stalledMs: 300 });
  const before = await api.remaining();
  const greedy = await api.connect();
  greedy.socket.pause();
  greedy.send(GET.repeat(50_000));
  // A paused connection notices its end only by what it still writes.
  const knocking = setInterval(() => greedy.send('X'), 50);
  t.teardown(() => clearInterval(knocking));
  t.ok((await greedy.untilClosed()).closed);
  const spent = before - (await api.remaining());
  t.ok(spent < 10_000, `${spent} of 50,000 were answered`);
});

t.test('two thousand idle connections leave room for those who come to work', async (t) => {
  const api = await service(t);
  await api.remaining();
  const before = heapInUse();
  const idle = await Promise.all(Array.from({ length: 2_000 }, () => api.connect()));
  t.ok((await api.remaining()) > 0);
  t.notOk(idle.some(({ closed }) => closed));
  // Both ends of each connection are in this process.
  t.ok((heapInUse() - before) / 2_000 < 20_000, 'less than 20 kB each');
});

t.test('distinct bad keys leave nothing behind', async (t) => {
  const api = await service(t);
  // One connection for every 500, and none of them kept: what is measured is the server's memory, not the test's.
  const flood = async (name: string, keys: number) => {
    let answered = 0;
    for (let sent = 0; sent < keys; sent += 500) {
      const connection = new RawConnection(api.port);
      let bytes = '';
      for (let at = sent; at < sent + 500; at += 1) {
        bytes += `GET /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${name}-${at}-${'k'.repeat(64)}\r\n\r\n`;
      }
      connection.send(bytes).socket.end();
      const { text } = await connection.untilClosed();
      answered += text.split('HTTP/1.1 401').length - 1;
    }
    return answered;
  };
  await flood('warm', 1_000);
  const before = heapInUse();
  t.equal(await flood('bad', 10_000), 10_000);
  const grown = heapInUse() - before;
  t.ok(grown < 1_000_000, `the heap grew by ${grown} bytes, 100 for each key would be 1,000,000`);
  t.ok((await api.remaining()) > 0);
});
