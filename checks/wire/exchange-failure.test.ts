import t from 'tap';
import { errors } from 'undici';
import type { FailureReason } from './exchange.ts';
import { failureOf, type Progress } from './exchange-failure.ts';

const CONNECTING: Progress = { stage: 'connecting', received: 0 };
const WAITING: Progress = { stage: 'waiting for the response', received: 0 };
const READING: Progress = { stage: 'reading the body', received: 38 };

/** An error as the machine reports it, with a code. */
const coded = (code: string, message = `connect ${code}`) => Object.assign(new Error(message), { code });

t.test('what the machine says of a connection attempt, by reason', async (t) => {
  const codes: Partial<Record<FailureReason, readonly string[]>> = {
    unresolved: ['ENOTFOUND', 'ENODATA', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NONAME'],
    refused: ['ECONNREFUSED'],
    unreachable: [
      'EHOSTUNREACH',
      'EHOSTDOWN',
      'ENETUNREACH',
      'ENETDOWN',
      'EADDRNOTAVAIL',
      'EACCES',
      'EPERM',
      'ESOMETHINGNEW',
    ],
    reset: ['ECONNRESET', 'ECONNABORTED', 'EPIPE'],
    'connect-timeout': ['ETIMEDOUT'],
  };
  for (const [reason, each] of Object.entries(codes)) {
    for (const code of each) {
      t.match(failureOf(coded(code), CONNECTING), { kind: 'failure', reason, message: /^[a-z]/ }, code);
    }
  }
  t.match(failureOf(coded('ESOMETHINGNEW'), CONNECTING), { message: /ESOMETHINGNEW/ }, 'an unknown code');
});

t.test('once the connection stands, it can only have been closed, before or within the body', async (t) => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'CERT_HAS_EXPIRED']) {
    t.strictSame(
      failureOf(coded(code), WAITING),
      { kind: 'failure', reason: 'reset', message: 'the connection was closed without a response' },
      code,
    );
    t.match(
      failureOf(coded(code), READING),
      { kind: 'failure', reason: 'reset', message: /in the middle of the body, after 38 bytes$/ },
      code,
    );
  }
  for (const progress of [CONNECTING, WAITING]) {
    t.match(failureOf(new errors.SocketError('other side closed'), progress), {
      reason: 'reset',
      message: /without a response/,
    });
  }
  for (const error of [
    new errors.SocketError('other side closed'),
    new errors.ResponseContentLengthMismatchError(),
  ]) {
    t.match(failureOf(error, READING), { reason: 'reset', message: /after 38 bytes/ }, error.message);
  }
});

t.test('a certificate that is not trusted comes with the remedy', async (t) => {
  for (const code of [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ]) {
    t.match(
      failureOf(coded(code), CONNECTING),
      { kind: 'failure', reason: 'tls', message: /^no secure connection: .*NODE_EXTRA_CA_CERTS/ },
      code,
    );
  }
});

t.test('other trouble with TLS is told in plain words', async (t) => {
  for (const [code, words] of [
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'not valid yet'],
    ['CERT_REVOKED', 'revoked'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'http:// ?'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'http:// ?'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'version of TLS in common'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'version of TLS in common'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate'],
    ['EPROTO', 'handshake failed'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'perhaps it asks for a client certificate'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'perhaps it asks for a client certificate'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'err ssl tlsv1 alert internal error'],
    ['ERR_TLS_DH_PARAM_SIZE', 'err tls dh param size'],
    ['UNABLE_TO_DECODE_ISSUER_PUBLIC_CERT', 'unable to decode issuer public cert'],
    ['CRL_HAS_EXPIRED', 'crl has expired'],
    ['HOSTNAME_MISMATCH', 'hostname mismatch'],
    ['INVALID_CA', 'invalid ca'],
    ['INVALID_PURPOSE', 'invalid purpose'],
    ['PATH_LENGTH_EXCEEDED', 'path length exceeded'],
  ] as const) {
    const failure = failureOf(coded(code), CONNECTING);
    t.match(failure, { kind: 'failure', reason: 'tls' }, code);
    t.match(failure?.message, /^no secure connection: /);
    t.ok(failure?.message.includes(words), code);
  }
});

t.test('an alert of TLS is told by its name, also when the request was sent already', async (t) => {
  for (const progress of [CONNECTING, WAITING]) {
    t.strictSame(failureOf(coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), progress), {
      kind: 'failure',
      reason: 'tls',
      message: 'no secure connection: the server asks for a client certificate',
    });
  }
});

t.test('a connection closed in the TLS handshake is told from one that was reset before it', async (t) => {
  const during = 'Client network socket disconnected before secure TLS connection was established';
  t.match(failureOf(coded('ECONNRESET', during), CONNECTING), {
    reason: 'tls',
    message: /closed it during the TLS handshake/,
  });
  t.match(failureOf(coded('ECONNRESET'), CONNECTING), { reason: 'reset' });
  t.match(failureOf(coded('ECONNREFUSED', during), CONNECTING), { reason: 'refused' });
});

t.test('what the parser refuses is no HTTP, in its own words', async (t) => {
  const refused = (message: string, data?: string) =>
    failureOf(Object.assign(new errors.HTTPParserError(message), { data }), WAITING);
  t.strictSame(refused('Response does not match the HTTP/1.1 protocol (Invalid header token (x))'), {
    kind: 'failure',
    reason: 'malformed-response',
    message: 'the response is not HTTP/1.1: Invalid header token (x)',
  });
  t.match(refused('Response does not match'), { message: /^the response is not HTTP\/1\.1$/ });
  t.match(refused('Expected HTTP/ (a hint), not this'), { message: /^the response is not HTTP\/1\.1$/ });
  t.match(refused('Expected HTTP/', '\x15\x03\x01\x00\x02'), {
    reason: 'malformed-response',
    message: /not HTTP but TLS; is the address https:\/\/ \?/,
  });
  t.match(refused('Expected HTTP/', 'HTTP/9.9 \x15\x03'), { message: /not HTTP\/1\.1$/ }, 'no alert');
});

t.test('what undici refuses of a response is malformed', async (t) => {
  const malformed = (error: Error, progress: Progress, message: RegExp) =>
    t.match(failureOf(error, progress), { kind: 'failure', reason: 'malformed-response', message });
  for (const progress of [CONNECTING, WAITING])
    malformed(
      new errors.SocketError('bad response'),
      progress,
      /a response arrived that no request accounts for/,
    );
  malformed(new errors.SocketError('bad upgrade'), WAITING, /switches protocols/);
  for (const progress of [CONNECTING, WAITING]) {
    malformed(new errors.ResponseContentLengthMismatchError(), progress, /length of its body is unknown/);
  }
  t.match(failureOf(new errors.HeadersOverflowError(), WAITING), {
    kind: 'failure',
    reason: 'too-large',
    message: /headers are larger than 64 KiB/,
  });
});

t.test('a message of undici is read as such only in its own errors', async (t) => {
  for (const message of ['bad response', 'bad upgrade']) {
    t.match(failureOf(coded('ECONNRESET', message), WAITING), { reason: 'reset' }, message);
  }
});

t.test('a client that was closed has interrupted its exchanges', async (t) => {
  for (const error of [new errors.ClientDestroyedError(), new errors.ClientClosedError()]) {
    for (const progress of [CONNECTING, WAITING, READING]) {
      t.match(failureOf(error, progress), { kind: 'failure', reason: 'interrupted' }, error.name);
    }
  }
});

t.test('of several addresses of a host, one that refused tells most, else the first', async (t) => {
  const reasonOf = (...codes: string[]) =>
    failureOf(new AggregateError(codes.map((code) => coded(code))), CONNECTING)?.reason;
  t.equal(reasonOf('ENETUNREACH', 'ECONNREFUSED'), 'refused');
  t.equal(reasonOf('ETIMEDOUT', 'ENETUNREACH'), 'connect-timeout');
  t.equal(reasonOf('ENETUNREACH', 'ETIMEDOUT'), 'unreachable');
  t.equal(reasonOf('EMFILE'), undefined);
  const withoutParts = Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' });
  t.match(failureOf(withoutParts, CONNECTING), { reason: 'connect-timeout' });
});

t.test("what says nothing of the target is the harness's own trouble", async (t) => {
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']) {
    for (const progress of [CONNECTING, WAITING, READING]) {
      t.equal(failureOf(coded(code), progress), undefined, code);
    }
  }
  t.equal(failureOf(new errors.InvalidArgumentError('invalid path'), CONNECTING), undefined);
  for (const [what, error] of [
    ['an error without a code', new TypeError('x is not a function')],
    ['a code that is no text', Object.assign(new Error('odd'), { code: 7 })],
    ['an object that is no error', { code: 'ECONNRESET', message: 'x' }],
    ['a text', 'ECONNRESET'],
    ['null', null],
    ['nothing', undefined],
  ] as const) {
    t.equal(failureOf(error, CONNECTING), undefined, what);
  }
});
