import { serveConstant, serveMeasured } from './measured-server.ts';

// The limit of what a server on node:http can do. It has rate headers, so that it sends as many bytes as the others, and
// header checks of a load generator have headers to check.
await serveMeasured(({ body }) =>
  serveConstant(body, {
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': 99_999_999,
    'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 3600,
  }),
);
