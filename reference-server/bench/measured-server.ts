/** Servers to measure, each in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { startReferenceServer } from '../reference-server.ts';

/** A server in a process of its own. */
export interface MeasuredServer {
  readonly url: string;
  readonly key: string;
  close(): void;
}

interface MeasuredOptions {
  readonly key: string;
  /** The reference server with so many animals, in place of a bare one. */
  readonly animals?: number;
  /** What a bare one answers to everything. */
  readonly body?: string;
  /** A bare one serves one request after another, each for so many milliseconds: its capacity is one over that time. */
  readonly serviceMs?: number;
}

/** No measurement comes to these numbers. */
export const BOUNDLESS = { perMinute: 100_000_000, perDay: 1_000_000_000 };

const STATUSES = ['available', 'pending', 'sold'];
const ANIMALS = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `Animal ${index + 1}`,
  categoryId: 7,
  status: STATUSES[index % 3],
}));

/** The limit of what a server on node:http can do: it reads nothing of the request and has its body ready. */
async function startBare({ body = JSON.stringify(ANIMALS), serviceMs }: MeasuredOptions): Promise<string> {
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-RateLimit-Limit': BOUNDLESS.perMinute,
    'X-RateLimit-Remaining': BOUNDLESS.perMinute - 1,
    'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 3600,
  };
  let free = 0;
  const server = createServer((_request, response) => {
    const answer = () => void response.writeHead(200, headers).end(body);
    if (serviceMs === undefined) return answer();
    // The end is calculated, not taken from a timer: late timers cost latency but no capacity.
    const now = performance.now();
    free = Math.max(now, free) + serviceMs;
    return setTimeout(answer, free - now);
  });
  await once(server.listen(0, '127.0.0.1', 1024), 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`;
}

async function startReference({ key, animals = 0 }: MeasuredOptions): Promise<string> {
  const keys = [{ name: 'bench', plan: 'enterprise', value: key }] as const;
  return (await startReferenceServer({ animals, keys, enterprise: BOUNDLESS })).baseUrl;
}

const [, program, asked = ''] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const options: MeasuredOptions = JSON.parse(asked);
  process.on('disconnect', () => process.exit(0));
  process.send?.(await (options.animals === undefined ? startBare(options) : startReference(options)));
}

/** Starts a server in a process of its own. */
export async function startMeasured(options: MeasuredOptions): Promise<MeasuredServer> {
  const { execArgv } = process;
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)], { execArgv });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with exit code ${code}`);
  });
  ended.catch(() => undefined);
  const [url]: unknown[] = await Promise.race([once(child, 'message'), ended]);
  return { url: String(url), key: options.key, close: () => child.disconnect() };
}
