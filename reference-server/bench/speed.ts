/** How fast the reference server is by bare node:http with the same answer, by turns on the same machine. */
import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import { median } from 'simple-statistics';
import { type MeasuredServer, startMeasured } from './measured-server.ts';

const ROUNDS = 15;
const SECONDS = 1;
/** V8 widens its young generation during the first seconds, and a request then costs more. */
const WARM_UP_SECONDS = 5;

/** Sends lists over 20 connections and counts the answers. */
async function answered({ url, key }: MeasuredServer, duration: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await autocannon({ url: `${url}/pets`, connections: 20, duration, headers }))['2xx'];
}

/**
 * The median of the ratios of rounds that follow each other: what slows the machine down for a moment does not end up on
 * one side only.
 */
export async function measureServer(): Promise<number> {
  const key = randomBytes(24).toString('base64url');
  const reference = await startMeasured({ key, animals: 120 });
  const listed = await fetch(`${reference.url}/pets`, { headers: { authorization: `Bearer ${key}` } });
  const bare = await startMeasured({ key, body: await listed.text() });
  for (const server of [reference, bare]) await answered(server, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let count = 0; count < ROUNDS; count += 1)
    ratios.push((await answered(reference, SECONDS)) / (await answered(bare, SECONDS)));
  for (const server of [reference, bare]) server.close();
  return median(ratios);
}
