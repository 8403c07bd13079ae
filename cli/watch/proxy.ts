/** A proxy that passes everything on as it is, and shows what passed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Access } from '../../checks/wire/access.ts';
import { Connection } from '../../checks/wire/connections.ts';
import { headerList } from '../../checks/wire/dispatch-once.ts';
import { header } from '../../checks/wire/exchange.ts';
import { failureOf, type Progress } from '../../checks/wire/exchange-failure.ts';
import type { Observed } from '../../checks/wire/observed.ts';
import { outcomeBehind } from '../../checks/wire/proxy.ts';
import { LARGEST_BODY } from '../../checks/wire/response-body.ts';

export interface ProxyOptions {
  /** Base address; a request for /v1/pets at the proxy goes to the same path there. */
  readonly target: string;
  readonly access: Pick<Access, 'headers' | 'tls' | 'proxy'>;
  /** 0 takes a free one. */
  readonly port: number;
  readonly onPassed: (observed: Observed) => void;
  /** What could not be passed on, in one line. */
  readonly onLost: (what: string) => void;
}

/** They are about one connection (RFC 9110, 7.6.1); a body's frame is made anew. */
const OF_THE_CONNECTION = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i;
/** What is made anew for the target, or was answered here. */
const OF_THE_REQUEST = /^(host|expect)$/i;

/** Keeps what passes of a body; of one that is too long so much that this shows. */
function keeper() {
  const pieces: Buffer[] = [];
  let size = 0;
  const add = (piece: Buffer) => {
    if (size <= LARGEST_BODY) pieces.push(piece);
    size += piece.length;
  };
  return { add, size: () => size, bytes: () => Buffer.concat(pieces) };
}

/** Starts the proxy on this machine. @returns the base address for clients, and what ends every connection through it */
export async function startProxy({ target, access, port, onPassed, onLost }: ProxyOptions) {
  const { origin, pathname } = new URL(target);
  const base = pathname.replace(/\/+$/, '');
  const wanted = access.headers.map(({ name, value }) => [name, value] as const);
  const keeping = { isSafe: true, isHttp2: false };
  /** A connection of a client has one to the target to itself. */
  const connections = new WeakMap<Socket, Connection>();
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (incoming, outgoing) => {
    const sentAt = Date.now();
    const { method = 'GET', url: path = '/', socket: client } = incoming;
    const connection = connections.get(client);
    const asked = headerList(incoming.rawHeaders);
    const headers = asked.filter(([name]) => !OF_THE_CONNECTION.test(name) && !OF_THE_REQUEST.test(name));
    const [sent, received] = [keeper(), keeper()];
    const hasBody = asked.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
    const body = hasBody ? incoming.on('data', sent.add).pipe(new PassThrough()) : undefined;
    let stage: Progress['stage'] = 'connecting';
    let answer: Omit<Observed['response'], 'bytes'> = { kind: 'response', status: 0, headers: [] };
    let last: Buffer | undefined;
    outgoing.sendDate = false;
    connection?.dispatch(
      { method, path, headers: [...headers, ...wanted], body },
      {
        onRequestStart(controller) {
          // Nothing is sent twice.
          if (stage !== 'connecting') controller.abort(new Error('the connection was closed'));
          stage = 'waiting for the response';
        },
        onResponseStart({ rawHeaders }, status, _, phrase = '') {
          if (status < 200) return;
          stage = 'reading the body';
          answer = { kind: 'response', status, headers: headerList(rawHeaders) };
          const lasting = answer.headers.filter(([name]) => !OF_THE_CONNECTION.test(name)).flat();
          outgoing.writeHead(status, /^[ -~]*$/.test(phrase) ? phrase : '', lasting);
          // In one packet with what has come of the body.
          client.cork();
          outgoing.flushHeaders();
          process.nextTick(() => client.uncork());
        },
        onResponseData(controller, piece) {
          received.add(piece);
          // A client that has all it was told of may leave before HTTP/2 says that the answer ends.
          if (received.size() === Number(header(answer.headers, 'content-length'))) last = piece;
          else if (!outgoing.write(piece)) {
            controller.pause();
            outgoing.once('drain', () => controller.resume());
          }
        },
        onResponseEnd() {
          outgoing.end(last);
          const outcome = outcomeBehind(access.proxy, origin, answer);
          if (outcome.kind === 'failure') return onLost(`${method} ${path}: ${outcome.message}`);
          if (!path.startsWith(base)) return;
          const passed: Observed = {
            ...{ method, path: path.slice(base.length), headers: asked, body: sent.bytes().toString() },
            ...{ sentAt, receivedAt: Date.now(), response: { ...outcome, bytes: received.bytes() } },
          };
          // The client has the answer before it is judged.
          setImmediate(onPassed, passed);
        },
        onResponseError(_, error) {
          const cause = connection.error ?? error;
          const failure = failureOf(cause, { stage, received: 0 });
          const { message } =
            failure === undefined ? cause : outcomeBehind<never>(access.proxy, origin, failure);
          if (!client.destroyed) onLost(`${method} ${path}: ${message}`);
          client.resetAndDestroy();
        },
      },
    );
  });
  server.on('connection', (client: Socket) => {
    const connection = new Connection({ origin, connectTimeout: 0, access }, keeping);
    connections.set(client, connection);
    client.once('close', () => void connection.destroy());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  return {
    address: `http://127.0.0.1:${bound.port}${base}`,
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}
