import { serveConstant, serveMeasured } from './measured-server.ts';

// What a load generator is measured against: with rate headers, so that header checks have headers to check.
await serveMeasured(({ body }) =>
  serveConstant(body, {
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': 99_999_999,
    'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 3600,
  }),
);
