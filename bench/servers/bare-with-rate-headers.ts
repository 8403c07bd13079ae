import { createServer } from 'node:http';
import { serveMeasured } from './measured-server.ts';

// node:http that reads nothing of the request and answers a body and rate headers that it has ready: what a load
// generator is measured against, so that header checks have headers to check.
await serveMeasured(async ({ body }) => {
  const wire = Buffer.from(body).toString('latin1');
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': wire.length,
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': 99_999_999,
    'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 3600,
  };
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    response.end(wire, 'latin1');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return `http://127.0.0.1:${address.port}/v1`;
});
