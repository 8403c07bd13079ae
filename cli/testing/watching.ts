import { once } from 'node:events';
import { createServer } from 'node:net';
import { runHere } from './in-process.ts';

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  return bound.port;
}

/** Runs `watch` in a folder until the clients have asked. */
export async function watching(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  ask: (address: string) => Promise<unknown>,
) {
  const port = await freePort();
  const running = runHere(folder, ['watch', '--port', String(port), ...args], env);
  const isThere = () => fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false);
  while (!(await isThere())) await new Promise(setImmediate);
  await ask(`http://127.0.0.1:${port}/v1`);
  process.emit('SIGINT');
  return running;
}
