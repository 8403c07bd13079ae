import { createServer } from 'node:http';
import { serveMeasured } from './measured-server.ts';

// The limit: node:http that reads nothing of the request and sends a body that it has ready, encoded as fast as can be.
await serveMeasured(async ({ body }) => {
  const wire = Buffer.from(body).toString('latin1');
  const headers = { 'Content-Type': 'application/json', 'Content-Length': wire.length };
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    response.end(wire, 'latin1');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return `http://127.0.0.1:${address.port}/v1`;
});
