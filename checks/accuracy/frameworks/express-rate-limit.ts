/** Express behind express-rate-limit. */
import type { Express } from 'express';
import { type ClientRateLimitInfo, rateLimit, type Store } from 'express-rate-limit';
import { accountOf, Bans } from './accounts.ts';
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
class MinuteStore implements Store {
  #minute = 0;
  readonly #hits = new Map<string, number>();

  increment(key: string): ClientRateLimitInfo {
    const minute = Math.floor(Date.now() / MINUTE);
    if (minute !== this.#minute) this.#hits.clear();
    this.#minute = minute;
    const totalHits = (this.#hits.get(key) ?? 0) + 1;
    this.#hits.set(key, totalHits);
    return { totalHits, resetTime: new Date((minute + 1) * MINUTE) };
  }
  decrement(key: string): void {
    this.#hits.set(key, (this.#hits.get(key) ?? 1) - 1);
  }
  resetKey(key: string): void {
    this.#hits.delete(key);
  }
}

export function expressRateLimit({ windows, ban, draftHeadersToo = false }: ExpressRateLimitWays): Express {
  const bans = new Bans();
  const limit = rateLimit({
    windowMs: MINUTE,
    limit: async (request) => (await accountOf(request)).perMinute,
    keyGenerator: async (request) => (await accountOf(request)).id,
    legacyHeaders: true,
    standardHeaders: draftHeadersToo ? 'draft-8' : false,
    handler: async (request, response) => {
      const { id } = await accountOf(request);
      if (ban !== undefined) bans.refused(id);
      send(response, refusal(429, 'rate_limited', 'too many requests, wait as Retry-After says'));
    },
    ...(windows === 'by the clock' ? { store: new MinuteStore() } : {}),
  });
  return expressPets(async (request, response, next) => {
    const { id, perMinute } = await accountOf(request);
    const until = bans.until(id);
    if (until === undefined) {
      await limit(request, response, () => {
        bans.admitted(id);
        next();
      });
      return;
    }
    response.set({
      'Retry-After': String(Math.ceil((until - Date.now()) / 1000)),
      'X-RateLimit-Limit': String(perMinute),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(Math.ceil(until / 1000)),
    });
    send(response, refusal(ban ?? 429, 'banned', 'too many requests after a refusal'));
  });
}
