/** Express behind express-rate-limit. */
import type { Express, RequestHandler, Response } from 'express';
import { type ClientRateLimitInfo, type Options, rateLimit, type Store } from 'express-rate-limit';
import { Bans, callers } from './callers.ts';
import type { Is } from './catalogue.ts';
import { expressPets, send } from './express-pets.ts';
import { PetStore, refusal, type Ways } from './pet-store.ts';

const MINUTE = 60_000;

export interface ExpressRateLimitWays extends Ways {
  readonly keys: 'map' | 'database';
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

export function expressRateLimit(ways: ExpressRateLimitWays, is: Is): Express {
  const callerOf = callers(is, ways.keys);
  const bans = new Bans(is);

  function limiter(): RequestHandler {
    const words: Partial<Options> = is('refusal-in-library-words')
      ? {}
      : is('refusal-as-message-object')
        ? { message: { error: 'Too many requests, please try again later.' } }
        : {
            handler: async (request, response) => {
              const { id } = await callerOf(request);
              if (ways.ban !== undefined) bans.refused(id);
              send(response, refusal(429, 'rate_limited', 'too many requests, wait as Retry-After says'));
            },
          };
    return rateLimit({
      windowMs: is('window-of-half-a-minute') ? MINUTE / 2 : MINUTE,
      limit: async (request) => (await callerOf(request)).perMinute,
      keyGenerator: async (request) => (await callerOf(request)).id,
      legacyHeaders: !is('draft-headers-only'),
      standardHeaders: ways.draftHeadersToo === true || is('draft-headers-only') ? 'draft-8' : false,
      skipFailedRequests: is('failures-not-counted'),
      ...words,
      ...(ways.windows === 'by the clock' ? { store: new MinuteStore() } : {}),
    });
  }

  function refuseBanned(response: Response, until: number, perMinute: number): void {
    const seconds = Math.ceil((until - Date.now()) / 1000);
    response.set('Retry-After', String(seconds));
    if (!is('ban-without-rate-headers'))
      response.set({
        'X-RateLimit-Limit': String(perMinute),
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(Math.ceil(until / 1000)),
      });
    if (is('ban-as-text')) response.sendStatus(403);
    else send(response, refusal(ways.ban ?? 429, 'banned', `banned for ${seconds} seconds`));
  }

  return expressPets(
    {
      store: new PetStore(is, ways),
      callerOf,
      limiter: () => {
        const limit = limiter();
        return async (request, response, next) => {
          const { id, perMinute } = await callerOf(request);
          const until = bans.until(id);
          if (until !== undefined) return refuseBanned(response, until, perMinute);
          await limit(request, response, () => {
            bans.admitted(id);
            next();
          });
        };
      },
    },
    is,
  );
}
