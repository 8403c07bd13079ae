/** Servers to measure, each in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type StartOptions, startReferenceServer } from '../reference-server.ts';

interface MeasuredOptions {
  /** The reference server, started like this, in place of a bare one. */
  readonly reference?: Pick<StartOptions, 'keys' | 'enterprise'>;
  /** What a bare one answers to everything. */
  readonly body?: string;
  /** A bare one serves one request after another, each for so many milliseconds: its capacity is one over that time. */
  readonly serviceMs?: number;
}

const PET = '[{"id":1,"name":"Animal 1","categoryId":7,"status":"available"}]';

/** The limit of what a server on node:http can do: it reads nothing of the request and has its body ready. */
async function startBare({ body = PET, serviceMs }: MeasuredOptions): Promise<string> {
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': 99_999_999,
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

const PROGRAM = fileURLToPath(import.meta.url);

if (process.argv[1] === PROGRAM) {
  const options: MeasuredOptions = JSON.parse(process.argv[2] ?? '');
  const { reference } = options;
  process.on('disconnect', () => process.exit(0));
  process.send?.(
    reference === undefined ? await startBare(options) : (await startReferenceServer(reference)).baseUrl,
  );
}

/** Starts a server in a process of its own. */
export async function startMeasured(options: MeasuredOptions) {
  const child = fork(PROGRAM, [JSON.stringify(options)]);
  const [url]: unknown[] = await once(child, 'message');
  return { url: String(url), close: () => child.disconnect() };
}
