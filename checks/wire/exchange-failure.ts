import { errors } from 'undici';
import type { FailureOutcome, FailureReason } from './exchange.ts';

/** How far an exchange had come when it failed. */
export interface Progress {
  readonly stage: 'connecting' | 'waiting for the response' | 'reading the body';
  /** Bytes of the body received, before decoding. */
  readonly received: number;
}

interface KnownFailure {
  readonly reason: FailureReason;
  readonly message: string;
}

const SYSTEM_ERRORS: Readonly<Record<string, KnownFailure>> = {
  ENOTFOUND: { reason: 'unresolved', message: 'the host name has no address' },
  ENODATA: { reason: 'unresolved', message: 'the host name has no address' },
  EAI_AGAIN: { reason: 'unresolved', message: 'the host name could not be looked up: no answer from DNS' },
  EAI_FAIL: { reason: 'unresolved', message: 'the host name could not be looked up: DNS failed' },
  EAI_NONAME: { reason: 'unresolved', message: 'the host name has no address' },
  ECONNREFUSED: { reason: 'refused', message: 'the connection was refused: nothing listens at this address' },
  EHOSTUNREACH: { reason: 'unreachable', message: 'no route to the host' },
  EHOSTDOWN: { reason: 'unreachable', message: 'the host is down' },
  ENETUNREACH: { reason: 'unreachable', message: 'no route to the network' },
  ENETDOWN: { reason: 'unreachable', message: 'this machine has no network' },
  EADDRNOTAVAIL: { reason: 'unreachable', message: 'the address cannot be used from this machine' },
  EACCES: { reason: 'unreachable', message: 'this machine blocks the outgoing connection' },
  EPERM: { reason: 'unreachable', message: 'this machine blocks the outgoing connection' },
  ECONNRESET: { reason: 'reset', message: 'the connection was reset' },
  ECONNABORTED: { reason: 'reset', message: 'the connection was aborted' },
  EPIPE: { reason: 'reset', message: 'the connection was closed while the request was being sent' },
};

const TRUST_REMEDY = 'if it is yours, name the file of its authority in NODE_EXTRA_CA_CERTS';

const TLS_ERRORS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: `the certificate is self-signed; ${TRUST_REMEDY}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the certificate's authority is not trusted on this machine; ${TRUST_REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT: `the certificate's authority is not known on this machine; ${TRUST_REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the certificate's authority is not known on this machine; ${TRUST_REMEDY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the certificate's authority is not known on this machine, or the server leaves out an intermediate certificate; ${TRUST_REMEDY}`,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS at this port; is the address http:// ?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS at this port; is the address http:// ?',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the server and this machine have no version of TLS in common',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the server and this machine have no version of TLS in common',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the server asks for a client certificate',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'the server refuses the handshake; perhaps it asks for a client certificate',
  EPROTO: 'the TLS handshake failed',
};

/** undici's own errors whose meaning does not depend on how far the exchange had come. */
const UNDICI_ERRORS: Readonly<Record<string, KnownFailure>> = {
  UND_ERR_HEADERS_OVERFLOW: { reason: 'too-large', message: 'the response headers are larger than 64 KiB' },
  UND_ERR_DESTROYED: { reason: 'interrupted', message: 'the run ended before the response came' },
  UND_ERR_CLOSED: { reason: 'interrupted', message: 'the run ended before the response came' },
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
  const plain = TLS_ERRORS[code];
  if (plain !== undefined) return { reason: 'tls', message: `no secure connection: ${plain}` };
  if (code === 'ECONNRESET' && /before secure TLS connection/.test(error.message)) {
    return { reason: 'tls', message: 'no secure connection: the server closed it during the TLS handshake' };
  }
  if (!/^ERR_(SSL|TLS)_|CERT|^CRL_|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH/.test(code)) {
    return undefined;
  }
  return { reason: 'tls', message: `no secure connection: ${code.toLowerCase().replaceAll('_', ' ')}` };
}

function httpFailure(error: Error, code: string, progress: Progress): KnownFailure | undefined {
  if (code !== 'UND_ERR_SOCKET' && code !== 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return undefined;
  if (error.message === 'bad response')
    return { reason: 'malformed-response', message: 'a response arrived that no request accounts for' };
  if (error.message === 'bad upgrade') {
    return {
      reason: 'malformed-response',
      message: 'the response switches protocols, which was not requested',
    };
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && progress.stage !== 'reading the body') {
    // undici takes the parser's complaint about the headers for a body that is too short.
    return {
      reason: 'malformed-response',
      message: 'the response is not HTTP/1.1, so the length of its body is unknown',
    };
  }
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

function closed({ stage, received }: Progress): KnownFailure {
  if (stage === 'reading the body') {
    return {
      reason: 'reset',
      message: `the connection was closed in the middle of the body, after ${received} bytes`,
    };
  }
  return { reason: 'reset', message: 'the connection was closed without a response' };
}

function systemFailure(code: string, progress: Progress): KnownFailure {
  if (progress.stage !== 'connecting') return closed(progress);
  if (code === 'ETIMEDOUT') return { reason: 'connect-timeout', message: 'the connection attempt timed out' };
  return SYSTEM_ERRORS[code] ?? { reason: 'unreachable', message: `the connection failed (${code})` };
}
