/** A thread of services, one at a time: answers on loopback, with a clock that another thread advances. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import type { Is, NodeStyle } from './catalogue.ts';
import { shiftDate } from './shifted-time.ts';
import { STYLES } from './styles.ts';

/** Milliseconds by which this thread's clock is ahead of the machine's. */
export type Ahead = Float64Array;

/** The service to start; undefined ends the one that was started. */
export type Asked = { readonly style: NodeStyle; readonly fault: string | undefined } | undefined;

const ahead: Ahead = workerData;
shiftDate(ahead);
let server: Server | undefined;

async function start({ style, fault }: NonNullable<Asked>): Promise<unknown> {
  const is: Is = (name) => name === fault;
  const answer = await STYLES[style](is);
  server = createServer((request, response) => {
    // Node caches its own Date header.
    response.setHeader('date', new Date().toUTCString());
    answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

parentPort?.on('message', async (asked: Asked) => {
  server?.close().closeAllConnections();
  parentPort?.postMessage(asked === undefined ? undefined : await start(asked));
});
