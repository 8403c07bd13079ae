import t from 'tap';
import { errors } from 'undici';
import { failureOf, type Progress } from './exchange-failure.ts';

const CONNECTING: Progress = { stage: 'connecting', received: 0 };
const WAITING: Progress = { stage: 'waiting for the response', received: 0 };
const READING: Progress = { stage: 'reading the body', received: 38 };
const ALL = [CONNECTING, WAITING, READING];

/** An error as the machine reports it, with a code. */
const coded = (code: string, message = `connect ${code}`) => Object.assign(new Error(message), { code });
const unparsed = (message: string, data?: string) =>
  Object.assign(new errors.HTTPParserError(message), { data });
const severalAddresses = (...codes: string[]) => new AggregateError(codes.map((code) => coded(code)));

const TRUST = /^no secure connection: .*NODE_EXTRA_CA_CERTS/;
const NO_TLS = /http:\/\/ \?/;
const NO_VERSION = /version of TLS in common/;
const NO_ANSWER = /^the connection was closed without a response$/;
const IN_BODY = /in the middle of the body, after 38 bytes$/;
const UNASKED = /a response arrived that no request accounts for/;
const NOT_HTTP = /^the response is not HTTP\/1\.1$/;
const DURING_TLS = 'Client network socket disconnected before secure TLS connection was established';

/** Codes of the machine while it connects, by the reason that they are. */
const MACHINE = {
  unresolved: 'ENOTFOUND ENODATA EAI_AGAIN EAI_FAIL EAI_NONAME',
  refused: 'ECONNREFUSED',
  unreachable: 'EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN EADDRNOTAVAIL EACCES EPERM ENEW',
  reset: 'ECONNRESET ECONNABORTED EPIPE',
  'connect-timeout': 'ETIMEDOUT',
};

const TLS: Readonly<Record<string, RegExp>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: TRUST,
  SELF_SIGNED_CERT_IN_CHAIN: TRUST,
  UNABLE_TO_GET_ISSUER_CERT: TRUST,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TRUST,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TRUST,
  CERT_HAS_EXPIRED: /expired/,
  CERT_NOT_YET_VALID: /not valid yet/,
  CERT_REVOKED: /revoked/,
  ERR_TLS_CERT_ALTNAME_INVALID: /another host/,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: NO_VERSION,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: NO_VERSION,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: /asks for a client certificate/,
  EPROTO: /handshake failed/,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: /perhaps it asks for a client certificate/,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': /perhaps it asks for a client certificate/,
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: /err ssl tlsv1 alert internal error/,
  ERR_TLS_DH_PARAM_SIZE: /err tls dh param size/,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_CERT: /unable to decode issuer public cert/,
  CRL_HAS_EXPIRED: /crl has expired/,
  HOSTNAME_MISMATCH: /hostname mismatch/,
  INVALID_CA: /invalid ca/,
  INVALID_PURPOSE: /invalid purpose/,
  PATH_LENGTH_EXCEEDED: /path length exceeded/,
};

type Row = readonly [error: unknown, stages: readonly Progress[], reason?: string, message?: RegExp];
const ROWS: readonly Row[] = [
  ...Object.entries(MACHINE).flatMap(([reason, codes]) =>
    codes.split(' ').map((code): Row => [coded(code), [CONNECTING], reason, /^[a-z]/]),
  ),
  [coded('ENEW'), [CONNECTING], 'unreachable', /ENEW/],
  ...Object.entries(TLS).map(([code, message]): Row => [coded(code), [CONNECTING], 'tls', message]),
  // An alert may come after the request was sent; a certificate is looked at before.
  [
    coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'),
    [WAITING],
    'tls',
    /asks for a client certificate: name one in tls/,
  ],
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'CERT_HAS_EXPIRED'].flatMap((code): Row[] => [
    [coded(code), [WAITING], 'reset', NO_ANSWER],
    [coded(code), [READING], 'reset', IN_BODY],
  ]),
  [coded('ECONNRESET', DURING_TLS), [CONNECTING], 'tls', /closed it during the TLS handshake/],
  [coded('ECONNREFUSED', DURING_TLS), [CONNECTING], 'refused'],
  [new errors.SocketError('other side closed'), [CONNECTING, WAITING], 'reset', NO_ANSWER],
  [new errors.SocketError('other side closed'), [READING], 'reset', IN_BODY],
  [new errors.ResponseContentLengthMismatchError(), [READING], 'reset', IN_BODY],
  [
    new errors.ResponseContentLengthMismatchError(),
    [CONNECTING, WAITING],
    'malformed-response',
    /length of its body is unknown/,
  ],
  [new errors.SocketError('bad response'), [CONNECTING, WAITING], 'malformed-response', UNASKED],
  [new errors.SocketError('bad upgrade'), [WAITING], 'malformed-response', /switches protocols/],
  // Whose words they are tells a message from the target's.
  [coded('ECONNRESET', 'bad response'), [WAITING], 'reset'],
  [coded('ECONNRESET', 'bad upgrade'), [WAITING], 'reset'],
  [new errors.HeadersOverflowError(), [WAITING], 'too-large', /headers are larger than 64 KiB/],
  [unparsed('Does not match (Invalid (x))'), [WAITING], 'malformed-response', /1\.1: Invalid \(x\)$/],
  [unparsed('Expected HTTP/ (a hint), not this'), [WAITING], 'malformed-response', NOT_HTTP],
  [unparsed('Expected HTTP/', '\x15\x03\x01\x00\x02'), [WAITING], 'malformed-response', /https:\/\/ \?/],
  [unparsed('Expected HTTP/', 'HTTP/9.9 \x15\x03'), [WAITING], 'malformed-response', NOT_HTTP],
  [new errors.ClientDestroyedError(), ALL, 'interrupted'],
  [new errors.ClientClosedError(), ALL, 'interrupted'],
  // Of several addresses one that refused tells most, else the first.
  [severalAddresses('ENETUNREACH', 'ECONNREFUSED'), [CONNECTING], 'refused'],
  [severalAddresses('ETIMEDOUT', 'ENETUNREACH'), [CONNECTING], 'connect-timeout'],
  [Object.assign(severalAddresses(), { code: 'ETIMEDOUT' }), [CONNECTING], 'connect-timeout'],
  // What says nothing of the target is the harness's own trouble.
  [severalAddresses('EMFILE'), [CONNECTING]],
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'].map((code): Row => [coded(code), ALL]),
  [new errors.InvalidArgumentError('invalid path'), [CONNECTING]],
  [new TypeError('x is not a function'), [CONNECTING]],
  [Object.assign(new Error('odd'), { code: 7 }), [CONNECTING]],
  [{ code: 'ECONNRESET', message: 'x' }, [CONNECTING]],
  ['ECONNRESET', [CONNECTING]],
  [null, [CONNECTING]],
];

t.test('what an error says of the target, by how far the exchange had come', async (t) => {
  for (const [error, stages, reason, message = /./] of ROWS)
    for (const progress of stages) {
      const failure = failureOf(error, progress);
      const row = `${error}, ${progress.stage}`;
      if (reason === undefined) t.equal(failure, undefined, row);
      else t.match(failure, { kind: 'failure', reason, message }, row);
    }
});
