import fc from 'fast-check';
import t from 'tap';
import { startReferenceServer } from '../reference-server.ts';
import { RawConnection, type RawResponse, responsesIn } from './testing/raw-connection.ts';

const KEY = 'raw-requests-key';
const AUTH = `Authorization: Bearer ${KEY}\r\n`;
const HOST = 'Host: pets\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

const server = await startReferenceServer({
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
  const connection = new RawConnection(port);
  connection.send(bytes);
  connection.socket.end();
  const { text } = await connection.untilClosed();
  const { responses, rest } = responsesIn(text);
  t.equal(rest, '', 'nothing but whole responses');
  return responses;
}

async function stillServes(): Promise<boolean> {
  const response = await fetch(`${server.baseUrl}/pets?limit=1`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  return response.status === 200;
}

t.test(
  'what is no proper request gets an Error with the three headers, and the connection closed',
  async (t) => {
    const body = '{"name":"Rex","categoryId":1}';
    const post = `POST /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
    const smuggled = `GET /v1/pets/1 HTTP/1.1\r\n${HOST}${AUTH}\r\n`;
    const cases: Record<string, [string, readonly number[]]> = {
      'no HTTP at all': ['hello\r\n\r\n', [400]],
      'TLS on a plain port': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
      'HTTP/0.9': ['GET /v1/pets\r\n\r\n', [400]],
      'HTTP/2 preface': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
      'no host': [`GET /v1/pets HTTP/1.1\r\n${AUTH}Connection: close\r\n\r\n`, [400]],
      'two hosts': [`GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}${AUTH}Connection: close\r\n\r\n`, [400]],
      'a header without a colon': [`GET /v1/pets HTTP/1.1\r\n${HOST}Authorization\r\n\r\n`, [400]],
      'a blank before the colon': [
        `GET /v1/pets HTTP/1.1\r\n${HOST}Authorization : Bearer ${KEY}\r\n\r\n`,
        [400],
      ],
      'a NUL in a header': [`GET /v1/pets HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
      'a folded header': [`GET /v1/pets HTTP/1.1\r\n${HOST}X: a\r\n b\r\n${AUTH}\r\n`, [400, 200]],
      'headers beyond 16 KiB': [
        `GET /v1/pets HTTP/1.1\r\n${HOST}${`X: ${'a'.repeat(1000)}\r\n`.repeat(30)}\r\n`,
        [431],
      ],
      'a URL beyond 16 KiB': [`GET /v1/pets?${'a'.repeat(40_000)} HTTP/1.1\r\n${HOST}${AUTH}\r\n`, [431]],
      'two different lengths': [`${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`, [400]],
      'a negative length': [`${post}Content-Length: -1\r\n\r\n${body}`, [400]],
      'a length in words': [`${post}Content-Length: ten\r\n\r\n${body}`, [400]],
      'a length with a plus': [`${post}Content-Length: +5\r\n\r\n${body}`, [400]],
      'a length beyond 64 bits': [`${post}Content-Length: 99999999999999999999\r\n\r\n${body}`, [400]],
      'both lengths (CL.TE)': [
        `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
        [400],
      ],
      'both lengths (TE.CL)': [
        `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${smuggled}0\r\n\r\n`,
        [400],
      ],
      'an unknown transfer coding': [`${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [400]],
      'chunked, but not last': [`${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, [400]],
      'a blank before chunked': [`${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`, [400]],
      'a chunk size in words': [`${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`, [400]],
      'a chunk longer than it says': [
        `${post}Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n`,
        [400],
      ],
      'a chunk size that overflows': [
        `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n`,
        [400],
      ],
      'a bare line feed': [`GET /v1/pets HTTP/1.1\n${HOST}${AUTH}\r\n`, [400]],
      CONNECT: [`CONNECT pets:443 HTTP/1.1\r\n${HOST}${AUTH}\r\n`, [405]],
      'an expectation that nobody meets': [`${post}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}`, [417]],
    };
    for (const [name, [bytes, statuses]] of Object.entries(cases)) {
      const responses = await exchange(bytes);
      const final = responses.filter(({ status }) => status !== 100);
      t.equal(final.length, 1, `${name}: one answer, so nothing was smuggled`);
      t.ok(statuses.includes(final[0]?.status ?? 0), `${name}: ${final[0]?.status}`);
      t.ok(final.every(isProper), `${name}: ${JSON.stringify(final[0]?.body)}`);
    }
    t.ok(await stillServes());
  },
);

t.test('other methods, HTTP/1.0 and absolute addresses are answered in kind', async (t) => {
  const cases: Record<string, [string, number]> = {
    'HTTP/1.0 without a host': [`GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n`, 200],
    'an absolute address': [`GET http://pets/v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 200],
    'an upgrade that is not wanted': [
      `GET /v1/pets HTTP/1.1\r\n${HOST}${AUTH}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      200,
    ],
    'OPTIONS *': [`OPTIONS * HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
    TRACE: [`TRACE /v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 405],
    'a list with a body': [`GET /v1/pets HTTP/1.1\r\n${HOST}${AUTH}Content-Length: 3\r\n\r\nabc`, 200],
    'dots in the path': [`GET /v1/../v1/pets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
    'an escaped slash': [`GET /v1%2Fpets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 404],
    'an escaped letter': [`GET /v1/%70ets HTTP/1.1\r\n${HOST}${AUTH}\r\n`, 200],
    'two keys': [`GET /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${AUTH}\r\n`, 401],
    'a body that is not UTF-8': [
      `POST /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 30\r\n\r\n{"name":"\xff","categoryId":1   }`,
      400,
    ],
    'a compressed body': [
      `POST /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
      415,
    ],
  };
  for (const [name, [bytes, status]] of Object.entries(cases)) {
    const [first, ...more] = await exchange(bytes);
    t.equal(first?.status, status, name);
    t.same(more, [], name);
    t.ok(first !== undefined && isProper(first), name);
  }
});

t.test('pipelined requests are answered one by one, in order, also where one of them is wrong', async (t) => {
  const get = (path: string) => `GET /v1${path} HTTP/1.1\r\n${HOST}${AUTH}\r\n`;
  const body = '{"name":"Rex","categoryId":1}';
  const post = `POST /v1/pets HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`;
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
  const piece = fc.oneof(
    fc.constantFrom(
      'GET ',
      'POST ',
      '/v1/pets',
      '/v1/pets?limit=',
      '/v1/pets/',
      ' HTTP/1.1\r\n',
      ' HTTP/1.0\r\n',
      '\r\n',
      '\r\n\r\n',
      '\n',
      HOST,
      AUTH,
      JSON_TYPE,
      'Content-Length: 10\r\n',
      'Content-Length: 0\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Connection: close\r\n',
      'Expect: 100-continue\r\n',
      '5\r\nabcde\r\n',
      '0\r\n\r\n',
      '{"name":"x","categoryId":1}',
      '%00',
      '%zz',
      '"\\ud800"',
    ),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.string({ maxLength: 10 }),
  );
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 14 }), async (pieces) => {
      tried += 1;
      const responses = await exchange(Buffer.from(pieces.join(''), 'latin1'));
      return responses.every(isProper);
    }),
    { numRuns: 1_500 },
  );
  process.off('warning', onWarning);
  t.equal(tried, 1_500);
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
    { numRuns: 1_000 },
  );
  t.ok(await stillServes());
});
