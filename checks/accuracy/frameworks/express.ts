/** The operations in Express, behind express-rate-limit or rate-limiter-flexible. */
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { stringify } from 'lossless-json';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type Answer, accountOf, PetStore, parseJson, ROUTES, refusal } from './parts.ts';

function send(response: Response, { status, body }: Answer): void {
  response.status(status).type('json').send(stringify(body));
}

function expressPets(limit: RequestHandler): Express {
  const store = new PetStore();
  const app = express();
  app.set('env', 'test'); // keeps errors out of the log
  app.use(limit, async (request, response, next) => {
    if ((await accountOf(request)).isKnown) next();
    else send(response, refusal(401, 'unauthorized', 'a valid API key is required'));
  });
  app.use(express.text({ type: () => true }));
  for (const { method, url, answer } of ROUTES)
    app[method](url, async ({ query, params, body: text }, response) => {
      const body = method === 'get' ? undefined : parseJson(typeof text === 'string' ? text : '');
      send(response, await answer(store, { query, id: String(params['id']), body }));
    });
  app.use((_request, response) => send(response, refusal(404, 'not_found', 'nothing is here')));
  app.use(sendError);
  return app;
}

// Express recognises error handlers by their four parameters.
const sendError: ErrorRequestHandler = (error: unknown, _request, response, _next) =>
  send(
    response,
    error instanceof SyntaxError
      ? refusal(400, 'not_json', 'the body is not JSON')
      : refusal(500, 'failed', String(error)),
  );

const MINUTE = 60_000;
const OVER = refusal(429, 'rate_limited', 'too many requests, wait as Retry-After says');

export interface ExpressRateLimitWays {
  /** By default a window begins with the first request. */
  readonly windows?: 'by the clock';
  /** By default nobody is banned. */
  readonly ban?: 403 | 429;
  readonly draftHeadersToo?: boolean;
}

/** Windows that end with the minute. */
function minuteStore(): Store {
  const hits = new Map<string, number>();
  return {
    increment(key) {
      const resetTime = new Date((Math.floor(Date.now() / MINUTE) + 1) * MINUTE);
      const window = `${key} ${resetTime.getTime()}`;
      const totalHits = (hits.get(window) ?? 0) + 1;
      hits.set(window, totalHits);
      return { totalHits, resetTime };
    },
    decrement: () => undefined,
    resetKey: () => undefined,
  };
}

/** So many refusals in a row ban an account. */
const PATIENCE = 20;

export function expressRateLimit({ windows, ban, draftHeadersToo = false }: ExpressRateLimitWays): Express {
  const bans = new RateLimiterMemory({ points: PATIENCE - 1, duration: 0, blockDuration: 120 });
  const limit = rateLimit({
    windowMs: MINUTE,
    limit: async (request) => (await accountOf(request)).perMinute,
    keyGenerator: async (request) => (await accountOf(request)).id,
    legacyHeaders: true,
    standardHeaders: draftHeadersToo ? 'draft-8' : false,
    handler: async (request, response) => {
      const { id } = await accountOf(request);
      if (ban !== undefined) await bans.consume(id).catch(() => undefined);
      send(response, OVER);
    },
    ...(windows === 'by the clock' ? { store: minuteStore() } : {}),
  });
  return expressPets(async (request, response, next) => {
    const { id, perMinute } = await accountOf(request);
    const { consumedPoints = 0, msBeforeNext = 0 } = (await bans.get(id)) ?? {};
    if (consumedPoints < PATIENCE || msBeforeNext <= 0) {
      await limit(request, response, () => bans.delete(id).then(() => next()));
      return;
    }
    response.set({
      'Retry-After': String(Math.ceil(msBeforeNext / 1000)),
      'X-RateLimit-Limit': String(perMinute),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(Math.ceil((Date.now() + msBeforeNext) / 1000)),
    });
    send(response, refusal(ban ?? 429, 'banned', 'too many requests after a refusal'));
  });
}

export interface FlexibleWays {
  /** Seconds for which an account that keeps sending is blocked; by default nobody is. */
  readonly block?: number;
  /** By default whole seconds. */
  readonly retryAfter?: 'date';
}

/** rate-limiter-flexible only counts, and leaves the answers to the service. */
export function rateLimiterFlexible({ block, retryAfter }: FlexibleWays): Express {
  const limiters = new Map<number, RateLimiterMemory>();

  async function consume(id: string, points: number): Promise<RateLimiterRes> {
    const limits = limiters.get(points) ?? new RateLimiterMemory({ points, duration: 60 });
    limiters.set(points, limits);
    const outcome = await limits.consume(id).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const goesOn = block !== undefined && outcome.consumedPoints === points + PATIENCE;
    return goesOn ? limits.block(id, block) : outcome;
  }

  return expressPets(async (request, response, next) => {
    const { id, perMinute } = await accountOf(request);
    const { consumedPoints, remainingPoints, msBeforeNext } = await consume(id, perMinute);
    const resetAt = Math.ceil((Date.now() + msBeforeNext) / 1000);
    response.set({
      'X-RateLimit-Limit': String(perMinute),
      'X-RateLimit-Remaining': String(remainingPoints),
      'X-RateLimit-Reset': String(resetAt),
    });
    if (consumedPoints <= perMinute) return next();
    const date = new Date(resetAt * 1000).toUTCString();
    response.set('Retry-After', retryAfter === 'date' ? date : String(Math.ceil(msBeforeNext / 1000)));
    send(response, OVER);
  });
}
