/** How fast the reference server is, against servers of the same answer by turns on the same machine. */
import { randomBytes } from 'node:crypto';
import { median } from 'simple-statistics';
import { startReferenceServer } from '../reference-server.ts';
import { quickestGenerator } from './load-generator.ts';
import { type MeasuredServer, startMeasured } from './start-measured.ts';

const ROUNDS = 5;
const SECONDS = 2;
/** V8 widens its young generation during the first seconds, and a request then costs more. */
const WARM_UP_SECONDS = 5;
const CONNECTIONS = 20;

/** How much one server does of what another one does; 1 is as much. */
export interface Ratio {
  readonly rate: number;
  /** By CPU time for each request. */
  readonly cpu: number;
}

const generator = await quickestGenerator();
/** What sends the load. */
export const generatorName = generator.name;

async function round({ url, key, usage }: MeasuredServer, path: string, seconds: number): Promise<Ratio> {
  const before = await usage();
  const { requests, seconds: took } = await generator.send(url + path, key, CONNECTIONS, seconds);
  const after = await usage();
  return { rate: requests / took, cpu: requests / (after.cpuMicros - before.cpuMicros) };
}

/**
 * Each server by the first one. They are measured in turn, and ratios taken within a round: what slows the machine down
 * for a moment does not end up on one side only.
 */
async function compare(path: string, servers: readonly MeasuredServer[]): Promise<Ratio[]> {
  for (const server of servers) await round(server, path, WARM_UP_SECONDS);
  const ratios: Ratio[][] = servers.map(() => []);
  for (let count = 0; count < ROUNDS; count += 1) {
    let first: Ratio | undefined;
    for (const [index, server] of servers.entries()) {
      const { rate, cpu } = await round(server, path, SECONDS);
      first ??= { rate, cpu };
      ratios[index]?.push({ rate: rate / first.rate, cpu: cpu / first.cpu });
    }
  }
  return ratios.map((all) => ({
    rate: median(all.map(({ rate }) => rate)),
    cpu: median(all.map(({ cpu }) => cpu)),
  }));
}

const key = randomBytes(24).toString('base64url');

async function twentyAnimals(): Promise<string> {
  const server = await startReferenceServer({ keys: [{ name: 'bench', plan: 'free', value: key }] });
  const response = await fetch(`${server.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } });
  const body = await response.text();
  await server.close();
  return body;
}

/** Of bare node:http with a constant body under the same headers, for a GET of 20 animals. */
export async function measureServers(): Promise<Record<'reference' | 'fastify' | 'express', Ratio>> {
  const task = { body: await twentyAnimals(), key, animals: 120 };
  const servers = await Promise.all(
    (['bare-with-rate-headers', 'reference', 'fastify', 'express'] as const).map((name) =>
      startMeasured(name, task),
    ),
  );
  const [, reference, fastify, express] = await compare('/pets', servers);
  for (const { close } of servers) close();
  if (reference === undefined || fastify === undefined || express === undefined) throw new Error('too few');
  return { reference, fastify, express };
}

/** A store of a million animals by one of a thousand, for a GET of 100 sold ones, and what it is resident with. */
export async function measureMillion(): Promise<Ratio & { readonly bytes: number }> {
  const servers = await Promise.all(
    [1_000, 1_000_000].map((animals) => startMeasured('reference', { body: '', key, animals })),
  );
  const [, ratio] = await compare('/pets?status=sold&limit=100', servers);
  const { rss = Number.NaN } = (await servers[1]?.usage()) ?? {};
  for (const { close } of servers) close();
  if (ratio === undefined) throw new Error('too few');
  return { ...ratio, bytes: rss };
}
