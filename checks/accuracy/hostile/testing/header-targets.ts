import { type Answer, onTheWire, withHeaders, withoutHeaders } from './good-answers.ts';
import { type HostileTarget, hostile, type RunningTarget, response } from './hostile-target.ts';
import { type RawRequest, startRawServer } from './raw-server.ts';

/** A target whose answers are correct except for this change. */
const changes = (name: string, change: (answer: Answer, request: RawRequest) => Answer, status = 200) =>
  hostile(name, response({ status }), (answers) => ({
    async request(connection, request) {
      connection.write(onTheWire(change(await answers(request), request)));
    },
  }));

/** A target that answers every request with 429 and these headers. */
const refuses = (name: string, headers: Answer['headers']) =>
  changes(
    name,
    (answer) => {
      const body = Buffer.from('{"code":"rate_limited","message":"slow down","status":429}');
      return withHeaders({ ...answer, status: 429, body }, [['X-RateLimit-Remaining', '0'], ...headers]);
    },
    429,
  );

/** The answer with its Date put forward by these seconds, in another form perhaps. */
function dated(answer: Answer, seconds: number, write = (date: Date) => date.toUTCString()): Answer {
  const [, value = ''] = answer.headers.find(([name]) => name.toLowerCase() === 'date') ?? [];
  return withHeaders(answer, [['Date', write(new Date(Date.parse(value) + seconds * 1000))]]);
}

/** The form of C's asctime, which is obsolete (RFC 9110, 5.6.7). */
function obsolete(date: Date): string {
  const [weekday, day, month, year, time] = date.toUTCString().split(/,? /);
  return `${weekday} ${month} ${day} ${time} ${year}`;
}

const EMPTY = Buffer.alloc(0);
const CONTENT_TYPE: Answer['headers'] = [['Content-Type', 'application/json']];

const bearer = (request: RawRequest) => (request.header('authorization') ?? '').replace(/^Bearer /, '');

/** Every form in which a target may echo the key that it was sent. */
export function echoes(key: string): string[] {
  const bytes = Buffer.from(key);
  return [
    key,
    key.toUpperCase(),
    encodeURIComponent(key),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(''),
    [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    [...key].map((c) => `&#${c.charCodeAt(0)};`).join(''),
    bytes.toString('hex'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`user:${key}`).toString('base64'),
    key.slice(0, -1),
  ];
}

/** Redirects every request to another host, and records the requests that arrive there. */
const redirectElsewhere: HostileTarget = {
  name: 'redirects to another host',
  expected: response({ status: 307 }),
  async start() {
    const elsewhere = await startRawServer({
      request: (connection) =>
        connection.end(onTheWire({ status: 200, headers: CONTENT_TYPE, body: Buffer.from('[]') })),
    });
    const server = await startRawServer({
      request: (connection, { path }) => {
        const headers: Answer['headers'] = [['Location', `http://localhost:${elsewhere.port}${path}`]];
        connection.write(onTheWire({ status: 307, headers, body: EMPTY }));
      },
    });
    const target: RunningTarget = {
      url: `http://127.0.0.1:${server.port}/v1`,
      requests: server.requests,
      connections: server.connections,
      astray: elsewhere.requests,
      close: async () => {
        await Promise.all([server.close(), elsewhere.close()]);
      },
    };
    return target;
  },
};

/** Targets with misleading headers, and targets that echo what they were sent. */
export const headerTargets: readonly HostileTarget[] = [
  redirectElsewhere,
  changes(
    'redirects to itself',
    (_, { path }) => ({ status: 302, headers: [['Location', path]], body: EMPTY }),
    302,
  ),
  changes('sets cookies', (answer) =>
    withHeaders(answer, [
      ['Set-Cookie', 'session=abc; Path=/'],
      ['Set-Cookie', 'other=def'],
    ]),
  ),
  refuses('says to wait a thousand years', [['Retry-After', '31557600000']]),
  refuses('says to wait until a thousand years from now', [['Retry-After', 'Sat, 21 Nov 3026 00:00:00 GMT']]),
  refuses('says to wait until the past', [['Retry-After', 'Thu, 01 Jan 1970 00:00:00 GMT']]),
  refuses('says to wait a negative time', [['Retry-After', '-5']]),
  refuses('says to wait zero seconds, for ever', [['Retry-After', '0']]),
  refuses('says to wait in words', [['Retry-After', 'a little']]),
  refuses('says to wait twice', [
    ['Retry-After', '1'],
    ['Retry-After', '3600'],
  ]),
  refuses('says to wait more digits than a number holds', [['Retry-After', '9'.repeat(400)]]),
  refuses('refuses without a word on how long', []),
  changes('has a Date in the past', (answer) =>
    withHeaders(answer, [['Date', 'Thu, 01 Jan 1970 00:00:00 GMT']]),
  ),
  changes('has a Date a thousand years ahead', (answer) =>
    withHeaders(answer, [['Date', 'Sat, 21 Nov 3026 00:00:00 GMT']]),
  ),
  changes('has a Date twenty seconds ahead', (answer) => dated(answer, 20)),
  changes('has a Date in local time that it calls GMT', (answer) => dated(answer, 2 * 3600)),
  changes('has a Date in an obsolete form', (answer) => dated(answer, 0, obsolete)),
  changes('has the Dates of two machines that differ', (answer, { number }) =>
    dated(answer, number % 2 === 0 ? 40 : 0),
  ),
  changes('has an unreadable Date', (answer) => withHeaders(answer, [['Date', 'yesterday']])),
  changes('has no Date', (answer) => withoutHeaders(answer, 'date')),
  changes('sends rate headers twice, differing', (answer) => ({
    ...answer,
    headers: [
      ...answer.headers,
      ['X-RateLimit-Limit', '7'],
      ['X-RateLimit-Remaining', '-1'],
      ['X-RateLimit-Reset', '0'],
    ],
  })),
  changes('sends rate headers that are no numbers', (answer) =>
    withHeaders(answer, [
      ['X-RateLimit-Limit', '1e400'],
      ['X-RateLimit-Remaining', '9'.repeat(400)],
      ['X-RateLimit-Reset', 'NaN'],
    ]),
  ),
  changes(
    'sends terminal escapes',
    (answer) => ({
      ...withHeaders(answer, [['X-Title', '\u009b2J\u0090']]),
      body: Buffer.from('{"code":"\u001b[2J\u001b]0;owned\u0007","message":"\u001b[31m\u202e","status":500}'),
      status: 500,
    }),
    500,
  ),
  changes('sends a thousand headers', (answer) => ({
    ...answer,
    headers: [...answer.headers, ...Array.from({ length: 1000 }, (_, i) => [`X-H${i}`, 'x'] as const)],
  })),
  changes('throws the key back in headers', (answer, request) =>
    withHeaders(
      answer,
      echoes(bearer(request)).map((echo, i) => [`X-Echo-${i}`, echo.replaceAll('\\', '%5c')] as const),
    ),
  ),
  changes(
    'throws the key back in error messages',
    (answer, request) => ({
      ...answer,
      status: 401,
      body: Buffer.from(
        `{"code":"unauthorized","status":401,"message":"unknown key ${echoes(bearer(request)).join(' ')}","also":${JSON.stringify(request.head)}}`,
      ),
    }),
    401,
  ),
  hostile('throws the key back in pieces', response({ status: 200 }), () => ({
    request: async (connection, request) => {
      connection.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      for (const character of `"${bearer(request)}"`) {
        connection.write(`1\r\n${character}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      connection.write('0\r\n\r\n');
    },
  })),
];
