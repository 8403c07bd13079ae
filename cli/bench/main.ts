/**
 * `npm run bench [-- NAME…]`: measures what the project promises of its speed, memory and accuracy. Each row is a figure
 * with its goal; exits 1 if one is missed. `--write` puts the table into CONTRIBUTING.md.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { median } from 'simple-statistics';
import { isDecidedEarly } from '../../checks/run/play.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { demoKeys } from '../../reference-server/api-keys.ts';
import { BOUNDLESS, startMeasured } from '../../reference-server/bench/measured-server.ts';
import { measureServer } from '../../reference-server/bench/speed.ts';
import { startServer } from '../../reference-server/server.ts';
import { readReport } from '../../reports/read-report.ts';
import { measureLoop } from '../../scenarios/bench/loop.ts';
import { readCapacity } from '../../scenarios/runner/result/read-result.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { writeServeProfile } from '../serve/serve-profile.ts';

type Row = readonly [what: string, measured: number, relation: '≥' | '≤', goal: number, unit?: string];

const KEY = 'a-key-for-the-bench';
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const newFolder = () => mkdtempSync(join(folder, 'out-'));

/** Makes a process print its peak resident memory at its end. */
const TELL_MEMORY = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'resident '+process.resourceUsage().maxRSS+' KiB'))`;

/**
 * Runs the command to its end in a process of its own.
 *
 * @param onOutput told of what it prints, with the seconds since its start
 * @throws with its output if it fails
 */
async function took(args: readonly string[], onOutput = (_text: string, _seconds: number) => {}) {
  const begun = performance.now();
  const since = () => (performance.now() - begun) / 1000;
  const command = fileURLToPath(new URL('../main.js', import.meta.url));
  const child = spawn(process.execPath, ['--import', TELL_MEMORY, command, ...args], {
    env: { ...process.env, PETSTORE_BENCH_KEY: KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text, since());
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${output}`);
  const kibibytes = Number(/resident (\d+) KiB/.exec(output)?.[1]);
  return { seconds: since(), megabytes: (kibibytes * 1024) / 1e6 };
}

async function medianOf(measure: () => Promise<{ readonly seconds: number }>): Promise<number> {
  const figures: number[] = [];
  for (let round = 0; round < 3; round += 1) figures.push((await measure()).seconds);
  return median(figures);
}

function requestsIn(results: string): number {
  const read = readReport(results);
  if (!read.ok) throw new Error(read.problem);
  return read.report.requests.total;
}

async function start(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const option of ['--version', '--help'])
    rows.push([option, await medianOf(() => took([option])), '≤', 0.25, 's']);
  return rows;
}

async function packed(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: fileURLToPath(packageRoot),
  });
  return [['the package', Number(/"size": *(\d+)/.exec(stdout)?.[1]) / 1000, '≤', 600, 'kB']];
}

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
      behaviour: (usual) =>
        delay === 0
          ? usual
          : { ...usual, deliver: (...answer) => void setTimeout(() => usual.deliver(...answer), delay) },
    });
    const profile = join(folder, 'target.yaml');
    const target = ['--profile', profile, '--env-file', writeServeProfile(profile, server)];
    let out = '';
    const seconds = await medianOf(() => {
      out = newFolder();
      return took(['check', '--permit', 'writes', '--out', out, ...target]);
    });
    await server.close();
    rows.push([`functional check, ${what}`, seconds, '≤', most.seconds, 's']);
    rows.push([`functional check, ${what}`, requestsIn(out), '≤', most.requests, 'requests']);
  }
  return rows;
}

/** Like `npm start` without the build: the reference server with everything permitted, including whole days. */
async function days(): Promise<Row[]> {
  const out = newFolder();
  const open = new Set(allChecks.filter((check) => isDecidedEarly(check)).map(({ id }) => id));
  let early = Number.NaN;
  const first = await took(['check', '--out', out], (text, seconds) => {
    for (const [, id = ''] of text.matchAll(/^(?:not )?ok \d+ - ([a-z0-9-]+) /gm))
      if (open.delete(id) && open.size === 0) early = seconds;
  });
  const report = await took(['report', out, '--format', 'html', '--out', join(out, 'again.html')]);
  const rejudged = await took(['check', '--rejudge', out, '--out', newFolder()]);
  return [
    ['first run, until the rows that spend no limit are told', early, '≤', 5, 's'],
    ['first run, whole days', first.seconds, '≤', 60, 's'],
    ['first run, resident', first.megabytes, '≤', 150, 'MB'],
    ['report of it, resident', report.megabytes, '≤', 150, 'MB'],
    ['--rejudge of it, resident', rejudged.megabytes, '≤', 150, 'MB'],
  ];
}

async function server(): Promise<Row[]> {
  const { rate, by } = await measureServer();
  return [[`reference server by bare node:http, requests/s (${by})`, rate, '≥', 0.85]];
}

async function load(): Promise<Row[]> {
  const { sampled, everyBody } = await measureLoop();
  return [
    ['k6 loop by bare k6, 1 body in 100 validated', sampled, '≥', 0.85],
    ['k6 loop by bare k6, every body validated', everyBody, '≥', 0.75],
  ];
}

async function accuracy(): Promise<Row[]> {
  const begun = performance.now();
  const main = fileURLToPath(new URL('../../checks/accuracy/main.js', import.meta.url));
  await promisify(execFile)(process.execPath, [main]);
  return [['every fault and every conforming server', (performance.now() - begun) / 1000, '≤', 180, 's']];
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
    await took(['load', 'capacity', '--profile', profile, '--out', out]);
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

const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = {
  ...{ start, package: packed, functional, days, server, load, accuracy, capacity },
};
/** Takes half an hour: measured only if it is named. */
const LONG = 'capacity';

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0)
  throw new Error(`no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);

let table = '';
const print = (line: string) => {
  table += `${line}\n`;
  process.stdout.write(`${line}\n`);
};

const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
print(`${machine}, ${type()} ${arch()}, Node ${process.versions.node}:\n`);
print('| Bench | Figure | Measured | Goal | |\n|---|---|---|---|---|');
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 ? !asked.includes(name) : name === LONG) continue;
  const rows = await bench().catch((error: unknown): Row[] => {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return [['comes to its end', 0, '≥', 1]];
  });
  for (const [what, measured, relation, goal, unit = ''] of rows) {
    const figure = `${measured.toFixed(goal >= 100 ? 0 : goal >= 5 ? 1 : 2)} ${unit}`;
    // NaN, which was not measured, meets no goal.
    const isMet = relation === '≥' ? measured >= goal : measured <= goal;
    print(
      `| ${name} | ${what} | ${figure.trim()} | ${relation} ${goal} | ${isMet ? 'met' : '**not met**'} |`,
    );
    if (!isMet) process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true, force: true });

if (options.write) {
  const document = new URL('CONTRIBUTING.md', packageRoot);
  const place = /(?<=<!-- bench -->\n)[\s\S]*(?=<!-- end of bench -->)/;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(place, () => table),
  );
}
