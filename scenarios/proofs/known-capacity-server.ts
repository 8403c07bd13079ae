/**
 * A server whose capacity is known by construction. It serves one request at a time, in the order of arrival, each for
 * the same time; its capacity is one over that time. The end of a request is calculated, not taken from a timer: late
 * timers cost latency but no capacity.
 *
 * As a program of its own, `node known-capacity-server.js SERVICE_MS` sends its address to its parent.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { LoadTarget } from '../runner/quota/load-target.ts';

const PLAN = { perMinute: 100_000_000, perDay: 1_000_000_000 };
export const ANIMALS = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `Animal ${index + 1}`,
  categoryId: 7,
  status: ['available', 'pending', 'sold'][index % 3],
}));

function serve(serviceMs: number): void {
  const body = Buffer.from(JSON.stringify(ANIMALS));
  let free = 0;
  const server = createServer((request, response) => {
    request.resume();
    const now = performance.now();
    free = Math.max(now, free) + serviceMs;
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-ratelimit-limit': PLAN.perMinute,
      'x-ratelimit-remaining': PLAN.perMinute - 1,
      'x-ratelimit-reset': Math.ceil(Date.now() / 1000) + 60,
    };
    setTimeout(() => response.writeHead(200, headers).end(body), free - now);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      process.send?.(`http://127.0.0.1:${address.port}/v1`);
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  serve(Number(process.argv[2]));
}

/** Starts the server in a process of its own. */
export async function startKnownServer(serviceMs: number): Promise<LoadTarget & { close: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), [String(serviceMs)], {
    execArgv: process.execArgv,
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    address,
    keys: [{ name: 'load', plan: 'enterprise', env: 'PETSTORE_PROOF_KEY', roles: ['load'], ...PLAN }],
    secrets: { PETSTORE_PROOF_KEY: 'a-key-for-the-proof' },
    permit: [],
    clockSpeed: 1,
    categoryId: undefined,
    close: () => child.kill(),
  };
}
