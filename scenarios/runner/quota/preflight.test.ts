/** What is said of a target before it is loaded: one line, in time, whatever it answers. */
import t, { type Test } from 'tap';
import { type RawConnection, startRawServer } from '../../../checks/accuracy/hostile/testing/raw-server.ts';
import { DIRECT } from '../../../checks/wire/access.ts';
import { preflight, TargetNotReady } from './preflight.ts';

const PAYER = { name: 'load-1', env: 'PETSTORE_LOAD_KEY' };
const VALUE = 'sk-canary-4f9Zq7TrXy';
const at = (port: number) => ({
  address: `http://127.0.0.1:${port}/v1`,
  access: DIRECT,
  secrets: { PETSTORE_LOAD_KEY: VALUE },
  clockSpeed: 1,
});
const SHORT = { connect: 1000, headers: 1000, body: 500 };

/** The look at a target that does this with a request. */
async function look(t: Test, behave: (connection: RawConnection) => void) {
  const server = await startRawServer({ request: behave });
  t.teardown(() => server.close());
  return preflight(at(server.port), PAYER, undefined, SHORT);
}

const answer = (status: number, body: string, more = '') =>
  `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

const ERROR = `{"code":"${VALUE}","message":"no: ${VALUE}","status":401}`;
const BEGUN = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

const NOT_READY: Readonly<
  Record<string, readonly [behave: (connection: RawConnection) => void, line: RegExp]>
> = {
  'resets the connection': [
    (connection) => connection.reset(),
    /^\S+ gives no usable answer to GET \/pets: the connection was closed/,
  ],
  'does not speak HTTP': [
    (connection) => connection.end('\x1b[31m no'),
    /gives no usable answer to GET \/pets: .*not HTTP/,
  ],
  'never answers': [() => undefined, /gives no usable answer to GET \/pets: no response within 1 s$/],
  'sends a byte at a time for ever': [
    (connection) => {
      connection.write(BEGUN);
      connection.trickle('1\r\n \r\n', 50);
    },
    /gives no usable answer to GET \/pets: the body was not complete within 0\.5 s$/,
  ],
  'sends a body without end': [
    (connection) => {
      connection.write(BEGUN);
      connection.flood(`4000\r\n${' '.repeat(16_384)}\r\n`);
    },
    /gives no usable answer to GET \/pets: the body is larger than \d+ bytes$/,
  ],
  'is a web page': [
    (connection) =>
      connection.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi'),
    /is not the Pet Store Service: GET \/pets answers 200 text\/html, 2 bytes$/,
  ],
  redirects: [
    (connection) =>
      connection.write('HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n'),
    /is not the Pet Store Service: GET \/pets answers 307 to http:\/\/127\.0\.0\.1:9\/; does a gateway .* want a header\?/,
  ],
  'does not know the key': [
    (connection) => connection.write(answer(401, ERROR, `X-Echo: ${VALUE}\r\n`)),
    /^the target answers 401 to key load-1 \(is the value of PETSTORE_LOAD_KEY right\?\)$/,
  ],
  'has no quota left': [
    (connection) => connection.write(answer(429, ERROR, 'Retry-After: 30\r\n')),
    /answers 429 application\/json, \d+ bytes to GET \/pets: another client is using key load-1$/,
  ],
  'is broken': [
    (connection) => connection.write(answer(500, ERROR)),
    /answers 500 application\/json, \d+ bytes to GET \/pets: load would measure that$/,
  ],
};

t.test('a target that is not ready for load', { jobs: 4 }, async (t) => {
  for (const [name, [behave, line]] of Object.entries(NOT_READY)) {
    t.test(`that ${name}`, async (t) => {
      const problem: unknown = await look(t, behave).catch((error: unknown) => error);
      if (!(problem instanceof TargetNotReady)) throw problem;
      t.match(problem.message, line);
      t.notMatch(problem.message, /\n/, 'one line');
      t.notOk(problem.message.includes(VALUE), 'without the key');
    });
  }
});

t.test('nothing listens', async (t) => {
  const server = await startRawServer({});
  await server.close();
  await t.rejects(preflight(at(server.port), PAYER), {
    name: 'TargetNotReady',
    message: /cannot be reached: the connection was refused: .*; start the service/,
  });
});

t.test('a list tells which animals exist, and the time by the target’s clock', async (t) => {
  const list = '[{"id":9007199254740993,"name":"Rex","categoryId":7},{"id":"none"}]';
  const date = 'Sat, 21 Nov 2026 12:00:00 GMT';
  const { samples, clock } = await look(t, (connection) =>
    connection.write(answer(200, list, `Date: ${date}\r\n`)),
  );
  t.strictSame(samples, { ids: ['9007199254740993'], categoryId: '7' });
  t.equal(clock.at, Date.parse(date) + 500);
  t.ok(Math.abs(clock.from - Date.now()) < 60_000);
});

t.test('an interruption is no word on the target', async (t) => {
  const stopping = new AbortController();
  const server = await startRawServer({ request: () => stopping.abort(new Error('SIGINT')) });
  t.teardown(() => server.close());
  await t.rejects(preflight(at(server.port), PAYER, stopping.signal), {
    message: 'SIGINT',
  });
});
