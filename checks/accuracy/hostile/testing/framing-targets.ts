import { onTheWire } from './good-answers.ts';
import { type Expected, failure, type HostileTarget, hostile, response } from './hostile-target.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const BODY = '[{"id":1,"name":"Rex","categoryId":1}]';
const NOT_HTTP = failure('malformed-response', /not HTTP\/1\.1/);

/** A target that answers every request with these bytes, and then closes the connection or keeps it open. */
const sends = (name: string, expected: Expected, bytes: string, then: 'close' | 'stay open' = 'stay open') =>
  hostile(name, expected, () => ({
    request: (connection) => (then === 'close' ? connection.end(bytes) : connection.write(bytes)),
  }));

/** Targets whose responses break the framing of HTTP/1.1 (RFC 9112), or never end. */
export const framingTargets: readonly HostileTarget[] = [
  hostile('sends headers without end', failure('too-large', /headers are larger than 64 KiB/), () => ({
    request: (connection) => {
      connection.write(OK);
      connection.flood(`X-Filler: ${'x'.repeat(1000)}\r\n`.repeat(20));
    },
  })),
  hostile('sends one header without end', failure('too-large', /headers are larger than/), () => ({
    request: (connection) => {
      connection.write(`${OK}X-Filler: `);
      connection.flood('x'.repeat(20_000));
    },
  })),
  hostile('sends a status line without end', failure('headers-timeout', /no response within/), () => ({
    request: (connection) => {
      connection.write('HTTP/1.1 200 ');
      connection.flood('x'.repeat(20_000));
    },
  })),
  hostile('sends a body without end, in chunks', failure('too-large', /body is larger than/), () => ({
    request: (connection) => {
      connection.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      connection.flood(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    },
  })),
  hostile('sends a body without end, until it closes', failure('too-large', /body is larger than/), () => ({
    request: (connection) => {
      connection.write(`${OK}Connection: close\r\n\r\n`);
      connection.flood('x'.repeat(65_536));
    },
  })),
  hostile('sends a chunk extension without end', failure('body-timeout', /not complete within/), () => ({
    request: (connection) => {
      connection.write(`${OK}Transfer-Encoding: chunked\r\n\r\n5;x=`);
      connection.flood('x'.repeat(20_000));
    },
  })),
  hostile('sends interim responses without end', failure('headers-timeout', /no response within/), () => ({
    request: (connection) => connection.trickle('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', 5),
  })),
  hostile('sends a few interim responses first', response({ status: 200 }), (answers) => ({
    async request(connection, request) {
      connection.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n');
      connection.write(onTheWire(await answers(request)));
    },
  })),
  sends(
    'says 100 Continue unasked, and nothing more',
    failure('headers-timeout', /no response within/),
    'HTTP/1.1 100 Continue\r\n\r\n',
  ),
  hostile('says 100 Continue unasked, twice, and answers', response({ status: 200 }), (answers) => ({
    async request(connection, request) {
      connection.write('HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n');
      const answer = onTheWire(await answers(request));
      connection.write(Buffer.concat([Buffer.from('HTTP/1.1 100\r\n\r\n'), answer]));
    },
  })),
  sends(
    'switches protocols unasked',
    failure('malformed-response', /switches protocols/),
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ),
  sends(
    'announces more than it sends, and closes',
    failure('reset', /middle of the body, after 38 bytes/),
    `${OK}Content-Length: 100\r\n\r\n${BODY}`,
    'close',
  ),
  sends(
    'announces more than it sends, and waits',
    failure('body-timeout', /not complete within/),
    `${OK}Content-Length: 100\r\n\r\n${BODY}`,
  ),
  sends(
    'announces less than it sends',
    response({ status: 200, body: /^\[\{"id":1$/ }),
    `${OK}Content-Length: 8\r\n\r\n${BODY}`,
  ),
  sends('announces a negative length', NOT_HTTP, `${OK}Content-Length: -1\r\n\r\n${BODY}`),
  sends('announces a length that is no number', NOT_HTTP, `${OK}Content-Length: 0x26\r\n\r\n${BODY}`),
  sends(
    'announces more bytes than a number holds',
    failure('malformed-response', /not HTTP\/1\.1/),
    `${OK}Content-Length: 99999999999999999999999\r\n\r\n${BODY}`,
  ),
  sends('announces two lengths', NOT_HTTP, `${OK}Content-Length: 38\r\nContent-Length: 5\r\n\r\n${BODY}`),
  sends(
    'announces a length and chunks',
    NOT_HTTP,
    `${OK}Content-Length: 38\r\nTransfer-Encoding: chunked\r\n\r\n26\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  sends(
    'sends a chunk size that is no number',
    NOT_HTTP,
    `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n${BODY}\r\n`,
  ),
  sends(
    'sends more than the chunk size',
    NOT_HTTP,
    `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  sends(
    'closes before the last chunk',
    failure('reset', /middle of the body, after 38 bytes/),
    `${OK}Transfer-Encoding: chunked\r\n\r\n26\r\n${BODY}\r\n`,
    'close',
  ),
  sends(
    'waits before the last chunk',
    failure('body-timeout', /not complete within/),
    `${OK}Transfer-Encoding: chunked\r\n\r\n26\r\n${BODY}\r\n`,
  ),
  sends('sends an invalid status line', NOT_HTTP, `HTTP/1.1 OK\r\n\r\n${BODY}`),
  sends('sends a status of four digits', NOT_HTTP, `HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n`),
  sends('speaks HTTP/0.9', NOT_HTTP, BODY, 'close'),
  sends('speaks HTTP/9.9', NOT_HTTP, `HTTP/9.9 200 OK\r\nContent-Length: 38\r\n\r\n${BODY}`),
  sends('speaks HTTP/2', NOT_HTTP, '\x00\x00\x12\x04\x00\x00\x00\x00\x00', 'close'),
  hostile('is a mail server', NOT_HTTP, () => ({
    connected: (connection) => connection.write('220 mail ESMTP\r\n'),
  })),
  sends(
    'answers with a TLS alert',
    failure('malformed-response', /not HTTP but TLS; is the address https/),
    '\x15\x03\x01\x00\x02\x02\x46',
    'close',
  ),
  sends('sends a header name with a space', NOT_HTTP, `${OK}X Rate: 1\r\nContent-Length: 38\r\n\r\n${BODY}`),
  sends(
    'sends a header value with NUL',
    NOT_HTTP,
    `${OK}X-Rate: \u0000\r\nContent-Length: 38\r\n\r\n${BODY}`,
  ),
  sends('sends lines without CR', NOT_HTTP, `HTTP/1.1 200 OK\nContent-Length: 38\n\n${BODY}`),
  // It cannot be told from a very fast answer.
  hostile('responds before the request', response({ status: 200, body: /^\[\]$/ }), () => ({
    connected: (connection) => connection.end(`${OK}Content-Length: 2\r\n\r\n[]`),
  })),
  hostile('sends two responses for one request', response({ status: 200, body: /Rex/ }), (answers) => ({
    async request(connection, request) {
      connection.write(onTheWire(await answers(request)));
      connection.write('HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}');
    },
  })),
  hostile('sends garbage after the response', response({ status: 200, body: /Rex/ }), (answers) => ({
    async request(connection, request) {
      connection.write(
        Buffer.concat([onTheWire(await answers(request)), Buffer.from('\r\n\r\ngarbage\u0000')]),
      );
    },
  })),
];
