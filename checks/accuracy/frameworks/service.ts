/** The thread of one service: answers on loopback, with a clock that another thread advances. */
import { createServer } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import type { Is, NodeStyle } from './catalogue.ts';
import { shiftDate } from './shifted-time.ts';
import { STYLES } from './styles.ts';

export interface ServiceData {
  readonly style: NodeStyle;
  readonly fault?: string;
  /** Milliseconds by which this service's clock is ahead of the machine's. */
  readonly ahead: Float64Array;
}

const { style, fault, ahead }: ServiceData = workerData;
shiftDate(ahead);
const is: Is = (name) => name === fault;
const answer = await STYLES[style](is);
const server = createServer((request, response) => {
  // Node caches its own Date header.
  response.setHeader('date', new Date().toUTCString());
  answer(request, response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') parentPort?.postMessage(address?.port);
});
