/**
 * `npm run bench:load`: requests per second of our scenarios' request against those of a k6 loop that does nothing but
 * `http.get` and discards bodies, by turns in one run against the same server, 20 connections, as fast as they go.
 */
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from 'simple-statistics';
import { createRedactor } from '../../checks/wire/redaction.ts';
import type { Listening } from '../../reference-server/bench/servers/measured-server.ts';
import type { LoadPlan } from '../lib/scenario.ts';
import { EventLog } from '../runner/k6/event-log.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { OWN_FIGURES } from '../runner/k6/k6-figures.ts';
import { systemTags } from '../runner/k6/k6-options.ts';
import { startK6 } from '../runner/k6/k6-process.ts';
import { placeScript } from '../runner/k6/script.ts';
import { SampleStore } from '../runner/result/sample-store.ts';
import { freeAddress } from '../runner/shards/shards.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = 5;
const CONNECTIONS = 20;
const SAMPLED_AT_LEAST = 0.92;
const EVERY_BODY_AT_LEAST = 0.8;
const PLAN = { perMinute: 100_000_000, perDay: 1_000_000_000 };

const animals = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `Animal ${index + 1}`,
  categoryId: 7,
  status: ['available', 'pending', 'sold'][index % 3],
}));

async function startServer(): Promise<Listening & { close: () => void }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const file = new URL(
    `../../reference-server/bench/servers/bare-with-rate-headers.${extension}`,
    import.meta.url,
  );
  const task = { body: JSON.stringify(animals), key: 'a-key-for-the-bench', animals: 20 };
  const child = fork(file, {
    execArgv: process.execArgv,
    env: { ...process.env, BENCH_TASK: JSON.stringify(task) },
  });
  const listening = await new Promise<Listening>((resolve, reject) => {
    child.once('message', (value) => resolve(value as Listening));
    child.once('exit', (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
  return { ...listening, close: () => child.kill() };
}

interface Contender {
  readonly name: string;
  readonly script: string;
  readonly options: readonly string[];
  /** k6's own summary; undefined where k6 tells its figures to a runner that takes its samples in, as in a real run. */
  readonly summaryFile: string | undefined;
  readonly rates: number[];
  /** Microseconds of CPU per request, of k6 and of this process. */
  readonly cpu: number[];
  readonly ownCpu: number[];
}

function bareScript(url: string, summaryFile: string): string {
  return `import http from 'k6/http';
export const options = { vus: ${CONNECTIONS}, duration: '${SECONDS}s', discardResponseBodies: true };
const params = { headers: { Authorization: 'Bearer a-key-for-the-bench' } };
export default function () { http.get('${url}/pets', params); }
export function handleSummary(data) { return { ${JSON.stringify(summaryFile)}: JSON.stringify(data) }; }
`;
}

function ourPlan(url: string, control: string, validateEvery: number): LoadPlan {
  const now = Date.now();
  return {
    scenario: 'capacity',
    runId: 'bench',
    target: url,
    keys: [{ name: 'bench', plan: 'enterprise', env: 'PETSTORE_BENCH_KEY', ...PLAN }],
    streams: [{ name: 'step', keys: [0], schedule: [0], expects429: false }],
    mix: { listPets: 100, createPet: 0, getPet: 0 },
    validateEvery,
    lists: 'plain',
    clock: { from: now, at: now, speed: 1 },
    seconds: SECONDS,
    samples: { categoryId: '1', ids: ['1'] },
    control,
    options: {
      scenarios: { step: { executor: 'constant-vus', vus: CONNECTIONS, duration: `${SECONDS}s` } },
      systemTags: systemTags(false),
    },
  };
}

async function contenders(url: string, folder: string): Promise<Contender[]> {
  const bare = join(folder, 'bare.js');
  const bareSummary = join(folder, 'bare.json');
  await writeFile(bare, bareScript(url, bareSummary));
  const made: Contender[] = [
    {
      name: 'bare k6',
      script: bare,
      options: [],
      summaryFile: bareSummary,
      rates: [],
      cpu: [],
      ownCpu: [],
    },
  ];
  for (const [name, validateEvery] of [
    ['ours, 1 body in 100', 100],
    ['ours, every body', 1],
  ] as const) {
    const own = join(folder, `every-${validateEvery}`);
    const script = await placeScript('capacity', own);
    const control = await freeAddress();
    await writeFile(join(own, 'plan.json'), JSON.stringify(ourPlan(url, control, validateEvery)));
    const options = [OWN_FIGURES, `--address=${control}`];
    made.push({ name, script, options, summaryFile: undefined, rates: [], cpu: [], ownCpu: [] });
  }
  return made;
}

async function round(contender: Contender, k6: string): Promise<void> {
  const store = new SampleStore({ streams: ['step'], keys: [{ name: 'bench', plan: 'enterprise' }] }, 1);
  const events = new EventLog(createRedactor([]));
  const process = startK6({
    k6,
    script: contender.script,
    options: contender.options,
    // The bare loop has Go's own settings, as k6 has when somebody starts it.
    environment:
      contender.summaryFile === undefined
        ? { PETSTORE_BENCH_KEY: 'a-key-for-the-bench' }
        : { GOGC: '100', GOMEMLIMIT: 'off' },
    onSamples: (line) => void store.addLine(line),
    onEvent: (json) => events.add(json),
    onLog: (level, message) => events.log(level, message, () => {}),
  });
  const own = globalThis.process.cpuUsage();
  const { code, usage } = await process.ended;
  const { user, system } = globalThis.process.cpuUsage(own);
  const [problem = events.violations()[0]?.requirement] = events.errorLines;
  if (code !== 0 || problem !== undefined)
    throw new Error(`${contender.name}: k6 ended with ${code}: ${problem}`);
  const figures =
    contender.summaryFile === undefined
      ? events.figures(0)
      : JSON.parse(await readFile(contender.summaryFile, 'utf8'));
  const { count, rate } = figures?.metrics['http_reqs'].values ?? {};
  const requests = Number(count);
  // Nothing drains the VUs here, so the last half second of each is missing; more would be a loss.
  if (contender.summaryFile === undefined && (store.keys().get('bench')?.sent ?? 0) < requests * 0.8)
    throw new Error('samples were lost');
  contender.rates.push(Number(rate));
  contender.cpu.push(((usage.cpuSeconds ?? 0) * 1e6) / requests);
  contender.ownCpu.push((user + system) / requests);
}

const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
const folder = await mkdtemp(join(tmpdir(), 'bench-load-'));
const server = await startServer();
try {
  const all = await contenders(server.url, folder);
  for (let done = 0; done < ROUNDS; done += 1) for (const contender of all) await round(contender, k6.path);
  const [bare] = all;
  const ratios = all.map(({ rates }) =>
    median(rates.map((rate, index) => rate / (bare?.rates[index] ?? rate))),
  );
  for (const [index, { name, rates, cpu, ownCpu }] of all.entries()) {
    process.stdout.write(
      `${name.padEnd(22)} ${Math.round(median(rates)).toString().padStart(7)} requests/s  ${(ratios[index] ?? 0).toFixed(2)} of bare, ` +
        `CPU per request: k6 ${median(cpu).toFixed(1)} µs, runner ${median(ownCpu).toFixed(1)} µs\n`,
    );
  }
  const [, sampled = 0, every = 0] = ratios;
  const reached = sampled >= SAMPLED_AT_LEAST && every >= EVERY_BODY_AT_LEAST;
  process.stdout.write(
    `to reach: ${SAMPLED_AT_LEAST} and ${EVERY_BODY_AT_LEAST}: ${reached ? 'reached' : 'NOT reached'}\n`,
  );
  process.exitCode = reached ? 0 : 1;
} finally {
  server.close();
  await rm(folder, { recursive: true, force: true });
}
