import { once } from 'node:events';
import { createServer } from 'node:http';
import { baseAddressOf, serveMeasured } from './measured-server.ts';

// The limit of what a server on node:http can do: it reads nothing of the request, and has its body ready, encoded as
// fast as can be. It has rate headers, so that it sends as many bytes as the others, and header checks of a load
// generator have headers to check.
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
  await once(server.listen(0, '127.0.0.1', 1024), 'listening');
  return baseAddressOf(server);
});
