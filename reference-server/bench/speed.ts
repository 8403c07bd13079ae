/** How fast the reference server is by bare node:http with the same answer, by turns on the same machine. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { median } from 'simple-statistics';
import { type MeasuredServer, startMeasured } from './measured-server.ts';

const ROUNDS = 15;
const SECONDS = 1;
/** V8 widens its young generation during the first seconds, and a request then costs more. */
const WARM_UP_SECONDS = 5;

/** Sends lists over 20 connections and counts the answers: with wrk where it is installed, which leaves the cores alone. */
async function answered(
  { url, key }: MeasuredServer,
  seconds: number,
): Promise<{ count: number; by: string }> {
  const authorization = `Bearer ${key}`;
  const args = ['-t1', '-c20', `-d${seconds}`, '-H', `Authorization: ${authorization}`, `${url}/pets`];
  try {
    const { stdout } = await promisify(execFile)('wrk', args);
    return { count: Number(/(\d+) requests in/.exec(stdout)?.[1]), by: 'wrk' };
  } catch {
    const headers = { authorization };
    const sent = await autocannon({ url: `${url}/pets`, connections: 20, duration: seconds, headers });
    return { count: sent['2xx'], by: 'autocannon' };
  }
}

/**
 * The median of the ratios of rounds that follow each other: what slows the machine down for a moment does not end up on
 * one side only.
 */
export async function measureServer(): Promise<{ rate: number; by: string }> {
  const key = randomBytes(24).toString('base64url');
  const reference = await startMeasured({ key, animals: 120 });
  const listed = await fetch(`${reference.url}/pets`, { headers: { authorization: `Bearer ${key}` } });
  const bare = await startMeasured({ key, body: await listed.text() });
  for (const server of [reference, bare]) await answered(server, WARM_UP_SECONDS);
  const ratios: number[] = [];
  let by = '';
  for (let count = 0; count < ROUNDS; count += 1) {
    const own = await answered(reference, SECONDS);
    ratios.push(own.count / (await answered(bare, SECONDS)).count);
    by = own.by;
  }
  for (const server of [reference, bare]) server.close();
  return { rate: median(ratios), by };
}
