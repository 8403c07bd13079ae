import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { IssuedKey } from './api-keys.ts';
import type { Answer, Behaviour } from './behaviour.ts';
import { type Call, noQuota, type Route } from './call.ts';
import type { Clock } from './clock.ts';
import { conformingBehaviour } from './conforming.ts';
import { badRequest, type Problem, problem } from './error-body.ts';
import { listWriter, refusal, type Service } from './operations.ts';
import type { PlanLimits } from './plans.ts';
import { documentedRecipe, type Parts, partsOf, type Recipe, type ServiceOptions } from './recipe.ts';
import { NO_BODY, receiveBody } from './request-body.ts';
import { routeOf } from './routing.ts';
import { serveUnparsedRequests } from './unparsed-requests.ts';

/** How a server is started; everything has a default. */
export interface ServerOptions extends ServiceOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** How long the server waits for slow clients. */
  readonly patience?: Partial<Patience>;
  /** Changes the ingredients. */
  readonly recipe?: (usual: Recipe) => Recipe;
  /** Changes the decisions. */
  readonly behaviour?: (usual: Behaviour, parts: Parts, recipe: Recipe) => Behaviour;
}

/** A server that is listening. */
export interface ReferenceServer {
  /** With the version segment and without a trailing slash: `http://127.0.0.1:4711/v1`. */
  readonly baseUrl: string;
  readonly keys: readonly IssuedKey[];
  readonly clock: Clock;
  readonly enterprise: PlanLimits;
  /** Stops accepting, lets requests in progress finish, and cuts off the rest after `patience.drainMs`. */
  close(): Promise<void>;
}

/**
 * How long the server waits, in real milliseconds, whatever the speed of its clock: for headers, for a whole request, for
 * the next one, for a client that does not read, and when it is closed for requests under way.
 */
const PATIENCE = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 30_000,
  stalledMs: 60_000,
  drainMs: 5_000,
};
export type Patience = Readonly<typeof PATIENCE>;

const HOST_REQUIRED = badRequest('host_required', 'An HTTP/1.1 request names exactly one host.');
const KEY_REQUIRED = problem(
  401,
  'unauthorized',
  'A valid API key is required: Authorization: Bearer <API_KEY>.',
  ...['WWW-Authenticate', 'Bearer realm="pets"'],
);
const UNEXPECTED = problem(500, 'internal_error', 'The server failed to answer.');

function assemble(recipe: Recipe, { animals, behaviour: change }: ServerOptions): Service {
  const parts = partsOf(recipe, animals);
  const conforming = conformingBehaviour(parts, recipe);
  const behaviour = change?.(conforming, parts, recipe) ?? conforming;
  const asUsual = behaviour.select === conforming.select && behaviour.petText === conforming.petText;
  return { behaviour, store: parts.store, lists: listWriter(behaviour, parts.store, asUsual) };
}

/** The values of a header, one for each time that it is sent. */
function fieldsNamed(name: string, { rawHeaders }: IncomingMessage): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [sent = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(value);
  }
  return values;
}

function openCall(request: IncomingMessage, route: Route, now: number): Call {
  const [authorization = null, second] = fieldsNamed('authorization', request);
  return {
    request,
    route,
    now,
    authorization: second === undefined ? authorization : null,
    key: null,
    quota: noQuota(now),
    refusedBy: null,
  };
}

/**
 * Why a request is refused before its operation is looked at: HTTP itself forbids it, it has no valid key, or its key is
 * banned or over its limit. Stores key and quota in the call.
 */
function admission(call: Call, behaviour: Behaviour): Problem | null {
  const hosts = fieldsNamed('host', call.request).length;
  if (hosts > 1 || (hosts === 0 && call.request.httpVersion !== '1.0')) return HOST_REQUIRED;
  call.key = behaviour.identify(call);
  if (call.key === null) return KEY_REQUIRED;
  const gate = behaviour.admit(call.key, call);
  call.quota = gate.quota;
  call.refusedBy = gate.refusedBy;
  return gate.refusal;
}

function requestHandler(service: Service, { basePath, clock }: Recipe, server: Server) {
  const { behaviour } = service;
  return (request: IncomingMessage, response: ServerResponse): void => {
    const route = routeOf(basePath, request.method ?? '', request.url ?? '');
    const call = openCall(request, route, clock.now());
    const reply = (answer: Answer): void => {
      const last = behaviour.finish(answer, call);
      const headers = behaviour.headers(last, call);
      if (!server.listening) headers.push('Connection', 'close');
      behaviour.deliver(response, last, headers, call);
    };
    // An error while answering affects only its own connection.
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
        if (!response.headersSent) reply(refusal(UNEXPECTED));
      }
    };
    attempt(() => {
      const found = admission(call, behaviour) ?? route.found;
      if ('code' in found) reply(refusal(found));
      else if (!found.readsBody) reply(found.answer(call, service, NO_BODY));
      else receiveBody(request, (body) => attempt(() => reply(found.answer(call, service, body))));
    });
  };
}

function httpServer(service: Service, recipe: Recipe, patience: Patience): Server {
  const { headersMs, requestMs, idleMs, stalledMs } = patience;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs / 2),
    // By default, Node answers a missing Host without an Error body.
    requireHostHeader: false,
  });
  server.timeout = stalledMs;
  server.on('request', requestHandler(service, recipe, server));
  serveUnparsedRequests(server, recipe.clock);
  return server;
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  await once(server.listen(port, host, 1024), 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
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
  const usual = documentedRecipe(options);
  const recipe = options.recipe?.(usual) ?? usual;
  const server = httpServer(assemble(recipe, options), recipe, patience);
  const address = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  let closing: Promise<void> | undefined;
  return {
    baseUrl: `http://${address}${recipe.basePath}`,
    keys: recipe.keys,
    clock: recipe.clock,
    enterprise: usual.limitsOf({ name: 'any', plan: 'enterprise' }),
    close() {
      closing ??= drain(server, patience.drainMs);
      return closing;
    },
  };
}
