import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

/** One request as it came over the wire. */
export interface RawRequest {
  /** Counts from 1, over all connections. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** The request line and the header lines. */
  readonly head: string;
  readonly body: string;
  /** The value of a header; undefined if it was not sent. */
  header(name: string): string | undefined;
}

/** A connection that a behaviour writes to; writing to a closed one does nothing. */
export interface RawConnection {
  /** Resolves when neither side can use it any more. */
  readonly closed: Promise<void>;
  write(data: string | Uint8Array): void;
  /** Writes, then closes properly. */
  end(data?: string | Uint8Array): void;
  /** Closes with a TCP reset. */
  reset(): void;
  /** Writes the same text repeatedly, as fast as the other side reads. */
  flood(data: string): void;
  /** Writes the same text repeatedly, at an interval in milliseconds. */
  trickle(data: string, interval: number): void;
}

/** How a server behaves; without `request` it never answers. */
export interface Behaviour {
  connected?(connection: RawConnection): void;
  request?(connection: RawConnection, request: RawRequest): void | Promise<void>;
  /** TLS with this certificate; plain TCP without. */
  readonly tls?: tls.TlsOptions;
}

export interface RawServer {
  readonly port: number;
  /** Everything that arrived, in order. */
  readonly requests: readonly RawRequest[];
  readonly connections: number;
  close(): Promise<void>;
}

/** Starts a server on loopback that speaks only as much HTTP as its behaviour does. */
export async function startRawServer(behaviour: Behaviour, host = '127.0.0.1', port = 0): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<net.Socket>();
  let connections = 0;
  const serve = (socket: net.Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The other side may disconnect at any time: that is being tested.
    socket.on('error', () => socket.destroy());
    const connection = connectionOf(socket);
    behaviour.connected?.(connection);
    let waiting = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      waiting += data;
      for (let next = firstRequest(waiting); next !== undefined; next = firstRequest(waiting)) {
        waiting = waiting.slice(next.length);
        const request = requestOf(requests.length + 1, next);
        requests.push(request);
        // A missing answer (the upstream server has closed) must not crash the test.
        void Promise.resolve(behaviour.request?.(connection, request)).catch(() => socket.destroy());
      }
    });
  };
  const server =
    behaviour.tls === undefined ? net.createServer(serve) : tls.createServer(behaviour.tls, serve);
  // The client may abort the handshake.
  server.on('tlsClientError', () => undefined);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not listening on a port');
  return {
    port: address.port,
    requests,
    get connections() {
      return connections;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}

function connectionOf(socket: net.Socket): RawConnection {
  return {
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    write(data) {
      if (socket.writable) socket.write(data);
    },
    end(data) {
      if (socket.writable) socket.end(data ?? '');
    },
    reset() {
      socket.resetAndDestroy();
    },
    flood(data) {
      const bytes = Buffer.from(data);
      const pour = () => {
        while (socket.writable && socket.write(bytes)) {
          // As much as the socket takes at once.
        }
      };
      socket.on('drain', pour);
      pour();
    },
    trickle(data, interval) {
      const timer = setInterval(() => this.write(data), interval);
      socket.on('close', () => clearInterval(timer));
    },
  };
}

interface RawMessage {
  readonly head: string;
  readonly body: string;
  readonly length: number;
}

/** The first complete request in the received text; bodies are as long as Content-Length says. */
function firstRequest(waiting: string): RawMessage | undefined {
  const headEnd = waiting.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = waiting.slice(0, headEnd);
  const length = headEnd + 4 + Number(headerIn(head, 'content-length') ?? 0);
  return waiting.length < length ? undefined : { head, body: waiting.slice(headEnd + 4, length), length };
}

function requestOf(number: number, { head, body }: RawMessage): RawRequest {
  const [method = '', path = ''] = head.split(' ', 2);
  return {
    number,
    method,
    path,
    head,
    body: Buffer.from(body, 'latin1').toString(),
    header: (name) => headerIn(head, name),
  };
}

function headerIn(head: string, name: string): string | undefined {
  const line = head.split('\r\n').find((candidate) => candidate.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}
