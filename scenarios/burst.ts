/** Twenty clients add animals on one key at the same moment. Each is counted and kept, and has an id of its own. */
import { sleep } from 'k6';
import exec from 'k6/execution';
import { drain as drainSamples, tell } from './lib/report.ts';
import { plan } from './lib/run-plan.ts';
import { streamNumber, teardown as tellFigures } from './lib/script.ts';
import { add, caller, list, listRequest } from './lib/target.ts';

export { drain, handleSummary, options } from './lib/script.ts';

const stream = streamNumber('burst');
const keyIndex = plan.streams[stream]?.keys[0] ?? 0;
const CLIENTS = 20;
const ADDITIONS = 12;

interface Reading {
  remaining: number;
  reset: number;
}

function reading(): Reading {
  const { headers } = list(caller(stream, keyIndex), listRequest({ limit: 1 }));
  drainSamples();
  return { remaining: Number(headers['X-Ratelimit-Remaining']), reset: Number(headers['X-Ratelimit-Reset']) };
}

export function setup(): Reading {
  return reading();
}

export default function (): void {
  const who = caller(stream, keyIndex);
  // All clients start at the same moment.
  sleep(Math.max(0, exec.scenario.startTime + 500 - Date.now()) / 1000);
  for (let addition = 0; addition < ADDITIONS; addition += 1) add(who);
  drainSamples();
}

export function teardown(before: Reading): void {
  tellFigures();
  const after = reading();
  const spent = before.remaining - after.remaining;
  const due = CLIENTS * ADDITIONS + 1;
  const sameWindow = Math.abs(after.reset - before.reset) < 1;
  if (!sameWindow) return;
  tell({
    kind: 'assertion',
    name: 'X-RateLimit-Remaining counts every request of the burst',
    key: plan.keys[keyIndex]?.name ?? '',
    held: spent === due,
    expected: `${due} fewer`,
    actual: `${spent} fewer`,
  });
}
