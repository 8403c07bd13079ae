import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, badRequest, refusal } from './answer.ts';
import type { IssuedKey } from './api-keys.ts';
import type { Clock } from './clock.ts';
import { conformingDesign, type ServiceOptions } from './conforming.ts';
import type { Call, Design, Route, Service } from './design.ts';
import { listWriter, routeOf } from './operations.ts';
import { PetStore } from './pet-store.ts';
import type { PlanLimits } from './plans.ts';
import { noQuota, RateLimiter } from './rate-limiter.ts';
import { receiveBody } from './request-body.ts';
import { serveUnparsedRequests } from './unparsed-requests.ts';

/** How a server is started; everything has a default. */
export interface ServerOptions extends ServiceOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** How long the server waits for slow clients. */
  readonly patience?: Partial<Patience>;
  /** Number of animals in the store at the start; default 120. */
  readonly animals?: number;
  /** Changes what the server is made from, and how it decides. */
  readonly design?: (usual: Design) => Design;
}

/** A server that is listening. */
export interface ReferenceServer {
  /** With the version segment and without a trailing slash: `http://127.0.0.1:4711/v1`. */
  readonly baseUrl: string;
  readonly keys: readonly IssuedKey[];
  readonly clock: Clock;
  readonly enterprise: PlanLimits;
  /** Stops accepting, lets requests in progress finish, and cuts off the rest after `patience.drain`. */
  close(): Promise<void>;
}

/**
 * How long the server waits, in real milliseconds, whatever the speed of its clock, under Node's names: for headers, for a
 * whole request, for the next one, for a client that does not read, and when it is closed for requests under way.
 */
const PATIENCE = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  timeout: 60_000,
  drain: 5_000,
};
export type Patience = Readonly<typeof PATIENCE>;

const HOST_REQUIRED = badRequest('host_required', 'An HTTP/1.1 request names exactly one host.');
const KEY_REQUIRED = refusal(
  401,
  'unauthorized',
  'A valid API key is required: Authorization: Bearer <API_KEY>.',
  ...['WWW-Authenticate', 'Bearer realm="pets"'],
);
const UNEXPECTED = refusal(500, 'internal_error', 'The server failed to answer.');

/** A design at work, with so many animals. */
export function serviceOf(usual: Design, { animals = 120, design: change }: ServerOptions): Service {
  const design = change?.(usual) ?? usual;
  const store = new PetStore(design.nextId);
  design.seed(store, animals);
  const asUsual = design.select === usual.select && design.petText === usual.petText;
  return { ...design, store, limiter: new RateLimiter(design), lists: listWriter(asUsual) };
}

/** The values of a header, one for each time that it is sent. Node's own list of them fails on a field __proto__. */
const fieldsNamed = (name: string, { rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);

function openCall(request: IncomingMessage, route: Route, service: Service): Call {
  const [authorization = null, second] = fieldsNamed('authorization', request);
  const now = service.clock.now();
  return {
    service,
    request,
    route,
    now,
    authorization: second === undefined ? authorization : null,
    body: '',
    key: null,
    quota: noQuota(now),
    refusedBy: null,
  };
}

/**
 * Why a request is refused before its operation is looked at: HTTP itself forbids it, it has no valid key, or its key is
 * banned or over its limit. Stores key and quota in the call.
 */
function admission(call: Call): Answer | null {
  const hosts = fieldsNamed('host', call.request).length;
  if (hosts > 1 || (hosts === 0 && call.request.httpVersion !== '1.0')) return HOST_REQUIRED;
  call.key = call.service.identify(call);
  if (call.key === null) return KEY_REQUIRED;
  const gate = call.service.admit(call.key, call);
  call.quota = gate.quota;
  call.refusedBy = gate.refusedBy;
  return gate.refusal;
}

/** Answers the requests of a server. */
export function requestHandler(service: Service, server: Pick<Server, 'listening'>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const route = routeOf(service.basePath, request.method ?? '', request.url ?? '');
    const call = openCall(request, route, service);
    const reply = (answer: Answer): void => {
      const last = service.finish(answer, call);
      const headers = service.headers(last, call);
      if (!server.listening) headers.push('Connection', 'close');
      service.deliver(response, last, headers, call);
    };
    // An error while answering affects only its own connection.
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
        if (!response.headersSent) reply(UNEXPECTED);
      }
    };
    attempt(() => {
      const found = admission(call) ?? route.found;
      if ('text' in found) reply(found);
      else if (found.method !== 'POST') reply(found.answer(call));
      else receiveBody(call, (refused) => attempt(() => reply(refused ?? found.answer(call))));
    });
  };
}

function httpServer(service: Service, patience: Patience): Server {
  const server = createServer({
    ...patience,
    connectionsCheckingInterval: Math.min(1_000, patience.headersTimeout / 2),
    // By default, Node answers a missing Host without an Error body.
    requireHostHeader: false,
  });
  server.timeout = patience.timeout;
  server.on('request', requestHandler(service, server));
  serveUnparsedRequests(server, service.clock);
  return server;
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  await once(server.listen(port, host, 1024), 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

async function drain(server: Server, milliseconds: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), milliseconds);
  await once(server.close(), 'close');
  clearTimeout(deadline);
}

/**
 * Starts a server that implements sections 2 to 9 of the document.
 *
 * @throws the system's error if the port is not available
 */
export async function startServer(options: ServerOptions = {}): Promise<ReferenceServer> {
  const patience = { ...PATIENCE, ...options.patience };
  const usual = conformingDesign(options);
  const service = serviceOf(usual, options);
  const server = httpServer(service, patience);
  const address = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  return {
    baseUrl: `http://${address}${service.basePath}`,
    keys: service.keys,
    clock: service.clock,
    enterprise: usual.limitsOf({ name: 'any', plan: 'enterprise' }),
    close: () => drain(server, patience.drain),
  };
}
