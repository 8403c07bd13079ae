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

/** What a code of the system means while a connection is made; of any other the code says most. */
const SYSTEM_ERRORS: readonly (readonly [codes: RegExp, reason: FailureReason, message: string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_.*)$/, 'unresolved', 'the host name could not be resolved'],
  [/^ECONNREFUSED$/, 'refused', 'the connection was refused: nothing listens at this address'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE)$/, 'reset', 'the connection was reset'],
  [/^ETIMEDOUT$/, 'connect-timeout', 'the connection attempt timed out'],
];

const TRUST_REMEDY =
  'if it is yours, name the file of its authority in tls.ca of the profile, or in NODE_EXTRA_CA_CERTS';

/** What errors of TLS mean, and what to do about them; of any other the code says most. */
const TLS_ERRORS: readonly (readonly [codes: RegExp, message: string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'the certificate has expired; have it renewed'],
  [/^CERT_NOT_YET_VALID$/, 'the certificate is not valid yet'],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, `the certificate is self-signed; ${TRUST_REMEDY}`],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT.*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
    `the certificate's authority is not known on this machine, or the server leaves out an intermediate certificate; ${TRUST_REMEDY}`,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'the certificate is for another host; correct the address, or name that host in tls.serverName',
  ],
  [
    /_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    'the server does not speak TLS at this port; is the address http:// ?',
  ],
  [
    /_(UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION)$/,
    'the server and this machine have no version of TLS in common',
  ],
  [/_CERTIFICATE_REQUIRED$/, 'the server asks for a client certificate: name one in tls: { cert, key }'],
  [
    /_HANDSHAKE_FAILURE$/,
    'the server refuses the handshake; perhaps it asks for a client certificate: name one in tls: { cert, key }',
  ],
  [
    /_ALERT_(UNKNOWN_CA|CERTIFICATE_EXPIRED)$/,
    'the server does not take the client certificate, or its authority; name another in tls.cert',
  ],
  [/^EPROTO$/, 'the TLS handshake failed'],
];

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
  const [, known] = TLS_ERRORS.find(([codes]) => codes.test(code)) ?? [];
  if (known !== undefined) return failure(known);
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
  const [, reason = 'unreachable', message = 'no connection can be made'] =
    SYSTEM_ERRORS.find(([codes]) => codes.test(code)) ?? [];
  return { reason, message: `${message} (${code})` };
}
