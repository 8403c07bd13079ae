import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { startServer } from '../server.ts';
import { type RawConnection, rawConnection } from './testing/raw-connection.ts';

const KEY = 'exhausting-clients-key';
const HEAD = `Host: pets\r\nAuthorization: Bearer ${KEY}\r\n`;
const GET = `GET /v1/pets?limit=100 HTTP/1.1\r\n${HEAD}\r\n`;
const POST = `POST /v1/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapInUse(): number {
  for (let time = 0; time < 3; time += 1) collectGarbage();
  return process.memoryUsage().heapUsed;
}

const server = await startServer({
  keys: [{ name: 'raw', plan: 'enterprise', value: KEY }],
  enterprise: { perMinute: 1e9, perDay: 1e12 },
  patience: { headersTimeout: 300, requestTimeout: 400, keepAliveTimeout: 200, timeout: 1_500, drain: 50 },
});
t.teardown(() => server.close());
const open = (bytes = '') => rawConnection(Number(new URL(server.baseUrl).port), bytes);

/** What is left of the quota, as a well-behaved client sees it. */
async function remaining(): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await fetch(`${server.baseUrl}/pets?limit=1`, { headers });
  await response.arrayBuffer();
  return response.status === 200 ? Number(response.headers.get('x-ratelimit-remaining')) : Number.NaN;
}

const statuses = async ({ closed }: RawConnection) => (await closed).responses.map(({ status }) => status);

t.test('slow clients are told so and cut off, while others are served', async (t) => {
  const slow = Array.from({ length: 50 }, () => open('GET /v1/pets HTTP/1.1\r\nHost: pets\r\n'));
  const drip = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write('X: 1\r\n');
  }, 20);
  const halfBody = open(`${POST}Content-Length: 30\r\n\r\n{"name":`);
  const [silent, idle] = [open(), open(GET)];
  t.ok((await remaining()) > 0);
  for (const connection of slow) t.strictSame(await statuses(connection), [408]);
  clearInterval(drip);
  t.strictSame(await statuses(halfBody), [408]);
  t.strictSame(await statuses(silent), [408]);
  t.strictSame(await statuses(idle), [200], 'closed after its time');
});

t.test('a body without end is refused at once, and cut off', async (t) => {
  const endless = open(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  for (let sent = 0; !endless.socket.destroyed && sent < 100e6; sent += 65_536)
    if (!endless.socket.write(chunk, 'latin1')) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(await statuses(endless), [413]);
  t.ok((await remaining()) > 0);
});

t.test('a client that never reads is not served ahead of its reading, and is cut off', async (t) => {
  const before = await remaining();
  const greedy = open(GET.repeat(50_000));
  greedy.socket.pause();
  // A paused connection notices its end only by what it still writes.
  const knocking = setInterval(() => greedy.socket.write('X'), 50);
  t.teardown(() => clearInterval(knocking));
  await greedy.closed;
  const spent = before - (await remaining());
  t.ok(spent < 10_000, `${spent} of 50,000 were answered`);
});

t.test('distinct bad keys leave nothing behind', async (t) => {
  // One connection for every 500, and none of them kept: what is measured is the server's memory, not the test's.
  const flood = async (name: string, keys: number) => {
    let refused = 0;
    for (let sent = 0; sent < keys; sent += 500) {
      const requests = Array.from({ length: 500 }, (_, at) => `${name}-${sent + at}-${'k'.repeat(64)}`).map(
        (key) => `GET /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      const connection = open(requests.join(''));
      connection.socket.end();
      refused += (await statuses(connection)).filter((status) => status === 401).length;
    }
    return refused;
  };
  await flood('warm', 1_000);
  const before = heapInUse();
  t.equal(await flood('bad', 10_000), 10_000);
  const grown = heapInUse() - before;
  t.ok(grown < 1_000_000, `the heap grew by ${grown} bytes, 100 for each key would be 1,000,000`);
});
