/**
 * A service of Express or Fastify: `service.ts STYLE FILE`. The file holds the milliseconds by which its time is ahead of
 * the machine's. Prints its port; ends with its standard input.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { NODE_STYLES } from './styles.ts';

const [style = '', ahead = ''] = process.argv.slice(2);

// Timers are not shifted: the limiters consult Date for every request, and use timers only to clean up. Cut to
// milliseconds at last, as a machine's Date is: cut before, a minute could be a millisecond short of the run's.
const now = () =>
  Math.floor(performance.timeOrigin + performance.now() + Number(readFileSync(ahead, 'latin1')));
globalThis.Date = new Proxy(Date, {
  construct: (date, values, newTarget) =>
    Reflect.construct(date, values.length === 0 ? [now()] : values, newTarget),
  get: (date, property, receiver) => (property === 'now' ? now : Reflect.get(date, property, receiver)),
});

const answer = await NODE_STYLES[style]?.();
const server = createServer((request, response) => {
  // Node caches its own Date header.
  response.setHeader('date', new Date().toUTCString());
  answer?.(request, response);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const address = server.address();
process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
process.stdin.on('end', () => process.exit()).resume();
