/**
 * `npm run bench [-- NAME…]`: measures what the project promises of its speed, memory and capacities. Each row is a figure
 * with its goal; exits 1 if one is missed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from 'simple-statistics';
import { demoKeys } from '../../reference-server/api-keys.ts';
import { BOUNDLESS, startMeasured } from '../../reference-server/bench/measured-server.ts';
import { measureServer } from '../../reference-server/bench/speed.ts';
import { startServer } from '../../reference-server/server.ts';
import { readReport } from '../../reports/report.ts';
import { measureLoop } from '../../scenarios/bench/loop.ts';
import { readCapacity } from '../../scenarios/runner/capacity/capacity.ts';
import { writeServeProfile } from '../serve/serve-profile.ts';

type Row = readonly [what: string, measured: number, relation: '≥' | '≤', goal: number, unit?: string];

const KEY = 'a-key-for-the-bench';
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const newFolder = () => mkdtempSync(join(folder, 'out-'));

/** Makes a process print its peak resident memory at its end. */
const TELL_MEMORY = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'resident '+process.resourceUsage().maxRSS+' KiB'))`;

/** Runs the command to its end in a process of its own. @throws with its output if it fails */
async function took(...args: readonly string[]) {
  const begun = performance.now();
  const command = fileURLToPath(new URL('../main.js', import.meta.url));
  const child = spawn(process.execPath, ['--import', TELL_MEMORY, command, ...args], {
    env: { ...process.env, PETSTORE_BENCH_KEY: KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${output}`);
  const kibibytes = Number(/resident (\d+) KiB/.exec(output)?.[1]);
  return { seconds: (performance.now() - begun) / 1000, megabytes: (kibibytes * 1024) / 1e6 };
}

const requestsIn = (results: string): number => readReport(results).requests.total;

/** Checks of all that spends no limit. Across an ocean an answer takes 200 ms. */
const FUNCTIONAL = [
  { what: 'one key', keys: ['business-1'], delay: 0, most: { seconds: 1.5, requests: 150 } },
  {
    what: 'five keys',
    keys: ['free-1', 'free-2', 'pro-1', 'business-1', 'enterprise-1'],
    delay: 0,
    most: { seconds: 1.5, requests: 160 },
  },
  {
    what: 'one key, 200 ms an answer',
    keys: ['business-1'],
    delay: 200,
    most: { seconds: 30, requests: 150 },
  },
];

async function functional(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { what, keys, delay, most } of FUNCTIONAL) {
    const server = await startServer({
      keys: demoKeys().filter(({ name }) => keys.includes(name)),
      design: (usual) =>
        delay === 0
          ? usual
          : { ...usual, deliver: (...answer) => void setTimeout(() => usual.deliver(...answer), delay) },
    });
    const profile = join(folder, 'target.yaml');
    const target = ['--profile', profile, '--env-file', writeServeProfile(profile, server)];
    let out = '';
    const seconds: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      out = newFolder();
      seconds.push((await took('check', '--permit', 'writes', '--out', out, ...target)).seconds);
    }
    await server.close();
    rows.push([`functional check, ${what}`, median(seconds), '≤', most.seconds, 's']);
    rows.push([`functional check, ${what}`, requestsIn(out), '≤', most.requests, 'requests']);
  }
  return rows;
}

/** Like `npm start` without the build: the reference server with everything permitted, including whole days. */
async function days(): Promise<Row[]> {
  const out = newFolder();
  const first = await took('check', '--out', out);
  const report = await took('report', out, '--format', 'html', '--out', join(out, 'again.html'));
  const rejudged = await took('check', '--rejudge', out, '--out', newFolder());
  return [
    ['first run, whole days', first.seconds, '≤', 60, 's'],
    ['first run, resident', first.megabytes, '≤', 150, 'MB'],
    ['report of it, resident', report.megabytes, '≤', 150, 'MB'],
    ['--rejudge of it, resident', rejudged.megabytes, '≤', 150, 'MB'],
  ];
}

async function server(): Promise<Row[]> {
  return [['reference server by bare node:http, requests/s', await measureServer(), '≥', 0.85]];
}

async function load(): Promise<Row[]> {
  const { sampled, everyBody } = await measureLoop();
  return [
    ['k6 loop by bare k6, 1 body in 100 validated', sampled, '≥', 0.85],
    ['k6 loop by bare k6, every body validated', everyBody, '≥', 0.75],
  ];
}

const SEARCHES = 20;

/** Searches for capacities that are known by construction. */
async function capacity(): Promise<Row[]> {
  let right = 0;
  const [widths, seconds]: [number[], number[]] = [[], []];
  for (let search = 1; search <= SEARCHES; search += 1) {
    // Each server has another capacity, from 80 to 400 a second. The sequence is always the same.
    const truth = 80 * 5 ** ((search * 0.618_033_988) % 1);
    const { url, close } = await startMeasured({ key: KEY, serviceMs: 1000 / truth });
    const profile = join(folder, 'known.yaml');
    const keys = [{ name: 'load', plan: 'enterprise', env: 'PETSTORE_BENCH_KEY', roles: ['load'] }];
    const plans = { enterprise: BOUNDLESS };
    // JSON is YAML.
    writeFileSync(profile, JSON.stringify({ target: url, keys, plans, load: { allowed: true } }));
    const out = newFolder();
    await took('load', 'capacity', '--profile', profile, '--out', out);
    close();
    const { interval, run } = readCapacity(out);
    const [low, high] = interval ?? [0, 0];
    process.stderr.write(`${truth.toFixed(1)}/s: ${low.toFixed(1)} to ${high.toFixed(1)}\n`);
    if (low <= truth && truth <= high) right += 1;
    widths.push((100 * (high - low)) / (high + low));
    seconds.push(run.durationSeconds);
  }
  return [
    [`the true capacity is within the interval, of ${SEARCHES} searches`, right, '≥', SEARCHES - 1],
    ['the widest interval, ±', Math.max(...widths), '≤', 5, '%'],
    ['the longest search', Math.max(...seconds), '≤', 180, 's'],
  ];
}

const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = { functional, days, server, load, capacity };
/** Takes half an hour: measured only if it is named. */
const LONG = 'capacity';

const asked = process.argv.slice(2);
const print = (line: string) => void process.stdout.write(`${line}\n`);
const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
print(`${machine}, ${type()} ${arch()}, Node ${process.versions.node}:\n`);
print('| Figure | Measured | Goal | |\n|---|---|---|---|');
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES).filter((one) => one !== LONG)) {
  const rows = await BENCHES[name]?.();
  if (rows === undefined) throw new Error(`no bench ${name}; there are ${Object.keys(BENCHES).join(', ')}`);
  for (const [what, measured, relation, goal, unit = ''] of rows) {
    const figure = `${measured.toFixed(goal >= 100 ? 0 : goal >= 5 ? 1 : 2)} ${unit}`;
    // NaN, which was not measured, meets no goal.
    const isMet = relation === '≥' ? measured >= goal : measured <= goal;
    print(`| ${what} | ${figure.trim()} | ${relation} ${goal} | ${isMet ? 'met' : '**not met**'} |`);
    if (!isMet) process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true, force: true });
