/**
 * `npm run prove:capacity [-- RUNS]`: finds the capacity of servers whose capacity is known by construction. The interval
 * must contain the truth in at least 19 of 20 runs, be at most ±5 % wide, and take at most three minutes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureCapacity } from '../runner/capacity/measure-capacity.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { runLoad } from '../runner/load-run.ts';
import { startKnownServer } from './known-capacity-server.ts';

const runs = Number(process.argv[2] ?? 20);
const WIDEST = 0.05;
const LONGEST_SECONDS = 180;
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
let [right, narrow, quick] = [0, 0, 0];
for (let run = 1; run <= runs; run += 1) {
  // Each run has another capacity, from 80 to 400 a second. The sequence is always the same.
  const truth = 80 * 5 ** ((run * 0.618_033_988) % 1);
  const server = await startKnownServer(1000 / truth);
  const out = await mkdtemp(join(tmpdir(), 'prove-capacity-'));
  try {
    const result = await measureCapacity({
      target: server,
      runId: 'proof',
      slo: 'p99<200ms,errors<0.1%',
      out,
      k6Version: k6.version,
      run: (step) => runLoad({ ...step, k6 }),
    });
    const [low, high] = result.interval ?? [0, 0];
    const holds = low <= truth && truth <= high;
    if (result.interval === null) process.stdout.write(`${result.reason}\n`);
    const half = (high - low) / 2 / (result.capacity ?? 1);
    if (holds) right += 1;
    if (half <= WIDEST) narrow += 1;
    if (result.run.durationSeconds <= LONGEST_SECONDS) quick += 1;
    process.stdout.write(
      `${run}: truth ${truth.toFixed(2)}/s, found ${result.capacity?.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] ` +
        `±${(half * 100).toFixed(1)} % ${holds ? 'holds' : 'MISSES'} the truth, ` +
        `${result.steps.length} steps, ${result.run.durationSeconds.toFixed(0)} s\n`,
    );
  } finally {
    server.close();
    await rm(out, { recursive: true, force: true });
  }
}
const allowed = Math.floor(runs / 20);
const proved = right >= runs - allowed && narrow === runs && quick === runs;
process.stdout.write(
  `${right} of ${runs} hold the truth, ${narrow} within ±5 %, ${quick} within 3 minutes: ${proved ? 'proved' : 'NOT proved'}\n`,
);
process.exitCode = proved ? 0 : 1;
