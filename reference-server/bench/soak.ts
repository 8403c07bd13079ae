import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import autocannon from 'autocannon';
import { startMeasured } from './start-measured.ts';

/**
 * Attacks the reference server at full speed and watches its memory:
 * `npm run soak:server -- [minutes, default 10] [idle connections, default 10,000]`.
 *
 * Well-behaved clients list and retrieve all the while; beside them run a flood of keys that are all different, clients
 * that never finish their headers, requests that are none, and idle connections. The exit code is 0 where every
 * well-behaved request was answered with 200 and memory did not grow from the second quarter of the run to the last.
 */

const minutes = Number(process.argv[2] ?? 10);
const idleConnections = Number(process.argv[3] ?? 10_000);
// Garbage that has not been collected yet makes a process breathe by this much without a leak.
const BREATHING_BYTES = 40e6;

const key = randomBytes(24).toString('base64url');
const { url, usage, close } = await startMeasured('reference', { body: '', key, animals: 120 });
const port = Number(new URL(url).port);

const attackers = new Set<Socket>();
let reconnects = 0;

/** Keeps a connection open, whatever the server does about it. */
function haunt(attack: (socket: Socket) => void): void {
  const socket = connect(port, '127.0.0.1');
  attackers.add(socket);
  socket.on('error', () => undefined);
  socket.on('connect', () => attack(socket));
  socket.on('close', () => {
    attackers.delete(socket);
    reconnects += 1;
    if (!over) setTimeout(() => haunt(attack), 50).unref();
  });
  socket.resume();
}

let over = false;
let badKeys = 0;

function flood(socket: Socket): void {
  let bytes = '';
  for (let at = 0; at < 50; at += 1) {
    badKeys += 1;
    bytes += `GET /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer bad-${badKeys}\r\n\r\n`;
  }
  socket.write(bytes);
  socket.once('data', () => setTimeout(() => !over && socket.writable && flood(socket), 5));
}

function drip(socket: Socket): void {
  socket.write('GET /v1/pets HTTP/1.1\r\n');
  const drop = setInterval(() => socket.write('X: 1\r\n'), 500);
  socket.on('close', () => clearInterval(drop));
}

for (let at = 0; at < 5; at += 1) haunt(flood);
for (let at = 0; at < 100; at += 1) haunt(drip);
for (let at = 0; at < 5; at += 1) haunt((socket) => socket.write(randomBytes(200)));
for (let at = 0; at < idleConnections; at += 1) haunt(() => undefined);

const started = performance.now();
const memory: number[] = [];
const watch = setInterval(
  async () => {
    const { rss } = await usage();
    memory.push(rss);
    const elapsed = ((performance.now() - started) / 1000).toFixed(0);
    process.stdout.write(
      `${elapsed.padStart(5)} s  ${(rss / 1e6).toFixed(0).padStart(5)} MB  ${badKeys} bad keys\n`,
    );
  },
  Math.max(250, minutes * 500),
);

const result = await autocannon({
  url,
  connections: 20,
  duration: minutes * 60,
  headers: { authorization: `Bearer ${key}` },
  requests: [{ path: '/v1/pets' }, { path: '/v1/pets?status=sold&limit=100' }, { path: '/v1/pets/1' }],
});
over = true;
clearInterval(watch);
for (const socket of attackers) socket.destroy();
close();

function quarter(which: 1 | 3): number {
  const length = Math.floor(memory.length / 4);
  return Math.max(...memory.slice(which * length, (which + 1) * length));
}

const growth = quarter(3) - quarter(1);
process.stdout.write(
  `\n${result['2xx']} requests answered, ${result.non2xx} refused, ${result.errors} failed; ${badKeys} bad keys; ` +
    `${reconnects} attackers cut off; memory from the second to the last quarter: ${(growth / 1e6).toFixed(1)} MB\n`,
);
process.exitCode = result.non2xx === 0 && result.errors === 0 && growth < BREATHING_BYTES ? 0 : 1;
