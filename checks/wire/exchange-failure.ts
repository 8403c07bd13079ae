import { errors } from 'undici';
import type { FailureOutcome, FailureReason } from './exchange.ts';

/** How far an exchange had come when it failed. */
export interface Progress {
  readonly stage: 'connecting' | 'waiting for the response' | 'reading the body';
  /** Bytes of the body received, before decoding. */
  readonly received: number;
}

/** What a proxy says, or why it cannot be reached: no word of the target's. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}

type KnownFailure = Pick<FailureOutcome, 'reason' | 'message'>;

/** What a code of the system means while a connection is made. */
const SYSTEM_ERRORS: readonly (readonly [reason: FailureReason, message: string, ...codes: string[]])[] = [
  ['unresolved', 'the host name has no address', 'ENOTFOUND', 'ENODATA', 'EAI_NONAME'],
  ['unresolved', 'the host name could not be looked up: no answer from DNS', 'EAI_AGAIN'],
  ['unresolved', 'the host name could not be looked up: DNS failed', 'EAI_FAIL'],
  ['refused', 'the connection was refused: nothing listens at this address', 'ECONNREFUSED'],
  ['unreachable', 'no route to the host', 'EHOSTUNREACH'],
  ['unreachable', 'the host is down', 'EHOSTDOWN'],
  ['unreachable', 'no route to the network', 'ENETUNREACH'],
  ['unreachable', 'this machine has no network', 'ENETDOWN'],
  ['unreachable', 'the address cannot be used from this machine', 'EADDRNOTAVAIL'],
  ['unreachable', 'this machine blocks the outgoing connection', 'EACCES', 'EPERM'],
  ['reset', 'the connection was reset', 'ECONNRESET'],
  ['reset', 'the connection was aborted', 'ECONNABORTED'],
  ['reset', 'the connection was closed while the request was being sent', 'EPIPE'],
  ['connect-timeout', 'the connection attempt timed out', 'ETIMEDOUT'],
];

const TRUST_REMEDY =
  'if it is yours, name the file of its authority in tls.ca of the profile, or in NODE_EXTRA_CA_CERTS';
const UNKNOWN_AUTHORITY = "the certificate's authority is not known on this machine";
const NO_TLS = 'the server does not speak TLS at this port; is the address http:// ?';
const HANDSHAKE_REFUSED =
  'the server refuses the handshake; perhaps it asks for a client certificate: name one in tls: { cert, key }';
const NO_COMMON_VERSION = 'the server and this machine have no version of TLS in common';

const TLS_ERRORS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired; have it renewed',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: `the certificate is self-signed; ${TRUST_REMEDY}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the certificate's authority is not trusted on this machine; ${TRUST_REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT: `${UNKNOWN_AUTHORITY}; ${TRUST_REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `${UNKNOWN_AUTHORITY}; ${TRUST_REMEDY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${UNKNOWN_AUTHORITY}, or the server leaves out an intermediate certificate; ${TRUST_REMEDY}`,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate is for another host; correct the address, or name that host in tls.serverName',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: NO_COMMON_VERSION,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: NO_COMMON_VERSION,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'the server asks for a client certificate: name one in tls: { cert, key }',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'the client certificate has expired; have it renewed',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA:
    'the server does not know the authority of the client certificate; name another in tls.cert',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: HANDSHAKE_REFUSED,
  // By its name since OpenSSL 3.5.
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': HANDSHAKE_REFUSED,
  EPROTO: 'the TLS handshake failed',
};

const RUN_ENDED: KnownFailure = {
  reason: 'interrupted',
  message: 'the run ended before the response came',
};

/** undici's own errors whose meaning does not depend on how far the exchange had come. */
const UNDICI_ERRORS: Readonly<Record<string, KnownFailure>> = {
  UND_ERR_HEADERS_OVERFLOW: { reason: 'too-large', message: 'the response headers are larger than 64 KiB' },
  UND_ERR_DESTROYED: RUN_ENDED,
  UND_ERR_CLOSED: RUN_ENDED,
};

/** Codes by which the machine says that it cannot go on; no word about the target. */
const OWN_TROUBLE = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'UND_ERR_INVALID_ARG']);

/** First bytes of a TLS alert, which a TLS server sends to a client that does not speak TLS. */
const TLS_ALERT = '\x15\x03';

/**
 * Says in plain words why an exchange brought no response.
 *
 * @returns undefined where the error is the harness's own (a request that cannot be sent, no file handles left)
 */
export function failureOf(error: unknown, progress: Progress): FailureOutcome | undefined {
  const cause = decisive(error);
  // undici 7 leaves the code of its parser errors undefined.
  if (cause instanceof errors.HTTPParserError)
    return { kind: 'failure', reason: 'malformed-response', message: notHttp(cause) };
  if (cause instanceof ProxyError) return { kind: 'failure', reason: 'proxy', message: cause.message };
  const code = codeOf(cause);
  if (!(cause instanceof Error) || code === undefined || OWN_TROUBLE.has(code)) return undefined;
  const known =
    tlsFailure(cause, code, progress) ??
    httpFailure(cause, code, progress) ??
    UNDICI_ERRORS[code] ??
    systemFailure(code, progress);
  return { kind: 'failure', ...known };
}

/** Of the errors of several addresses of one host, the one that tells most: somebody answered. */
function decisive(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const errors: unknown[] = error.errors;
  return errors.find((inner) => codeOf(inner) === 'ECONNREFUSED') ?? errors[0] ?? error;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function tlsFailure(error: Error, code: string, { stage }: Progress): KnownFailure | undefined {
  // An alert may come when the handshake is over for the client, and its request sent (RFC 8446, 4.4.2).
  if (stage !== 'connecting' && !/^ERR_SSL_.*_ALERT_/.test(code)) return undefined;
  const failure = (why: string) => ({ reason: 'tls', message: `no secure connection: ${why}` }) as const;
  const plain = TLS_ERRORS[code];
  if (plain !== undefined) return failure(plain);
  if (code === 'ECONNRESET' && /before secure TLS connection/.test(error.message))
    return failure('the server closed it during the TLS handshake');
  return /^ERR_(SSL|TLS)_|CERT|^CRL_|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH/.test(code)
    ? failure(code.toLowerCase().replaceAll('_', ' '))
    : undefined;
}

function httpFailure(error: Error, code: string, progress: Progress): KnownFailure | undefined {
  if (code !== 'UND_ERR_SOCKET' && code !== 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return undefined;
  const malformed = (message: string) => ({ reason: 'malformed-response', message }) as const;
  if (error.message === 'bad response') return malformed('a response arrived that no request accounts for');
  if (error.message === 'bad upgrade')
    return malformed('the response switches protocols, which was not requested');
  // undici takes the parser's complaint about the headers for a body that is too short.
  if (code !== 'UND_ERR_SOCKET' && progress.stage !== 'reading the body')
    return malformed('the response is not HTTP/1.1, so the length of its body is unknown');
  return closed(progress);
}

function notHttp(error: errors.HTTPParserError): string {
  if ('data' in error && typeof error.data === 'string' && error.data.startsWith(TLS_ALERT)) {
    return 'the response is not HTTP but TLS; is the address https:// ?';
  }
  // llhttp's reasons are fixed phrases, which hold nothing of the response.
  const reason = /\((.*)\)$/.exec(error.message)?.[1];
  return `the response is not HTTP/1.1${reason === undefined ? '' : `: ${reason}`}`;
}

const closed = ({ stage, received }: Progress): KnownFailure => ({
  reason: 'reset',
  message:
    stage === 'reading the body'
      ? `the connection was closed in the middle of the body, after ${received} bytes`
      : 'the connection was closed without a response',
});

function systemFailure(code: string, progress: Progress): KnownFailure {
  if (progress.stage !== 'connecting') return closed(progress);
  const [reason, message] = SYSTEM_ERRORS.find(([, , ...codes]) => codes.includes(code)) ?? [
    'unreachable' as const,
    `the connection failed (${code})`,
  ];
  return { reason, message };
}
