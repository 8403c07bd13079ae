import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Access } from './access.ts';
import type { FailureOutcome, HeaderList } from './exchange.ts';
import { isRead, proxyCredentials, tunnel } from './proxy.ts';

/** One request as it goes on the wire. */
export interface WireRequest {
  readonly method: string;
  /** Absolute path and query, sent as it is. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: string | Readable | undefined;
}

/** A complete response, its body still coded. */
export interface WireResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: HeaderList;
  readonly bytes: Buffer;
}

/** What came of a request, and when, in milliseconds since 1970 by the harness's clock. */
export interface Dispatched {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly outcome: WireResponse | FailureOutcome;
}

/** What the connections to a target have shown. */
export interface Keeping {
  /** Whether they may be kept from one exchange to the next: none was lost by that. */
  isSafe: boolean;
  isHttp2: boolean;
}

/** What connections are made to, and how. */
export interface ConnectionOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Real milliseconds for name lookup, TCP and TLS; 0 is no limit. */
  readonly connectTimeout: number;
  readonly access: Pick<Access, 'tls' | 'proxy'>;
}

const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Shorter than what servers keep an idle connection for, which is 5 s and more; undici follows a server that says
 * otherwise (`Keep-Alive: timeout`), two seconds ahead of it.
 */
const KEEP_ALIVE_MS = 1000;

const MOST_CONNECTIONS = 60;

/** Time for a slow address before the next one of the same host is tried as well (RFC 8305, 5). */
const NEXT_ADDRESS_MS = 2000;

/** A place for one exchange at a time: its TCP connection is kept from one to the next, or made anew. */
export class Connection {
  readonly #client: Client;
  /** What requests have besides where a proxy reads them: their paths are whole addresses. */
  readonly #forProxy: { readonly prefix: string; readonly headers: HeaderList } | undefined;
  /** Whether an answer came on this TCP connection. */
  hasAnswered = false;
  /** The first error of the TCP connection; undici tells of the last one, which hides an alert of TLS. */
  error: Error | undefined;
  readonly keeping: Keeping;

  constructor({ origin, connectTimeout, access: { tls, proxy } }: ConnectionOptions, keeping: Keeping) {
    this.keeping = keeping;
    const settings = {
      ...{ timeout: connectTimeout, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS },
      ...tls,
    };
    const connectors = [buildConnector(settings), buildConnector({ ...settings, allowH2: true })] as const;
    const forwarder = isRead(origin) ? proxy : undefined;
    this.#forProxy = forwarder && {
      prefix: origin,
      headers: [['host', new URL(origin).host], ...proxyCredentials(forwarder)],
    };
    const connect: buildConnector.connector = (options, callback) => {
      const secured = connectors[keeping.isHttp2 ? 1 : 0];
      if (proxy === forwarder || proxy === undefined) return secured(options, callback);
      const to = `${options.host?.replace(/:\d+$/, '')}:${options.port || 443}`;
      tunnel(proxy, to, connectTimeout, (...[error, httpSocket]) =>
        error === null ? secured({ ...options, httpSocket }, callback) : callback(error, null),
      );
    };
    this.#client = new Client(forwarder?.origin ?? origin, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        this.error = undefined;
        let isOffered = keeping.isHttp2;
        const made: buildConnector.Callback = (...[error, socket]) => {
          // Only a server that has no HTTP/1.1 to offer ends the handshake so (RFC 7301, 3.2).
          if (!isOffered && error !== null && isOtherProtocol(error)) {
            isOffered = keeping.isHttp2 = true;
            return connect(options, made);
          }
          if (error !== null) {
            this.error = error;
            // By its code undici would wait for good after a certificate of another host.
            return callback(new Error('no connection', { cause: error }), null);
          }
          socket.once('error', (first) => {
            this.error = first;
          });
          if (!keeping.isHttp2) passOverContinue(socket);
          callback(null, socket);
        };
        connect(options, made);
      },
    });
    this.#client.on('disconnect', () => {
      this.hasAnswered = false;
    });
  }

  /** Sends a request, once the ones before it are over. */
  dispatch({ method, path, headers, body }: WireRequest, handler: Dispatcher.DispatchHandler): void {
    const { prefix = '', headers: more = [] } = this.#forProxy ?? {};
    const options = { method, path: prefix + path, body: body ?? null, reset: !this.keeping.isSafe };
    this.#client.dispatch({ ...options, headers: [...headers, ...more].flat() }, handler);
  }

  destroy(): Promise<void> {
    return this.#client.destroy();
  }
}

const isOtherProtocol = (error: Error) =>
  'code' in error && /_NO_APPLICATION_PROTOCOL$/.test(String(error.code));

/**
 * Lets a `100 Continue` that nobody asked for pass as an interim response of another number (RFC 9110, 15.2: "a client
 * MUST be able to parse one or more 1xx responses"): undici ends the connection for a 100 and passes over a 102.
 */
function passOverContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  let answered = -1;
  socket.read = (size) => {
    const bytes: unknown = read(size);
    // What comes before anything more was written goes on with an answer.
    if (!Buffer.isBuffer(bytes) || socket.bytesWritten === answered) return bytes;
    let at = 0;
    while (/^HTTP\/1\.[01] 100[ \r]/.test(bytes.toString('latin1', at, at + 13))) {
      bytes.write('102', at + 9);
      const end = bytes.indexOf('\r\n\r\n', at);
      at = end < 0 ? bytes.length : end + 4;
    }
    if (at < bytes.length) answered = socket.bytesWritten;
    return bytes;
  };
}

/** The connections to one target: at most 60, each for one exchange at a time. Who comes later waits. */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #keeping: Keeping = { isSafe: true, isHttp2: false };
  readonly #all: Connection[] = [];
  readonly #idle: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Lends a connection until it is given back: the one that was used last, which is idle for the shortest. */
  take(): Connection | Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#all.length === MOST_CONNECTIONS) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = new Connection(this.#options, this.#keeping);
    this.#all.push(connection);
    if (this.#closed) void connection.destroy();
    return connection;
  }

  giveBack(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next(connection);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#all.map((connection) => connection.destroy()));
  }
}
