/**
 * Conforming services of Express and Fastify as people build them: library, windows, headers, bans. None of them counts a
 * day, because no run here has the permission to spend one.
 */
import type { RequestListener } from 'node:http';
import type { ExpressRateLimitWays, FlexibleWays } from './express.ts';
import type { FastifyWays } from './fastify-rate-limit.ts';

// Each service loads its own framework only.
const express = async (ways: ExpressRateLimitWays) => (await import('./express.ts')).expressRateLimit(ways);
const flexible = async (ways: FlexibleWays) => (await import('./express.ts')).rateLimiterFlexible(ways);
const fastify = async (ways: FastifyWays) => (await import('./fastify-rate-limit.ts')).fastifyRateLimit(ways);

export const NODE_STYLES: Readonly<Record<string, () => Promise<RequestListener>>> = {
  'express-rate-limit': () => express({ ban: 403 }),
  'express-rate-limit-by-clock': () => express({ windows: 'by the clock', draftHeadersToo: true }),
  'express-rate-limit-ban-429': () => express({ ban: 429 }),
  'express-rate-limit-by-clock-ban-429': () => express({ windows: 'by the clock', ban: 429 }),
  'rate-limiter-flexible': () => flexible({}),
  'rate-limiter-flexible-blocking': () => flexible({ block: 90, retryAfter: 'date' }),
  'rate-limiter-flexible-dates': () => flexible({ retryAfter: 'date' }),
  'fastify-rate-limit': () => fastify({ ban: 20 }),
  'fastify-rate-limit-by-hand': () => fastify({ limits: 'by hand', responseSchemas: true }),
  'fastify-rate-limit-by-hand-banning': () => fastify({ limits: 'by hand', ban: 5 }),
  'fastify-rate-limit-continuing': () => fastify({ continueExceeding: true }),
};
