/**
 * A server in a process of its own. `bare-with-rate-headers` is the limit of what a server on node:http can do: it reads
 * nothing of the request and has its body ready.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { startReferenceServer } from '../reference-server.ts';

async function bare(body: string): Promise<string> {
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': 99_999_999,
    'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 3600,
  };
  const server = createServer((_request, response) => void response.writeHead(200, headers).end(body));
  await once(server.listen(0, '127.0.0.1', 1024), 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`;
}

const [, , name = '', body = '', key = '', animals = ''] = process.argv;
const options = {
  animals: Number(animals),
  keys: [{ name: 'bench', plan: 'enterprise', value: key }],
  enterprise: { perMinute: 1e9, perDay: 1e12 },
} as const;
const url = name === 'reference' ? (await startReferenceServer(options)).baseUrl : await bare(body);
process.on('disconnect', () => process.exit(0));
process.send?.(url);
