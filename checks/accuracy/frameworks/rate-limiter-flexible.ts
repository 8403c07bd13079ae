/** Express with rate-limiter-flexible, which only counts and leaves the answers to the service. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, RequestHandler } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { callers } from './callers.ts';
import type { Is } from './catalogue.ts';
import { expressPets, send } from './express-pets.ts';
import { PetStore, refusal, type Ways } from './pet-store.ts';

const PATIENCE = 20;

export interface FlexibleWays extends Ways {
  readonly keys: 'map' | 'database';
  /** Seconds for which a caller that keeps sending is blocked; by default nobody is. */
  readonly block?: number;
  /** By default whole seconds. */
  readonly retryAfter?: 'date';
}

export function rateLimiterFlexible(ways: FlexibleWays, is: Is): Express {
  const callerOf = callers(is, ways.keys);

  function limiter(): RequestHandler {
    const limiters = new Map<string, RateLimiterMemory>();
    const turns = new Map<string, number>();
    /** The limiter of a plan. A service of two processes without a shared store has two, used in turn. */
    function limiterOf(id: string, points: number): RateLimiterMemory {
      const turn = (turns.get(id) ?? 0) + 1;
      turns.set(id, turn);
      const name = `${points} ${is('two-processes') ? turn % 2 : 0}`;
      const known = limiters.get(name);
      if (known !== undefined) return known;
      const made = new RateLimiterMemory({ points: is('one-too-few') ? points - 1 : points, duration: 60 });
      limiters.set(name, made);
      return made;
    }
    async function consume(id: string, points: number): Promise<RateLimiterRes> {
      const limits = limiterOf(id, points);
      if (is('looked-at-then-counted')) {
        const seen = await limits.get(id);
        if (seen !== null && seen.consumedPoints >= points && seen.msBeforeNext > 0)
          return new RateLimiterRes(0, seen.msBeforeNext, points + 1);
        await sleep(30);
        const { remainingPoints, msBeforeNext, consumedPoints } = await limits.penalty(id);
        return new RateLimiterRes(remainingPoints, msBeforeNext, Math.min(consumedPoints, points));
      }
      const outcome = await limits.consume(id).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) return refused;
        throw refused;
      });
      const goesOn = ways.block !== undefined && outcome.consumedPoints === points + PATIENCE;
      return goesOn ? limits.block(id, ways.block) : outcome;
    }
    return async (request, response, next) => {
      const { id, perMinute } = await callerOf(request);
      const { consumedPoints, remainingPoints, msBeforeNext } = await consume(id, perMinute);
      const isOver = consumedPoints > (is('one-too-few') ? perMinute - 1 : perMinute);
      const resetAt = Date.now() + msBeforeNext;
      if (!isOver || !is('headers-where-admitted-only'))
        response.set({
          'X-RateLimit-Limit': String(is('limit-of-the-hour') ? 60 * perMinute : perMinute),
          'X-RateLimit-Remaining': String(
            is('remaining-below-zero') ? perMinute - consumedPoints : remainingPoints,
          ),
          'X-RateLimit-Reset': is('reset-as-date')
            ? new Date(resetAt).toUTCString()
            : String(is('reset-in-milliseconds') ? resetAt : Math.ceil(resetAt / 1000)),
        });
      if (!isOver) return next();
      const seconds = is('retry-after-one-second') ? 1 : Math.ceil(msBeforeNext / 1000);
      if (!is('retry-after-forgotten'))
        response.set(
          'Retry-After',
          ways.retryAfter === 'date'
            ? new Date(Math.ceil(resetAt / 1000) * 1000).toUTCString()
            : String(seconds),
        );
      const status = is('refusal-is-503') ? 503 : 429;
      send(response, refusal(status, 'rate_limited', 'too many requests, wait as Retry-After says'));
    };
  }

  return expressPets({ store: new PetStore(is, ways), callerOf, limiter }, is);
}
