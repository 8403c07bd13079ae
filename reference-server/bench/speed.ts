import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { startReferenceServer } from '../reference-server.ts';
import { quickestGenerator } from './load-generator.ts';
import type { Listening, Task, Usage } from './servers/measured-server.ts';

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 20;

const generator = await quickestGenerator();

interface Measured {
  readonly name: string;
  readonly child: ChildProcess;
  readonly listening: Listening;
  readonly path: string;
  readonly rates: number[];
  readonly cpuPerRequest: number[];
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as T));
    child.once('exit', (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
}

async function usage(child: ChildProcess): Promise<Usage> {
  const answered = message<Usage>(child);
  child.send('usage');
  return answered;
}

async function start(name: string, module: string, task: Task, path: string): Promise<Measured> {
  const file = new URL(`./servers/${module}.js`, import.meta.url);
  const child = fork(file, {
    env: { ...process.env, NODE_ENV: 'production', BENCH_TASK: JSON.stringify(task) },
  });
  child.setMaxListeners(0);
  const listening = await message<Listening>(child);
  return { name, child, listening, path, rates: [], cpuPerRequest: [] };
}

async function round(
  { listening, path, child, rates, cpuPerRequest }: Measured,
  seconds: number,
): Promise<void> {
  const before = await usage(child);
  const { requests, seconds: took } = await generator.send(
    listening.url + path,
    listening.key,
    CONNECTIONS,
    seconds,
  );
  const after = await usage(child);
  rates.push(requests / took);
  cpuPerRequest.push((after.cpuMicros - before.cpuMicros) / requests);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Rounds of all servers in turn, so that what slows the machine down slows all of them down. */
async function compare(servers: readonly Measured[]): Promise<void> {
  for (const server of servers) await round(server, 1);
  for (const server of servers) server.rates.length = server.cpuPerRequest.length = 0;
  for (let count = 0; count < ROUNDS; count += 1) for (const server of servers) await round(server, SECONDS);
}

function report(servers: readonly Measured[]): void {
  const [first] = servers;
  if (first === undefined) return;
  const width = Math.max(...servers.map(({ name }) => name.length));
  process.stdout.write(`${' '.repeat(width)}  requests/s  of first   CPU µs/request  of first\n`);
  for (const { name, rates, cpuPerRequest } of servers) {
    const rate = median(rates);
    const cpu = median(cpuPerRequest);
    // Ratios within a round, then their median: a slow moment of the machine does not end up in one side only.
    const rateRatio = median(rates.map((value, at) => value / (first.rates[at] ?? Number.NaN)));
    const cpuRatio = median(
      cpuPerRequest.map((value, at) => (first.cpuPerRequest[at] ?? Number.NaN) / value),
    );
    const columns = [
      rate.toFixed(0).padStart(10),
      rateRatio.toFixed(2).padStart(8),
      cpu.toFixed(1).padStart(15),
      cpuRatio.toFixed(2).padStart(8),
    ];
    process.stdout.write(`${name.padEnd(width)}  ${columns.join('  ')}\n`);
  }
}

async function twentyAnimals(key: string): Promise<string> {
  const server = await startReferenceServer({ keys: [{ name: 'bench', plan: 'free', value: key }] });
  const response = await fetch(`${server.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } });
  const body = await response.text();
  await server.close();
  return body;
}

const key = randomBytes(24).toString('base64url');
const body = await twentyAnimals(key);
const task: Task = { body, key, animals: 120 };
process.stdout.write(`GET of 20 animals, ${Buffer.byteLength(body)} bytes, ${CONNECTIONS} connections, `);
process.stdout.write(`${generator.name},\n`);
process.stdout.write(`median of ${ROUNDS} rounds of ${SECONDS} s, Node ${process.versions.node}\n\n`);

const servers = [
  await start('bare node:http, constant body, same headers', 'bare-with-rate-headers', task, '/pets'),
  await start('reference server', 'reference', task, '/pets'),
  await start('Fastify 5 + @fastify/rate-limit', 'fastify', task, '/pets'),
  await start('Express 5 + express-rate-limit', 'express', task, '/pets'),
];
await compare(servers);
report(servers);
for (const { child } of servers) child.disconnect();

process.stdout.write('\nGET of 100 sold animals\n\n');
const sizes = [
  await start('1,000 animals', 'reference', { ...task, animals: 1_000 }, '/pets?status=sold&limit=100'),
  await start(
    '1,000,000 animals',
    'reference',
    { ...task, animals: 1_000_000 },
    '/pets?status=sold&limit=100',
  ),
];
await compare(sizes);
report(sizes);
const large = sizes[1];
if (large !== undefined) {
  const { rss } = await usage(large.child);
  process.stdout.write(
    `\nresident memory with 1,000,000 animals, after the load: ${(rss / 1e6).toFixed(0)} MB\n`,
  );
}
for (const { child } of sizes) child.disconnect();
