/** A proxy that passes everything on as it is, and shows what passed. */
import { once } from 'node:events';
import {
  createServer,
  Agent as HttpAgent,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Access } from '../../checks/wire/access.ts';
import { LARGEST_BODY } from '../../checks/wire/body-budget.ts';
import { headerList } from '../../checks/wire/dispatch-once.ts';
import type { HeaderList } from '../../checks/wire/exchange.ts';
import type { Observed } from '../../checks/wire/observed.ts';

export interface ProxyOptions {
  /** Base address; a request for /v1/pets at the proxy goes to the same path there. */
  readonly target: string;
  /** What stands before the target wants it; a proxy of the environment is passed by. */
  readonly access: Pick<Access, 'headers' | 'tls'>;
  /** 0 takes a free one. */
  readonly port: number;
  readonly onPassed: (observed: Observed) => void;
  /** What could not be passed on, in one line. */
  readonly onLost: (what: string) => void;
}

export interface Proxy {
  /** The base address for clients. */
  readonly address: string;
  /** Ends it, and every connection through it. */
  close(): Promise<void>;
}

/** They are about one connection (RFC 9110, 7.6.1); a body's frame is made anew. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
/** Those that are passed on. */
const lasting = (headers: HeaderList): HeaderList =>
  headers.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));

/** Keeps what passes, of a body that is too long so much that this shows. */
function keep(message: IncomingMessage): () => Buffer {
  const pieces: Buffer[] = [];
  let size = 0;
  message.on('data', (piece: Buffer) => {
    if (size <= LARGEST_BODY) pieces.push(piece);
    size += piece.length;
  });
  return () => Buffer.concat(pieces);
}

/** Starts the proxy on this machine. */
export async function startProxy({ target, access, port, onPassed, onLost }: ProxyOptions): Promise<Proxy> {
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  const [send, Agent] = url.protocol === 'https:' ? [requestTls, HttpsAgent] : [request, HttpAgent];
  const wanted = access.headers.map(({ name, value }) => [name, value]);
  /** A connection of a client has one to the target to itself. */
  const agents = new WeakMap<Socket, HttpAgent>();
  const server = createServer((incoming, outgoing) => {
    const sentAt = Date.now();
    const { method = 'GET', url: path = '/', socket: client } = incoming;
    const asked = headerList(incoming.rawHeaders);
    const bodyOf = keep(incoming);
    const headers = lasting(asked).map(([name, value]) => [name, /^host$/i.test(name) ? url.host : value]);
    const passing = send({
      ...{ ...urlToHttpOptions(url), method, path, agent: agents.get(client) },
      headers: [...headers, ...wanted].flat(),
    });
    let received: IncomingMessage | undefined;
    passing.once('response', (answer) => {
      received = answer;
      const answerOf = keep(answer);
      passBack(answer, outgoing);
      answer.once('end', () => {
        if (!answer.complete || !path.startsWith(base)) return;
        const { statusCode: status = 0, rawHeaders } = answer;
        const passed: Observed = {
          ...{ method, path: path.slice(base.length), headers: asked, body: bodyOf().toString() },
          ...{ sentAt, receivedAt: Date.now() },
          response: { kind: 'response', status, headers: headerList(rawHeaders), bytes: answerOf() },
        };
        // The client has the answer before it is judged.
        setImmediate(onPassed, passed);
      });
    });
    const lose = (why: string) => {
      if (!client.destroyed) onLost(`${method} ${path}: ${why}`);
      client.resetAndDestroy();
    };
    passing.once('upgrade', (_, socket) => {
      socket.destroy();
      lose('it switches protocols');
    });
    passing.on('error', ({ message }) => {
      // What comes after a whole answer is none of it.
      if (received?.complete !== true) lose(message);
    });
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) passing.destroy();
    });
    incoming.pipe(passing);
  });
  server.on('connection', (client: Socket) => {
    const agent = new Agent({ ...access.tls, keepAlive: true, maxSockets: 1 });
    agents.set(client, agent);
    client.once('close', () => agent.destroy());
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
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

/** Passes an answer back as it is; one that breaks off breaks off for the client too. */
function passBack(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.sendDate = false;
  outgoing.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    lasting(headerList(answer.rawHeaders)).flat(),
  );
  outgoing.flushHeaders();
  answer.once('aborted', () => outgoing.socket?.resetAndDestroy());
  answer.pipe(outgoing);
}
