import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { demoKeys, type IssuedKey } from './api-keys.ts';
import type { Answer, Behaviour } from './behaviour.ts';
import { openCall } from './call.ts';
import type { Clock } from './clock.ts';
import { conformingBehaviour } from './conforming.ts';
import { UNEXPECTED } from './error-body.ts';
import { freshLists, keptLists, type Lists } from './lists.ts';
import { admission, createPet, getPet, listPets, refusal } from './operations.ts';
import { DOCUMENTED_PLANS, type PlanLimits } from './plans.ts';
import { documentedRecipe, type Parts, partsOf, type Recipe, type ServiceOptions } from './recipe.ts';
import { receiveBody } from './request-body.ts';
import { routerOf } from './routing.ts';
import { answerUnparsed, serveUnusualRequests } from './unparsed-requests.ts';

/** How a server is started; everything has a default. */
export interface ServerOptions extends Omit<ServiceOptions, 'keys'> {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: the demo keys, with new values in every run. */
  readonly keys?: readonly IssuedKey[];
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

/** How long the server waits for a client, in real milliseconds, whatever the speed of its clock. */
export interface Patience {
  /** For the whole of a request's headers. */
  readonly headersMs: number;
  /** For the whole of a request. */
  readonly requestMs: number;
  /** For the next request on a connection. */
  readonly idleMs: number;
  /** For a client that does not read its response. */
  readonly stalledMs: number;
  /** For requests in progress when the server is closed. */
  readonly drainMs: number;
}

const PATIENCE: Patience = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 30_000,
  stalledMs: 60_000,
  drainMs: 5_000,
};

/** How a server answers. */
interface Service {
  readonly recipe: Recipe;
  readonly behaviour: Behaviour;
  readonly lists: Lists;
}

function assemble(options: ServiceOptions & Pick<ServerOptions, 'recipe' | 'behaviour'>): Service {
  const usual = documentedRecipe(options);
  const recipe = options.recipe?.(usual) ?? usual;
  const parts = partsOf(recipe, options.animals);
  const conforming = conformingBehaviour(parts);
  const behaviour = options.behaviour?.(conforming, parts, recipe) ?? conforming;
  const fresh = freshLists(behaviour);
  const asUsual = behaviour.select === conforming.select && behaviour.petText === conforming.petText;
  return { recipe, behaviour, lists: asUsual ? keptLists(parts.store, fresh) : fresh };
}

/** Answers one request. */
function requestHandler({ recipe, behaviour, lists }: Service, server: Server) {
  const router = routerOf(recipe.basePath);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const call = openCall(request, recipe.clock.now(), router);
    const reply = (answer: Answer): void => {
      const last = behaviour.finish(answer, call);
      const headers = behaviour.headers(last, call);
      if (!server.listening) headers.push('Connection', 'close');
      behaviour.deliver(response, last, headers, call);
    };
    // An error while answering affects only its own connection.
    const answer = (make: () => Answer | null): void => {
      try {
        const made = make();
        if (made !== null) reply(made);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
        if (!response.headersSent) reply(refusal(UNEXPECTED));
      }
    };
    const { route } = call;
    answer(() => {
      const refused = admission(call, behaviour);
      if (refused !== null) return refused;
      if (route.operation === 'listPets') return listPets(route.search, call, behaviour, lists);
      if (route.operation === 'getPet') return getPet(route.petId, call, behaviour);
      receiveBody(request, (body) => answer(() => createPet(body, call, behaviour)));
      return null;
    });
  };
}

function httpServer(service: Service, { headersMs, requestMs, idleMs, stalledMs }: Patience): Server {
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs / 2),
    maxHeaderSize: 16_384,
    // By default, Node answers a missing Host without an Error body.
    requireHostHeader: false,
  });
  const { clock } = service.recipe;
  server.timeout = stalledMs;
  server.on('request', requestHandler(service, server));
  server.on('clientError', (error, socket) => answerUnparsed(error, socket, clock));
  serveUnusualRequests(server, clock);
  // node:http corks a response to join its parts. Here headers and body are already one string, and corking costs more
  // than all decisions about a request.
  server.on('connection', (socket) => {
    socket.cork = () => undefined;
  });
  return server;
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  await once(server.listen(port, host, 1024), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address;
}

function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(deadline);
      resolve();
    });
  });
}

/**
 * Starts a server that implements sections 2 to 9 of the document.
 *
 * @throws the system's error if the port is not available
 */
export async function startServer(options: ServerOptions = {}): Promise<ReferenceServer> {
  const keys = options.keys ?? demoKeys();
  const patience = { ...PATIENCE, ...options.patience };
  const service = assemble({ ...options, keys });
  const server = httpServer(service, patience);
  const { port, address, family } = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  const host = family === 'IPv6' ? `[${address}]` : address;
  let closing: Promise<void> | undefined;
  return {
    baseUrl: `http://${host}:${port}${service.recipe.basePath}`,
    keys,
    clock: service.recipe.clock,
    enterprise: options.enterprise ?? DOCUMENTED_PLANS.enterprise,
    close() {
      closing ??= drain(server, patience.drainMs);
      return closing;
    },
  };
}
