/**
 * Conforming services as people build them: library, keys, windows, headers, bans, and gaps. None of them counts a day,
 * because no run here has the permission to spend one.
 */
import type { RequestListener } from 'node:http';
import type { Is, NodeStyle } from './catalogue.ts';
import { expressRateLimit } from './express-rate-limit.ts';
import { fastifyRateLimit } from './fastify-rate-limit.ts';
import { rateLimiterFlexible } from './rate-limiter-flexible.ts';

type Build = (is: Is) => RequestListener | Promise<RequestListener>;

export const STYLES: Readonly<Record<NodeStyle, Build>> = {
  'express-rate-limit': (is) => expressRateLimit({ keys: 'map', ban: 403 }, is),
  'express-rate-limit-by-clock': (is) =>
    expressRateLimit(
      { keys: 'database', windows: 'by the clock', draftHeadersToo: true, newestFirst: true },
      is,
    ),
  'express-rate-limit-ban-429': (is) =>
    expressRateLimit({ keys: 'database', ban: 429, oddQueries: 'refused', usualStatus: 'available' }, is),
  'express-rate-limit-by-clock-ban-429': (is) =>
    expressRateLimit({ keys: 'map', windows: 'by the clock', ban: 429, oddQueries: 'refused' }, is),
  'rate-limiter-flexible': (is) => rateLimiterFlexible({ keys: 'map', oddQueries: 'refused' }, is),
  'rate-limiter-flexible-blocking': (is) =>
    rateLimiterFlexible({ keys: 'database', block: 90, retryAfter: 'date', usualStatus: 'pending' }, is),
  'rate-limiter-flexible-dates': (is) =>
    rateLimiterFlexible({ keys: 'map', retryAfter: 'date', newestFirst: true }, is),
  'fastify-rate-limit': (is) => fastifyRateLimit({ keys: 'map', ban: 20, oddQueries: 'refused' }, is),
  'fastify-rate-limit-by-hand': (is) =>
    fastifyRateLimit(
      {
        keys: 'database',
        limits: 'by hand',
        responseSchemas: true,
        newestFirst: true,
        usualStatus: 'available',
      },
      is,
    ),
  'fastify-rate-limit-by-hand-banning': (is) =>
    fastifyRateLimit({ keys: 'database', limits: 'by hand', ban: 5, usualStatus: 'pending' }, is),
  'fastify-rate-limit-continuing': (is) => fastifyRateLimit({ keys: 'map', continueExceeding: true }, is),
};
