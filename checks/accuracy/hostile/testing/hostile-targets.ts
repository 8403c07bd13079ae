/** A class of failure a row, and what may be said of it. Those that need a certificate are in tls-targets.ts. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Answer, onTheWire, withHeaders, withoutHeaders } from './good-answers.ts';
import {
  becomes,
  changes,
  type Expected,
  type ExpectedRun,
  fails,
  type HostileTarget,
  hostile,
  says,
  sends,
  spoils,
} from './hostile-target.ts';
import { type RawRequest, startRawServer } from './raw-server.ts';

const JSON_TYPE: Answer['headers'] = [['Content-Type', 'application/json']];
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const BODY = '[{"id":1,"name":"Rex","categoryId":1}]';
const NOT_HTTP = /not HTTP\/1\.1/;
const TOO_LARGE = /larger than \d+ bytes/;

/** Everything that two keys and the permission to write can show. */
const UNDISTURBED: ExpectedRun = { broken: [], hold: 65 };
/** No body is readable; everything else is correct. */
const UNREADABLE: ExpectedRun = {
  broken: ['error-body-400', 'error-body-401', 'error-body-other', 'json-well-formed'],
  hold: 30,
};
/** The harness cannot read any body, which is not the target's fault. */
const BEYOND_HARNESS: ExpectedRun = { broken: [], hold: 30 };
/** Every answer has the same list as its body. */
const ALWAYS_A_LIST: ExpectedRun = {
  broken: [
    'add-pet-schema',
    'error-body-400',
    'error-body-401',
    'error-body-404',
    'error-body-other',
    'get-pet-schema',
  ],
  hold: 50,
};
const RATE_HEADER_VALUES: ExpectedRun = {
  broken: ['rate-limit-value', 'rate-remaining-value', 'rate-reset-value'],
  hold: 60,
};
/** Every answer has the same status, so nothing is refused as it should be. */
const NOTHING_REFUSED = [
  'add-answers-201',
  'add-rejects-category-id-range',
  'add-rejects-category-id-type',
  'add-rejects-empty-body',
  'add-rejects-malformed-json',
  'add-rejects-missing-category-id',
  'add-rejects-missing-name',
  'add-rejects-name-type',
  'add-rejects-non-object',
  'add-rejects-status-type',
  'add-rejects-status-value',
  'auth-empty-key',
  'auth-missing-key',
  'auth-near-miss-key',
  'auth-other-scheme',
  'auth-unknown-key',
];
const STOPPED = /^the target stopped answering: .*, for \d+ s; --resume continues the run$/;
const SPENT = /^429 for key free-1 of 60 a minute although the check had quota left/;
const NOT_THE_SERVICE = /is not the Pet Store Service: GET \/pets answers /;

const answers = (rest: Partial<Extract<Expected, { kind: 'response' }>> = {}): Expected => ({
  kind: 'response',
  status: 200,
  ...rest,
});

/** A target that refuses every request, with these headers. */
const refuses = (name: string, said: RegExp | ExpectedRun, ...headers: Answer['headers']) =>
  hostile(
    name,
    answers({ status: 429 }),
    said instanceof RegExp ? { notReady: said } : said,
    changes((answer) => {
      const body = Buffer.from('{"code":"rate_limited","message":"slow down","status":429}');
      return withHeaders({ ...answer, status: 429, body }, [['X-RateLimit-Remaining', '0'], ...headers]);
    }),
  );

/** The answer with its Date put forward by these seconds. */
function dated(answer: Answer, seconds: number): Answer {
  const [, value = ''] = answer.headers.find(([name]) => name.toLowerCase() === 'date') ?? [];
  return withHeaders(answer, [['Date', new Date(Date.parse(value) + seconds * 1000).toUTCString()]]);
}

const bearer = (request: RawRequest) => (request.header('authorization') ?? '').replace(/^Bearer /, '');

/** Forms in which a target may echo the key that it was sent. */
export function echoes(key: string): string[] {
  const bytes = Buffer.from(key);
  return [
    key,
    key.toUpperCase(),
    encodeURIComponent(key),
    [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`user:${key}`).toString('base64'),
    key.slice(0, -1),
  ];
}

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
const animal = (rest: string) => `{"id":1,"name":"Rex","categoryId":1,${rest}}`;
const animals = (count: number) =>
  `[${Array(count).fill(animal('"status":"available","note":"aaaaaaaaaa"')).join(',')}]`;
const html = (text: string, status = 200): Answer => ({
  status,
  headers: [['Content-Type', 'text/html']],
  body: Buffer.from(`<html><h1>${text}</h1></html>`),
});

const brokenConnections: readonly HostileTarget[] = [
  {
    // A port that was free a moment ago: nothing listens there.
    ...fails('refuses the connection', 'refused', /refused: nothing listens/, () => ({})),
    async start() {
      const { port, close } = await startRawServer({});
      await close();
      return { url: `http://127.0.0.1:${port}/v1`, requests: [], close: async () => undefined };
    },
  },
  fails('resets on accept', 'reset', /closed without a response|was reset/, () => ({
    connected: (connection) => connection.reset(),
  })),
  fails('closes after the request', 'reset', /closed without a response/, sends('', 'close')),
  fails('closes within the headers', 'reset', /closed without a response/, sends(`${OK}X-Rate`, 'close')),
  fails('resets in the middle of the body', 'reset', /middle of the body, after 5 bytes/, () => ({
    request: (connection) => {
      connection.write(`${OK}Content-Length: 10\r\n\r\n[{"id`);
      setTimeout(() => connection.reset(), 50);
    },
  })),
  fails('never answers', 'headers-timeout', /no response within 0.4 s/, () => ({})),
  fails('stops within the headers', 'headers-timeout', /no response within/, sends(OK)),
  fails(
    'stops after the headers',
    'body-timeout',
    /body was not complete within 0.4 s/,
    sends(`${OK}Content-Length: 10\r\n\r\n`),
  ),
  fails('sends a body byte by byte for ever', 'body-timeout', /not complete within/, () => ({
    request: (connection) => {
      connection.write(`${OK}Content-Length: 1000000\r\n\r\n`);
      connection.trickle(' ', 20);
    },
  })),
  hostile('closes a connection that it said to keep', answers(), { broken: [], hold: 35 }, (good) => ({
    async request(connection, request) {
      connection.write(onTheWire(await good(request)));
      setTimeout(() => connection.end(), 5);
    },
  })),
];

const brokenFraming: readonly HostileTarget[] = [
  fails('sends headers without end', 'too-large', /headers are larger than 64 KiB/, () => ({
    request: (connection) => {
      connection.write(OK);
      connection.flood(`X-Filler: ${'x'.repeat(1000)}\r\n`.repeat(20));
    },
  })),
  fails('sends a body without end, in chunks', 'too-large', TOO_LARGE, () => ({
    request: (connection) => {
      connection.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      connection.flood(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    },
  })),
  fails('sends interim responses without end', 'headers-timeout', /no response within/, () => ({
    request: (connection) => connection.trickle('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', 5),
  })),
  hostile('says 100 Continue unasked, and answers', answers(), UNDISTURBED, (good) => ({
    async request(connection, request) {
      connection.write('HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n');
      connection.write(onTheWire(await good(request)));
    },
  })),
  fails(
    'switches protocols unasked',
    'malformed-response',
    /switches protocols/,
    sends('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  ),
  fails(
    'announces more than it sends, and closes',
    'reset',
    /middle of the body, after 38 bytes/,
    sends(`${OK}Content-Length: 100\r\n\r\n${BODY}`, 'close'),
  ),
  hostile(
    'announces less than it sends',
    answers({ body: /^\[\{"id":1$/ }),
    { notReady: /answers 200 application\/json, 8 bytes$/ },
    sends(`${OK}Content-Length: 8\r\n\r\n${BODY}`),
  ),
  ...Object.entries({
    'announces a length that is no number': `${OK}Content-Length: 0x26\r\n\r\n${BODY}`,
    'announces two lengths': `${OK}Content-Length: 38\r\nContent-Length: 5\r\n\r\n${BODY}`,
    'announces a length and chunks': `${OK}Content-Length: 38\r\nTransfer-Encoding: chunked\r\n\r\n26\r\n${BODY}\r\n0\r\n\r\n`,
    'sends more than the chunk size': `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\n${BODY}\r\n0\r\n\r\n`,
    'sends an invalid status line': `HTTP/1.1 OK\r\n\r\n${BODY}`,
    'sends a header value with NUL': `${OK}X-Rate: \u0000\r\nContent-Length: 38\r\n\r\n${BODY}`,
    'speaks HTTP/9.9': `HTTP/9.9 200 OK\r\nContent-Length: 38\r\n\r\n${BODY}`,
    'is a mail server': '220 mail ESMTP\r\n',
  }).map(([name, bytes]) => fails(name, 'malformed-response', NOT_HTTP, sends(bytes))),
  fails(
    'answers with a TLS alert',
    'malformed-response',
    /not HTTP but TLS; is the address https/,
    sends('\x15\x03\x01\x00\x02\x02\x46', 'close'),
  ),
  hostile('sends two responses for one request', answers({ body: /Rex/ }), UNDISTURBED, (good) => ({
    async request(connection, request) {
      connection.write(onTheWire(await good(request)));
      connection.write('HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}');
    },
  })),
  hostile('sends garbage after the response', answers({ body: /Rex/ }), UNDISTURBED, (good) => ({
    async request(connection, request) {
      connection.write(Buffer.concat([onTheWire(await good(request)), Buffer.from('\r\n\r\ngarbage\u0000')]));
    },
  })),
];

const readAs = (bodyProblem: NonNullable<Extract<Expected, { kind: 'response' }>['bodyProblem']>) =>
  answers({ bodyProblem });

const brokenBodies: readonly HostileTarget[] = [
  hostile(
    'compresses twice, unasked',
    answers({ body: /Rex/ }),
    UNDISTURBED,
    spoils((body) => brotliCompressSync(gzipSync(body)), 'GZip, br'),
  ),
  fails(
    'sends a gzip bomb in a gzip bomb',
    'too-large',
    /when decompressed/,
    spoils(() => gzipSync(BOMB), 'gzip, gzip'),
  ),
  hostile(
    'uses an unknown coding',
    readAs('unknown-encoding'),
    BEYOND_HARNESS,
    spoils((body) => body, 'rot13'),
  ),
  hostile(
    'cuts its gzip short',
    readAs('undecodable-encoding'),
    UNREADABLE,
    spoils((body) => gzipSync(body).subarray(0, -8), 'gzip'),
  ),
  hostile(
    'sends half a character at the end',
    readAs('invalid-utf8'),
    UNREADABLE,
    says(Buffer.from('["\xe7\x8a', 'latin1')),
  ),
  hostile('begins with a byte order mark', answers({ body: /^\uFEFF\[\]$/ }), UNREADABLE, says('\uFEFF[]')),
  hostile(
    'sends half a surrogate pair',
    answers({ body: /ud800/ }),
    ALWAYS_A_LIST,
    says('[{"id":1,"name":"\\ud800","categoryId":1}]'),
  ),
  fails('sends 10 MB of one name', 'too-large', TOO_LARGE, says(`[{"name":"${'x'.repeat(10_000_000)}"}]`)),
  fails('sends 2 MB of animals', 'too-large', /more than 100000 values/, says(animals(21_000))),
  // Three such lists are read, then none.
  hostile(
    'sends 1 MB of animals',
    answers(),
    { broken: ['list-each-once', 'list-limit-maximum'], hold: 5 },
    says(animals(11_000)),
  ),
  hostile('nests 100,000 deep', answers(), BEYOND_HARNESS, says('['.repeat(100_000) + ']'.repeat(100_000))),
  hostile(
    'sends 1e400',
    answers(),
    {
      broken: ['add-pet-schema', 'error-body-400', 'error-body-401', 'error-body-other', 'list-pet-schema'],
      hold: 40,
    },
    says('[{"id":1e400,"name":"Rex","categoryId":1e999999999}]'),
  ),
  hostile('sends no body', answers({ body: /^$/ }), UNREADABLE, says('')),
  hostile('sends half of a JSON text', answers(), UNREADABLE, says('[{"id":1,"na')),
  hostile(
    'is a web page',
    answers({ body: /<html>/ }),
    { notReady: NOT_THE_SERVICE },
    changes(() => html('Sign in')),
  ),
];

const misleadingHeaders: readonly HostileTarget[] = [
  hostile(
    'redirects to another host',
    answers({ status: 307 }),
    { notReady: /answers 307 to http:\/\/localhost:1\/v1\/pets/ },
    changes((_, { path }) => ({
      status: 307,
      headers: [['Location', `http://localhost:1${path}`]],
      body: Buffer.alloc(0),
    })),
  ),
  hostile(
    'sets cookies',
    answers(),
    UNDISTURBED,
    changes((answer) =>
      withHeaders(answer, [
        ['Set-Cookie', 'session=abc; Path=/'],
        ['Set-Cookie', 'other=def'],
      ]),
    ),
  ),
  refuses(
    'says to wait a thousand years',
    {
      broken: [],
      hold: 0,
      warning: /^key \S+ has no requests left for its day, as it seems, and has again at 3026-/,
    },
    ['Retry-After', '31557600000'],
  ),
  refuses('says to wait until the past', SPENT, ['Retry-After', 'Thu, 01 Jan 1970 00:00:00 GMT']),
  refuses('says to wait zero seconds, for ever', SPENT, ['Retry-After', '0']),
  refuses('says to wait in words', /Retry-After says a little;/, ['Retry-After', 'a little']),
  refuses('says to wait more digits than a number holds', /Retry-After says 9{60}…;/, [
    'Retry-After',
    '9'.repeat(400),
  ]),
  refuses('refuses without a word on how long', SPENT),
  hostile(
    'has the Dates of two machines that differ',
    answers(),
    UNDISTURBED,
    changes((answer, { number }) => dated(answer, number % 2 === 0 ? 40 : 0)),
  ),
  hostile(
    'has no Date',
    answers(),
    UNDISTURBED,
    changes((answer) => withoutHeaders(answer, 'date')),
  ),
  hostile(
    'sends rate headers twice, differing',
    answers(),
    RATE_HEADER_VALUES,
    changes((answer) => ({
      ...answer,
      headers: [
        ...answer.headers,
        ['X-RateLimit-Limit', '7'],
        ['X-RateLimit-Remaining', '-1'],
        ['X-RateLimit-Reset', '0'],
      ],
    })),
  ),
  hostile(
    'sends terminal escapes',
    answers({ status: 500 }),
    { broken: [...NOTHING_REFUSED, 'error-body-other', 'list-answers-200'], hold: 5 },
    changes((answer) => ({
      ...withHeaders(answer, [['X-Title', '\u009b2J\u0090']]),
      body: Buffer.from('{"code":"\u001b[2J\u001b]0;owned\u0007","message":"\u001b[31m\u202e","status":500}'),
      status: 500,
    })),
  ),
  hostile(
    'sends a thousand headers',
    answers(),
    UNDISTURBED,
    changes((answer) => ({
      ...answer,
      headers: [...answer.headers, ...Array.from({ length: 1000 }, (_, i) => [`X-H${i}`, 'x'] as const)],
    })),
  ),
  hostile(
    'throws the key back in headers',
    answers(),
    UNDISTURBED,
    changes((answer, request) =>
      withHeaders(
        answer,
        echoes(bearer(request)).map((echo, i) => [`X-Echo-${i}`, echo.replaceAll('\\', '%5c')] as const),
      ),
    ),
  ),
  hostile(
    'throws the key back in error messages',
    answers({ status: 401 }),
    { notReady: /answers 401 to key free-1 \(is the value of .* right\?\)/ },
    changes((answer, request) => ({
      ...answer,
      status: 401,
      body: Buffer.from(
        `{"code":"unauthorized","status":401,"message":"unknown key ${echoes(bearer(request)).join(' ')}","also":${JSON.stringify(request.head)}}`,
      ),
    })),
  ),
  hostile('throws the key back in pieces', answers(), { notReady: NOT_THE_SERVICE }, () => ({
    request: async (connection, request) => {
      connection.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      for (const character of `"${bearer(request)}"`) {
        connection.write(`1\r\n${character}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      connection.write('0\r\n\r\n');
    },
  })),
];

const changing: readonly HostileTarget[] = [
  hostile(
    'dies in the middle of the run',
    answers(),
    { broken: [], hold: 5, warning: STOPPED },
    becomes(() => ({ request: (connection) => connection.reset() })),
  ),
  hostile(
    'falls silent',
    answers(),
    { broken: [], hold: 5, warning: STOPPED },
    becomes(() => ({})),
  ),
  hostile(
    'becomes a gateway whose server is gone',
    answers(),
    { broken: [], hold: 5, warning: STOPPED },
    becomes(changes(() => html('502 Bad Gateway', 502))),
  ),
  hostile(
    'becomes another service',
    answers(),
    {
      broken: [],
      hold: 15,
      warning: /^a different service has been answering since .* 200 application\/json, 13 bytes$/,
    },
    becomes(changes(() => ({ status: 200, headers: JSON_TYPE, body: Buffer.from('{"orders":[]}') }))),
  ),
  hostile(
    "answers with the previous client's response",
    answers(),
    {
      broken: ['add-echoes-name', 'get-returns-requested-id'],
      hold: 0,
      warning: /^answers are mixed up between requests: /,
    },
    (good) => {
      let previous: Answer | undefined;
      return changes((own) => {
        const answer = previous ?? own;
        previous = own;
        return answer;
      })(good);
    },
  ),
];

export const hostileTargets: readonly HostileTarget[] = [
  ...brokenConnections,
  ...brokenFraming,
  ...brokenBodies,
  ...misleadingHeaders,
  ...changing,
];
