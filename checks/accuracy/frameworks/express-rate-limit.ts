/** Express behind express-rate-limit. */
import type { Express } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { accountOf } from './accounts.ts';
import { expressPets, send } from './express-pets.ts';
import { refusal } from './pet-store.ts';

const MINUTE = 60_000;

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

/** So many refusals in a row ban an account for two minutes. */
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
      send(response, refusal(429, 'rate_limited', 'too many requests, wait as Retry-After says'));
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
