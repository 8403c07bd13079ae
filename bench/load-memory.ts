/**
 * `npm run bench:memory`: what an hour's soak at 1,000 requests/s will need, from two shorter runs of it. Go keeps as
 * much garbage as its settings let it, so both runs collect often (GOGC=20): what is left is what is really kept.
 */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scenarioNamed } from '../scenarios/lib/catalogue.ts';
import { provideK6 } from '../scenarios/runner/k6-binary.ts';
import { runLoad } from '../scenarios/runner/load-run.ts';
import type { LoadTarget } from '../scenarios/runner/load-target.ts';
import type { Listening } from './servers/measured-server.ts';

const RATE = Number(process.argv[2] ?? 1000);
const [SHORT, LONG] = [Number(process.argv[3] ?? 60), Number(process.argv[4] ?? 180)];
const HOUR = 3600;
const MOST_BYTES = 1e9;
const PLAN = { perMinute: 1e9, perDay: 1e12 };

async function startTarget(): Promise<LoadTarget & { close: () => void }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const task = { body: '', key: 'a-key-for-the-bench', animals: 200 };
  const child = fork(new URL(`./servers/reference.${extension}`, import.meta.url), {
    execArgv: process.execArgv,
    env: { ...process.env, BENCH_TASK: JSON.stringify(task) },
  });
  const { url, key } = await new Promise<Listening>((resolve, reject) => {
    child.once('message', (value) => resolve(value as Listening));
    child.once('exit', (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
  return {
    address: url,
    keys: [{ name: 'bench', plan: 'enterprise', env: 'PETSTORE_BENCH_KEY', roles: ['load'], ...PLAN }],
    secrets: { PETSTORE_BENCH_KEY: key },
    permit: [],
    clockSpeed: 1,
    categoryId: undefined,
    close: () => child.kill(),
  };
}

interface Reading {
  readonly requests: number;
  /** Highest resident memory, in bytes. */
  readonly k6: number;
  readonly runner: number;
}

const facts = scenarioNamed('soak');
if (facts === undefined) throw new Error('the catalogue has no soak');
const soak = facts;
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));

async function measure(seconds: number): Promise<Reading> {
  const target = await startTarget();
  const out = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  let runner = 0;
  const looking = setInterval(() => {
    runner = Math.max(runner, process.memoryUsage.rss());
  }, 200);
  try {
    const { total, generator, verdict } = await runLoad({
      facts: soak,
      target,
      k6,
      out,
      rate: RATE,
      seconds,
      k6Environment: { GOGC: '20' },
    });
    if (generator.memoryPeakBytes === null)
      throw new Error('this system does not tell how much memory k6 has');
    process.stdout.write(
      `${seconds} s: ${total.requests} requests, k6 ${mb(generator.memoryPeakBytes)}, runner ${mb(runner)} (${verdict})\n`,
    );
    return { requests: total.requests, k6: generator.memoryPeakBytes, runner };
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
const after = (requests: number, of: 'k6' | 'runner') => {
  const each = Math.max(0, (long[of] - short[of]) / (long.requests - short.requests));
  return { each, bytes: long[of] + each * (requests - long.requests) };
};
const hour = { k6: after(RATE * HOUR, 'k6'), runner: after(RATE * HOUR, 'runner') };
const fits = hour.k6.bytes < MOST_BYTES && hour.runner.bytes < MOST_BYTES;
process.stdout.write(
  `an hour at ${RATE}/s: k6 ${mb(hour.k6.bytes)} (${Math.round(hour.k6.each)} bytes a request), ` +
    `runner ${mb(hour.runner.bytes)} (${Math.round(hour.runner.each)} bytes a request): ` +
    `${fits ? 'each under 1 GB' : 'NOT under 1 GB'}\n`,
);
process.exitCode = fits ? 0 : 1;
