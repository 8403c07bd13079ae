/** Express with rate-limiter-flexible, which only counts and leaves the answers to the service. */
import type { Express } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { accountOf } from './accounts.ts';
import { expressPets, send } from './express-pets.ts';
import { refusal } from './pet-store.ts';

const PATIENCE = 20;

export interface FlexibleWays {
  /** Seconds for which an account that keeps sending is blocked; by default nobody is. */
  readonly block?: number;
  /** By default whole seconds. */
  readonly retryAfter?: 'date';
}

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
    send(response, refusal(429, 'rate_limited', 'too many requests, wait as Retry-After says'));
  });
}
