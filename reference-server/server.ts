import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { demoKeys, type IssuedKey, KeyRing } from './api-keys.ts';
import { BanList, type BanPolicy } from './ban-list.ts';
import type { Answer, Behaviour } from './behaviour.ts';
import { openCall } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { conformingBehaviour, type Parts } from './conforming.ts';
import { WindowFromFirstRequest } from './deviations/meters.ts';
import type { Personality, Recipe } from './deviations/personality.ts';
import type { Problem } from './error-body.ts';
import { admission, createPet, getPet, listPets, refusal } from './operations.ts';
import { ascendingIds, PetStore } from './pet-store.ts';
import { freshPages, keptPages, type Pages } from './pet-text.ts';
import { DOCUMENTED_PLANS, type PlanLimits } from './plans.ts';
import { RateLimiter } from './rate-limiter.ts';
import { receiveBody } from './request-body.ts';
import { BASE_PATH, routerOf } from './routing.ts';
import { FIRST_ID_BEYOND_DOUBLES, seedWithMixedIds } from './seed.ts';
import { answerUnparsed, serveUnusualRequests } from './unparsed-requests.ts';

/** How a server is started; everything has a default. */
export interface ServerOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default the system's clock at `clockSpeed`. */
  readonly clock?: Clock;
  /** From 1, the default, to 100,000; without effect where `clock` is given. */
  readonly clockSpeed?: number;
  /** How many animals are in the store at the start; default 120. */
  readonly animals?: number;
  /** Default the demo keys, with new values in every run. */
  readonly keys?: readonly IssuedKey[];
  /** The plan that the document leaves custom; default 5,000 a minute and 1,000,000 a day. */
  readonly enterprise?: PlanLimits;
  /** Default 10 requests after the first 429, and 60 seconds. */
  readonly ban?: Partial<BanPolicy>;
  /** How long the server waits for slow clients. */
  readonly patience?: Partial<Patience>;
  /** In which ways the server is to differ from the conforming one, one on top of the other. */
  readonly personalities?: readonly Personality[];
}

/** A server that is listening. */
export interface ReferenceServer {
  /** With the version segment, without a trailing slash: `http://127.0.0.1:4711/v1`. */
  readonly baseUrl: string;
  readonly keys: readonly IssuedKey[];
  readonly clock: Clock;
  readonly enterprise: PlanLimits;
  /** Stops accepting, lets requests under way finish, cuts off what is left after `patience.drainMs`. */
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
  /** For a client that does not read what it asked for. */
  readonly stalledMs: number;
  /** For requests under way when the server is closed. */
  readonly drainMs: number;
}

const PATIENCE: Patience = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 30_000,
  stalledMs: 60_000,
  drainMs: 5_000,
};

function httpOptions({ headersMs, requestMs, idleMs }: Patience) {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs / 2),
    maxHeaderSize: 16_384,
    // Node would answer a missing Host without an Error body.
    requireHostHeader: false,
  };
}

function usualRecipe(options: ServerOptions, keys: readonly IssuedKey[]): Recipe {
  const plans = { ...DOCUMENTED_PLANS, enterprise: options.enterprise ?? DOCUMENTED_PLANS.enterprise };
  return {
    basePath: BASE_PATH,
    clock: options.clock ?? systemClock(options.clockSpeed),
    keys,
    limitsOf: (key) => plans[key.plan],
    accountOf: (key) => key.name,
    minuteMeter: (limit, windowMs) => new WindowFromFirstRequest(limit, windowMs),
    dayMeter: (limit, windowMs) => new WindowFromFirstRequest(limit, windowMs),
    describes: 'binding',
    ban: { threshold: 10, seconds: 60, ...options.ban },
    nextId: ascendingIds(FIRST_ID_BEYOND_DOUBLES),
    seed: seedWithMixedIds,
  };
}

interface Assembly {
  readonly recipe: Recipe;
  readonly parts: Parts;
  readonly behaviour: Behaviour;
  readonly pages: Pages;
}

function assemble(options: ServerOptions, keys: readonly IssuedKey[]): Assembly {
  const personalities = options.personalities ?? [];
  let recipe = usualRecipe(options, keys);
  for (const personality of personalities) recipe = { ...recipe, ...personality.recipe?.(recipe) };
  const parts: Parts = {
    clock: recipe.clock,
    keys: new KeyRing(recipe.keys),
    store: new PetStore(recipe.nextId),
    limiter: new RateLimiter(recipe),
    bans: new BanList(recipe.ban),
  };
  recipe.seed(parts.store, options.animals ?? 120);
  const conforming = conformingBehaviour(parts);
  let behaviour = conforming;
  for (const { behaviour: differing } of personalities) {
    if (differing !== undefined) behaviour = { ...behaviour, ...differing(behaviour, parts, recipe) };
  }
  const fresh = freshPages(behaviour);
  const asUsual = behaviour.select === conforming.select && behaviour.petText === conforming.petText;
  const pages = asUsual ? keptPages(parts.store, fresh) : fresh;
  return { recipe, parts, behaviour, pages };
}

const UNEXPECTED: Problem = { status: 500, code: 'internal_error', message: 'The server failed to answer.' };

/** Answers one request. */
function requestHandler({ recipe, behaviour, pages }: Assembly, server: Server) {
  const router = routerOf(recipe.basePath);
  const { clock } = recipe;
  return (request: IncomingMessage, response: ServerResponse): void => {
    const call = openCall(request, clock.now(), router);
    const reply = (answer: Answer): void => {
      const last = behaviour.finish(answer, call);
      const headers = behaviour.headers(last, call);
      if (!server.listening) headers.push('Connection', 'close');
      behaviour.deliver(response, last, headers, call);
    };
    // A request that cannot be answered costs its own connection an apology, and no other one anything.
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
      if (route.operation === 'listPets') return listPets(route.search, call, behaviour, pages);
      if (route.operation === 'getPet') return getPet(route.petId, call, behaviour);
      receiveBody(request, (body) => answer(() => createPet(body, call, behaviour)));
      return null;
    });
  };
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 1024, () => {
      server.off('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('not listening on a port'));
      else resolve(address);
    });
  });
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
 * Starts a server that does what sections 2 to 9 of the document say, or, with personalities, something else.
 *
 * @throws the system's error where the port cannot be had
 */
export async function startServer(options: ServerOptions = {}): Promise<ReferenceServer> {
  const keys = options.keys ?? demoKeys();
  const patience = { ...PATIENCE, ...options.patience };
  const assembly = assemble(options, keys);
  const { recipe, parts } = assembly;
  const server = createServer(httpOptions(patience));
  server.on('request', requestHandler(assembly, server));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerUnparsed(error, socket, parts.clock),
  );
  serveUnusualRequests(server, parts.clock);
  server.timeout = patience.stalledMs;
  server.on('connection', (socket: Socket) => socket.setNoDelay(true));
  const { port, address, family } = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  const host = family === 'IPv6' ? `[${address}]` : address;
  let closing: Promise<void> | undefined;
  return {
    baseUrl: `http://${host}:${port}${recipe.basePath}`,
    keys,
    clock: recipe.clock,
    enterprise: options.enterprise ?? DOCUMENTED_PLANS.enterprise,
    close() {
      closing ??= drain(server, patience.drainMs);
      return closing;
    },
  };
}
