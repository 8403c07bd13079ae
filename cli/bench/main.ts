/**
 * `npm run bench [-- NAME…]`: measures what the project promises of its speed, memory and capacities. Each row is a figure
 * with its goal; exits 1 if one is missed.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { parseProfile } from '../../checks/profile/parse-profile.ts';
import { demoKeys } from '../../reference-server/api-keys.ts';
import { startMeasured } from '../../reference-server/bench/measured-server.ts';
import { startServer } from '../../reference-server/server.ts';
import { readReport } from '../../reports/report.ts';
import { CAPACITY_STEP } from '../../scenarios/lib/catalogue.ts';
import { median } from '../../scenarios/lib/statistics.ts';
import { readCapacity } from '../../scenarios/runner/capacity/result.ts';
import { provideK6 } from '../../scenarios/runner/k6/k6-binary.ts';
import { runK6 } from '../../scenarios/runner/k6/k6-process.ts';
import { placeScript } from '../../scenarios/runner/load-run.ts';
import { BOUNDLESS, loadTarget } from '../../scenarios/runner/quota/load-target.ts';
import { prepareLoad } from '../../scenarios/runner/quota/prepare.ts';
import { writeServeProfile } from '../serve/serve-profile.ts';

type Row = readonly [what: string, measured: number, relation: '≥' | '≤', goal: number, unit?: string];

const KEY = 'a-key-for-the-bench';
const ENV = 'PETSTORE_BENCH_KEY';
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const newFolder = () => mkdtempSync(join(folder, 'out-'));

/** The profile of a server that is loaded with the key; JSON is YAML. */
const loadProfile = (target: string): string =>
  JSON.stringify({
    target,
    keys: [{ name: 'load', plan: 'enterprise', env: ENV, roles: ['load'] }],
    plans: { enterprise: BOUNDLESS },
    load: { allowed: true },
  });

/** Makes a process print its peak resident memory at its end. */
const TELL_MEMORY = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'resident '+process.resourceUsage().maxRSS+' KiB'))`;

/** Runs the command to its end in a process of its own. @throws with what it said if it fails */
async function took(...args: readonly string[]) {
  const begun = performance.now();
  const command = fileURLToPath(new URL('../main.js', import.meta.url));
  const options = { env: { ...process.env, [ENV]: KEY }, maxBuffer: Number.POSITIVE_INFINITY };
  const { stderr } = await run(process.execPath, ['--import', TELL_MEMORY, command, ...args], options);
  const kibibytes = Number(/resident (\d+) KiB/.exec(stderr)?.[1]);
  return { seconds: (performance.now() - begun) / 1000, megabytes: (kibibytes * 1024) / 1e6 };
}

/** Checks of all that spends no limit. Across an ocean an answer takes 200 ms. */
const FUNCTIONAL = [
  { what: 'one key', keys: /^business-1$/, delay: 0, seconds: 1.5, requests: 150 },
  { what: 'five keys', keys: /-\d$/, delay: 0, seconds: 1.5, requests: 160 },
  { what: 'one key, 200 ms an answer', keys: /^business-1$/, delay: 200, seconds: 30, requests: 150 },
];

async function functional(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { what, keys, delay, ...most } of FUNCTIONAL) {
    const server = await startServer({
      keys: demoKeys().filter(({ name }) => keys.test(name)),
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
    const { total } = readReport(out).requests;
    rows.push([`functional check, ${what}`, total, '≤', most.requests, 'requests']);
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

/** The reference server, which the key does not exhaust, and a bare one that answers with the same list. */
async function serversToCompare() {
  const keys = [{ name: 'bench', plan: 'enterprise', value: KEY }] as const;
  const reference = await startMeasured({ reference: { keys, enterprise: BOUNDLESS } });
  const listed = await fetch(`${reference.url}/pets`, { headers: { authorization: `Bearer ${KEY}` } });
  return { reference, bare: await startMeasured({ body: await listed.text() }) };
}

/** V8 widens its young generation during the first seconds, and a request then costs more. */
const WARM_UP_SECONDS = 5;

/**
 * Lists over 20 connections, by turns. The ratios are of rounds that follow each other: what slows the machine down for a
 * moment does not end up on one side only.
 */
async function server(): Promise<Row[]> {
  const { reference, bare } = await serversToCompare();
  const answered = async ({ url }: typeof bare, duration: number) => {
    const headers = { authorization: `Bearer ${KEY}` };
    return (await autocannon({ url: `${url}/pets`, connections: 20, duration, headers }))['2xx'];
  };
  for (const one of [reference, bare]) await answered(one, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let round = 0; round < 15; round += 1)
    ratios.push((await answered(reference, 1)) / (await answered(bare, 1)));
  for (const one of [reference, bare]) one.close();
  return [['reference server by bare node:http, requests/s', median(ratios), '≥', 0.85]];
}

/** A k6 loop that does nothing but `http.get`. Like our script it tells at its end how many requests it made. */
const bareScript = (url: string) => `import http from 'k6/http';
export const options = { vus: 20, duration: '5s', discardResponseBodies: true };
const params = { headers: { Authorization: 'Bearer ${KEY}' } };
export default function () { http.get('${url}/pets', params); }
export function handleSummary({ metrics }) { console.log('made ' + metrics.http_reqs.values.count); return {}; }
`;

/** Our script and the bare loop by turns, against the same server, as fast as they can on 20 connections. */
async function load(): Promise<Row[]> {
  const { path: k6 } = await provideK6((line) => process.stderr.write(`${line}\n`));
  const { reference, bare } = await serversToCompare();
  const profile = parseProfile(loadProfile(bare.url), 'the bench');
  const target = loadTarget(profile, bare.url, new Map([['load', KEY]]));
  const made = async (script: string, environment: Record<string, string>): Promise<number> => {
    const lines: string[] = [];
    const listen = (line: string) => void lines.push(line);
    const { code } = await runK6({ k6, script, options: [], environment, onLine: listen, onProblem: listen });
    const wrong = lines.find((line) => line.includes('violation'));
    if (code !== 0 || wrong !== undefined) throw new Error(`k6 ended with ${code}: ${wrong ?? lines.at(-1)}`);
    return Number(/(?:made |dropped\\":\d+,\\"requests\\":)(\d+)/.exec(lines.join('\n'))?.[1]);
  };
  const ours = (validateEvery: number): Promise<string> => {
    const plan = prepareLoad({ facts: CAPACITY_STEP, target, runId: 'bench', rate: 1e6, validateEvery });
    const step = { executor: 'constant-vus', vus: 20, duration: '5s' };
    return placeScript(newFolder(), { ...plan, options: { ...plan.options, scenarios: { step } } });
  };
  const limit = join(folder, 'bare.js');
  writeFileSync(limit, bareScript(bare.url));
  const [some, every] = [await ours(100), await ours(1)];
  const [sampled, everyBody]: [number[], number[]] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    // Go's settings are those of a k6 that is started by hand, or ours.
    const most = await made(limit, { GOGC: '100', GOMEMLIMIT: 'off' });
    sampled.push((await made(some, target.secrets)) / most);
    everyBody.push((await made(every, target.secrets)) / most);
  }
  for (const one of [reference, bare]) one.close();
  return [
    ['k6 loop by bare k6, 1 body in 100 validated', median(sampled), '≥', 0.85],
    ['k6 loop by bare k6, every body validated', median(everyBody), '≥', 0.75],
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
    const { url, close } = await startMeasured({ serviceMs: 1000 / truth });
    const profile = join(folder, 'known.yaml');
    writeFileSync(profile, loadProfile(url));
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
