/**
 * `npm run bench:memory [-- RATE SHORT LONG]`: the memory of an hour's soak, extrapolated from two shorter runs. Resident
 * memory depends on the settings of Go and Node (see k6-process.ts). So this measures what k6 and the runner really hold:
 * their heaps right after a garbage collection, near the end of each run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startMeasured } from '../../reference-server/bench/start-measured.ts';
import { scenarioNamed } from '../lib/catalogue.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { GO_MEMORY_BYTES } from '../runner/k6/k6-process.ts';
import { runLoad } from '../runner/load-run.ts';
import type { LoadTarget } from '../runner/quota/load-target.ts';
import { freeAddress } from '../runner/shards/shards.ts';

const RATE = Number(process.argv[2] ?? 1000);
const [SHORT, LONG] = [Number(process.argv[3] ?? 60), Number(process.argv[4] ?? 180)];
const HOUR = 3600;
const MOST_BYTES = 1e9;
const LOOK_EVERY_MS = 2_000;
const LAST_LOOKS = 8;
const PLAN = { perMinute: 1e9, perDay: 1e12 };

async function startTarget(): Promise<LoadTarget & { close: () => void }> {
  const task = { body: '', key: 'a-key-for-the-bench', animals: 200 };
  const { url, key, close } = await startMeasured('reference', task);
  return {
    address: url,
    keys: [{ name: 'bench', plan: 'enterprise', env: 'PETSTORE_BENCH_KEY', roles: ['load'], ...PLAN }],
    secrets: { PETSTORE_BENCH_KEY: key },
    permit: [],
    clockSpeed: 1,
    categoryId: undefined,
    close,
  };
}

interface Reading {
  readonly requests: number;
  /** Bytes. */
  readonly k6: number;
  readonly runner: number;
}

const facts = scenarioNamed('soak');
if (facts === undefined) throw new Error('the catalogue has no soak');
const soak = facts;
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
/** What Node itself needs in addition to its heap, for code and threads. */
const beside = process.memoryUsage.rss() - process.memoryUsage().heapUsed;

/** Bytes on k6's heap after a garbage collection, which this request starts. */
async function liveHeap(api: string): Promise<number> {
  const response = await fetch(`http://${api}/debug/pprof/heap?gc=1&debug=1`);
  const bytes = Number(/^# HeapAlloc = (\d+)$/m.exec(await response.text())?.[1]);
  if (!(bytes > 0)) throw new Error('k6 does not tell how large its heap is');
  return bytes;
}

async function measure(seconds: number): Promise<Reading> {
  const target = await startTarget();
  const out = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  const api = await freeAddress();
  const looks: { k6: number; runner: number }[] = [];
  const looking = setInterval(async () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    try {
      looks.push({ runner: heapUsed + external, k6: await liveHeap(api) });
    } catch {
      // k6 does not listen yet, or has ended.
    }
  }, LOOK_EVERY_MS);
  try {
    const { total, generator, verdict } = await runLoad({
      facts: soak,
      target,
      k6,
      out,
      rate: RATE,
      seconds,
      k6Options: ['--profiling-enabled', `--address=${api}`],
    });
    // The minimum of the last readings leaves out requests under way.
    const least = (of: 'k6' | 'runner') => Math.min(...looks.slice(-LAST_LOOKS).map((look) => look[of]));
    const [live, runner] = [least('k6'), least('runner')];
    process.stdout.write(
      `${seconds} s: ${total.requests} requests, k6 holds ${mb(live)} (resident at most ` +
        `${mb(generator.memoryPeakBytes ?? Number.NaN)}), runner ${mb(runner)}; ${verdict}\n`,
    );
    return { requests: total.requests, k6: live, runner };
  } finally {
    clearInterval(looking);
    target.close();
    await rm(out, { recursive: true, force: true });
  }
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

const short = await measure(SHORT);
const long = await measure(LONG);
const after = (of: 'k6' | 'runner') => {
  const each = Math.max(0, (long[of] - short[of]) / (long.requests - short.requests));
  return { each, bytes: long[of] + each * (RATE * HOUR - long.requests) };
};
const hour = { k6: after('k6'), runner: after('runner') };
// Go collects often enough to stay within its limit, unless k6 holds more than that.
const resident = Math.max(hour.k6.bytes, GO_MEMORY_BYTES);
const fits = resident + hour.runner.bytes + beside < MOST_BYTES;
process.stdout.write(
  `an hour at ${RATE}/s: k6 holds ${mb(hour.k6.bytes)} (${Math.round(hour.k6.each)} bytes a request), within Go's limit of ` +
    `${mb(GO_MEMORY_BYTES)}; runner ${mb(hour.runner.bytes)} beside Node's own ${mb(beside)} (${Math.round(hour.runner.each)} bytes a request): ` +
    `${fits ? 'together under 1 GB' : 'NOT under 1 GB'}\n`,
);
process.exitCode = fits ? 0 : 1;
