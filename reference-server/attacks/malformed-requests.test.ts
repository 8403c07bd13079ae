import fc from 'fast-check';
import t from 'tap';
import { startServer } from '../server.ts';
import { type RawResponse, rawConnection } from './testing/raw-connection.ts';

const KEY = 'raw-requests-key';
const AUTH = `Authorization: Bearer ${KEY}\r\n`;
const HOST = 'Host: pets\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

const server = await startServer({
  keys: [{ name: 'raw', plan: 'enterprise', value: KEY }],
  enterprise: { perMinute: 1e9, perDay: 1e12 },
});
const port = Number(new URL(server.baseUrl).port);
t.teardown(() => server.close());

/** What section 8 and section 7 ask of every response, whatever the request was. */
function isProper({ status, headers, body }: RawResponse): boolean {
  if (status === 100) return true;
  const quota = ['limit', 'remaining', 'reset'].every((name) =>
    /^\d+$/.test(headers.get(`x-ratelimit-${name}`) ?? ''),
  );
  if (!quota || headers.get('content-type') !== 'application/json' || status >= 500) return false;
  if (status < 400 || body === '') return true;
  const error: unknown = JSON.parse(Buffer.from(body, 'latin1').toString());
  const { status: repeated, code, message } = Object.assign({ status: 0, code: 0, message: 0 }, error);
  return repeated === status && typeof code === 'string' && typeof message === 'string';
}

async function exchange(bytes: string | Uint8Array): Promise<RawResponse[]> {
  const { socket, closed } = rawConnection(port, bytes);
  socket.end();
  const { responses, rest } = await closed;
  t.equal(rest, '', 'nothing but whole responses');
  return responses;
}

async function stillServes(): Promise<boolean> {
  const response = await fetch(`${server.baseUrl}/pets?limit=1`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  return response.status === 200;
}

const GET = `GET /v1/pets HTTP/1.1\r\n${HOST}`;
const POST = `POST /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const BODY = '{"name":"Rex","categoryId":1}';
const SMUGGLED = `GET /v1/pets/1 HTTP/1.1\r\n${HOST}${AUTH}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

// biome-ignore format: a table, a line for each
const ANSWERS: Readonly<Record<string, readonly [bytes: string, ...statuses: number[]]>> = {
  'no HTTP at all': ['hello\r\n\r\n', 400],
  'TLS on a plain port': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  'HTTP/0.9': ['GET /v1/pets\r\n\r\n', 400],
  'HTTP/2 preface': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  'no host': [`GET /v1/pets HTTP/1.1\r\n${AUTH}Connection: close\r\n\r\n`, 400],
  'two hosts': [`${GET}${HOST}${AUTH}Connection: close\r\n\r\n`, 400],
  'a header without a colon': [`${GET}Authorization\r\n\r\n`, 400],
  'a blank before the colon': [`${GET}Authorization : Bearer ${KEY}\r\n\r\n`, 400],
  'a NUL in a header': [`${GET}X: a\0b\r\n\r\n`, 400],
  'a folded header': [`${GET}X: a\r\n b\r\n${AUTH}\r\n`, 400, 200],
  'headers beyond 16 KiB': [`${GET}${`X: ${'a'.repeat(1000)}\r\n`.repeat(30)}\r\n`, 431],
  'a URL beyond 16 KiB': [`GET /v1/pets?${'a'.repeat(40_000)} HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 431],
  'two different lengths': [`${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${BODY}`, 400],
  'a negative length': [`${POST}Content-Length: -1\r\n\r\n${BODY}`, 400],
  'a length with a plus': [`${POST}Content-Length: +5\r\n\r\n${BODY}`, 400],
  'a length beyond 64 bits': [`${POST}Content-Length: 99999999999999999999\r\n\r\n${BODY}`, 400],
  'both lengths (CL.TE)': [`${POST}Content-Length: 6\r\n${CHUNKED}\r\n0\r\n\r\n${SMUGGLED}`, 400],
  'both lengths (TE.CL)': [`${POST}${CHUNKED}Content-Length: 4\r\n\r\n5c\r\n${SMUGGLED}0\r\n\r\n`, 400],
  'an unknown transfer coding': [`${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  'chunked, but not last': [`${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, 400],
  'a blank before chunked': [`${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`, 400],
  'a chunk size in words': [`${POST}${CHUNKED}\r\nzz\r\n\r\n`, 400],
  'a chunk longer than it says': [`${POST}${CHUNKED}\r\n3\r\nabcdef\r\n0\r\n\r\n`, 400],
  'a chunk size that overflows': [`${POST}${CHUNKED}\r\nfffffffffffffffff\r\n\r\n`, 400],
  'a bare line feed': [`GET /v1/pets HTTP/1.1\n${HOST}${AUTH}\r\n`, 400],
  CONNECT: [`CONNECT pets:443 HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 405],
  'an expectation that nobody meets': [`${POST}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}`, 417],
  'HTTP/1.0 without a host': [`GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n`, 200],
  'an absolute address': [`GET http://pets/v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 200],
  'an upgrade that is not wanted': [`${GET}${AUTH}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, 200],
  'OPTIONS *': [`OPTIONS * HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
  TRACE: [`TRACE /v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 405],
  'a list with a body': [`${GET}${AUTH}Content-Length: 3\r\n\r\nabc`, 200],
  'dots in the path': [`GET /v1/../v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
  'an escaped slash': [`GET /v1%2Fpets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
  'an escaped letter': [`GET /v1/%70ets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 200],
  'two keys': [`${GET}${AUTH}${AUTH}\r\n`, 401],
  'a body that is not UTF-8': [`${POST}Content-Length: 12\r\n\r\n{"name":"\xff"}`, 400],
};

t.test('one proper answer to each, so that nothing was smuggled', async (t) => {
  for (const [name, [bytes, ...statuses]] of Object.entries(ANSWERS)) {
    const answers = (await exchange(bytes)).filter(({ status }) => status !== 100);
    t.equal(answers.length, 1, name);
    t.ok(
      answers.every(isProper) && statuses.includes(answers[0]?.status ?? 0),
      `${name}: ${answers[0]?.status}`,
    );
  }
  t.ok(await stillServes());
});

t.test('pipelined requests are answered one by one, in order, also where one of them is wrong', async (t) => {
  const get = (path: string) => `GET /v1${path} HTTP/1.1\r\n${HOST}${AUTH}\r\n`;
  const post = `${POST}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const bytes =
    get('/pets?limit=1') + post + get('/pets/424242') + get('/pets?limit=0') + post + get('/pets');
  const responses = await exchange(bytes);
  t.same(
    responses.map(({ status }) => status),
    [200, 201, 404, 400, 201, 200],
  );
  const remaining = responses.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  t.same(
    remaining,
    remaining.map((_left, at) => (remaining[0] ?? 0) - at),
  );
  const wrong = await exchange(`${get('/pets')}${post}rubbish\r\n\r\n${get('/pets')}`);
  t.same(
    wrong.map(({ status }) => status),
    [200, 201, 400],
  );
});

t.test('any bytes: whole proper responses or a closed connection, never a crash, never a 500', async (t) => {
  const known = [
    'GET ',
    'POST ',
    '/v1/pets',
    '?limit=',
    ' HTTP/1.1\r\n',
    ' HTTP/1.0\r\n',
    '\r\n',
    '\n',
    HOST,
    AUTH,
  ];
  const more = [
    JSON_TYPE,
    CHUNKED,
    'Content-Length: 10\r\n',
    'Expect: 100-continue\r\n',
    '0\r\n\r\n',
    BODY,
    '%00',
    '%zz',
  ];
  const piece = fc.oneof(
    fc.constantFrom(...known, ...more, 'Connection: close\r\n', '5\r\nabcde\r\n', '"\\ud800"'),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.string({ maxLength: 10 }),
  );
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 14 }), async (pieces) => {
      const responses = await exchange(Buffer.from(pieces.join(''), 'latin1'));
      return responses.every(isProper);
    }),
    { numRuns: 500 },
  );
  process.off('warning', onWarning);
  t.same(warnings, []);
  t.ok(await stillServes());
});

t.test('any method, path, headers and body that are HTTP: a proper response', async (t) => {
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE');
  const path = fc.oneof(
    fc.constantFrom('/v1/pets', '/v1/pets/1', '/v1/', '/'),
    fc.webPath().map((text) => `/v1/pets${text}`),
    fc.webQueryParameters().map((text) => `/v1/pets?${text}`),
    fc.bigInt().map((id) => `/v1/pets/${id}`),
    fc.string().map((text) => `/v1/pets?limit=${encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''))}`),
  );
  const body = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc
      .record({ name: fc.jsonValue(), categoryId: fc.jsonValue(), status: fc.jsonValue() })
      .map((pet) => JSON.stringify(pet)),
  );
  await fc.assert(
    fc.asyncProperty(method, path, body, async (name, target, text) => {
      const bytes = Buffer.from(text);
      const head = `${name} ${target} HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: ${bytes.length}\r\n\r\n`;
      const responses = await exchange(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
      return responses.length === 1 && responses.every(isProper);
    }),
    { numRuns: 300 },
  );
  t.ok(await stillServes());
});
