/**
 * `npm run bench [-- NAME…]`: measures what the project promises of its speed and memory, all of it or the benches with
 * these names. Each row is a figure with its goal. Exits 1 if a goal is missed. `--write` puts the table into
 * CONTRIBUTING.md.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { median } from 'simple-statistics';
import { Pool } from 'undici';
import { JOURNAL_FILE } from '../../checks/check-target.ts';
import { readJournal } from '../../checks/run/journal.ts';
import { isDecidedEarly } from '../../checks/run/play.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { measureServer } from '../../reference-server/bench/speed.ts';
import { startMeasured } from '../../reference-server/bench/start-measured.ts';
import { readReport } from '../../reports/read-report.ts';
import { measureLoop } from '../../scenarios/bench/loop.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { took } from './command.ts';
import { answersAfter, withTarget } from './targets.ts';

interface Row {
  readonly what: string;
  readonly measured: number;
  readonly goal: readonly ['≥' | '≤', number];
  readonly unit: string;
}

const row =
  (relation: Row['goal'][0]) =>
  (goal: number, what: string, measured: number, unit = ''): Row => ({
    what,
    measured,
    goal: [relation, goal],
    unit,
  });
const atLeast = row('≥');
const atMost = row('≤');

/** Whether the goal is met. NaN, which was not measured, meets none. */
const isMet = ({ measured, goal: [relation, goal] }: Row): boolean =>
  relation === '≥' ? measured >= goal : measured <= goal;

const ROUNDS = 3;

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const figures: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) figures.push(await measure());
  return median(figures);
}

async function server(): Promise<Row[]> {
  const { rate, by } = await measureServer();
  return [atLeast(0.85, `reference server by bare node:http, requests/s (${by})`, rate)];
}

async function load(): Promise<Row[]> {
  const { sampled, everyBody } = await measureLoop();
  return [
    atLeast(0.85, 'k6 loop by bare k6, 1 body in 100 validated', sampled),
    atLeast(0.75, 'k6 loop by bare k6, every body validated', everyBody),
  ];
}

const FIVE_KEYS = ['free-1', 'free-2', 'pro-1', 'business-1', 'enterprise-1'];
const CHECK = ['check', '--permit', 'writes', '--out'];

function reportIn(folder: string) {
  const read = readReport(folder);
  if (!read.ok) throw new Error(read.problem);
  return read.report;
}

async function functional(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [keys, requests] of [
    [['business-1'], 150],
    [FIVE_KEYS, 160],
  ] as const) {
    await withTarget(keys, {}, async ({ folder, options }) => {
      let sent = Number.NaN;
      const seconds = await medianOf(async () => {
        const out = mkdtempSync(join(folder, 'out-'));
        const { seconds } = await took([...CHECK, out, ...options]);
        sent = reportIn(out).requests.total;
        return seconds;
      });
      const what = `check of all that spends no limit, ${keys.length === 1 ? 'one key' : 'five keys'}`;
      rows.push(atMost(1.5, what, seconds, 's'), atMost(requests, what, sent, 'requests'));
    });
  }
  return rows;
}

/** Milliseconds that an answer takes across an ocean. */
const FAR = 200;

async function slow(): Promise<Row[]> {
  return withTarget(FIVE_KEYS, answersAfter(FAR), async ({ folder, options }) => {
    const { seconds } = await took([...CHECK, join(folder, 'functional'), ...options]);
    const out = join(folder, 'minute');
    const business = ['check', '--permit', 'writes,exhaust', '--only', 'rate-minute-business', '--out', out];
    await took([...business, ...options]);
    return [
      atMost(12, `the same, ${FAR} ms an answer`, seconds, 's'),
      atLeast(
        1000,
        `a Business minute filled in its minute, ${FAR} ms an answer`,
        inOneMinute(out),
        'requests',
      ),
    ];
  });
}

/** The most requests that were admitted between two moments a minute apart. */
function inOneMinute(folder: string): number {
  const journal = readJournal(join(folder, JOURNAL_FILE));
  if (!journal.ok) throw new Error(journal.problem);
  const times = journal.entries
    .flatMap((entry) => {
      if ('reading' in entry) return entry.reading.status < 300 ? [entry.reading.sentAt] : [];
      if (!('exchange' in entry) || entry.exchange.outcome.kind !== 'response') return [];
      return entry.exchange.outcome.status < 300 ? [entry.exchange.sentAt] : [];
    })
    .sort((one, other) => one - other);
  let first = 0;
  return Math.max(
    ...times.map((time, last) => {
      while (time - (times[first] ?? time) >= 60_000) first += 1;
      return last - first + 1;
    }),
  );
}

/** Requests a second that one pool of undici sends to the reference server in a process of its own. */
async function poolRate(): Promise<number> {
  const { url, key, close } = await startMeasured('reference', { body: '', key: 'a-key', animals: 120 });
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: 50, pipelining: 1 });
  const seconds = 5;
  let answered = 0;
  const end = performance.now() + seconds * 1000;
  const headers = { authorization: `Bearer ${key}` };
  const client = async () => {
    for (; performance.now() < end; answered += 1) {
      const { body } = await pool.request({ path: `${pathname}/pets?limit=1`, method: 'GET', headers });
      await body.text();
    }
  };
  await Promise.all(Array.from({ length: 50 }, client));
  await pool.close();
  close();
  return answered / seconds;
}

const EARLY = allChecks.filter((check) => isDecidedEarly(check)).map(({ id }) => id);

/** Like `npm start` without the build: the reference server with everything permitted, including whole days. */
async function days(): Promise<Row[]> {
  const out = mkdtempSync(join(tmpdir(), 'bench-days-'));
  try {
    const open = new Set(EARLY);
    let early = Number.NaN;
    const first = await took(['check', '--permit', 'writes,exhaust,ban,day', '--out', out], {
      onOutput(text, seconds) {
        for (const [, id = ''] of text.matchAll(/^(?:not )?ok \d+ - ([a-z0-9-]+) /gm)) {
          if (open.delete(id) && open.size === 0) early = seconds;
        }
      },
    });
    const report = await took(['report', out, '--format', 'html', '--out', join(out, 'again.html')]);
    const rejudged = await took(['check', '--rejudge', out, '--out', join(out, 'again')]);
    const bound = reportIn(out).requests.total / (await poolRate());
    return [
      atMost(5, 'first run, until the rows that spend no limit are told', early, 's'),
      atMost(60, 'first run, whole days', first.seconds, 's'),
      atMost(1.3, 'first run, by what one pool of undici needs for as many requests', first.seconds / bound),
      atMost(150, 'first run, resident', first.megabytes, 'MB'),
      atMost(150, 'report of it, resident', report.megabytes, 'MB'),
      atMost(150, '--rejudge of it, resident', rejudged.megabytes, 'MB'),
    ];
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

const FAST_CLOCK = 60;

/** The day of a Pro key, killed when half of it is spent. */
async function resumed(): Promise<Row[]> {
  return withTarget(['pro-1'], { clockSpeed: FAST_CLOCK }, async ({ folder, options }) => {
    const out = join(folder, 'out');
    const day = ['check', '--permit', 'writes,exhaust,day', '--format', 'human', '--out', out, ...options];
    await took(day, { killed: new Promise((resolve) => setTimeout(resolve, 20_000)) });
    const { megabytes } = await took(['check', '--resume', out, ...options.slice(2)]);
    return [atMost(150, 'a resumed day of a Pro key, resident', megabytes, 'MB')];
  });
}

async function start(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const option of ['--version', '--help'])
    rows.push(atMost(0.25, option, await medianOf(async () => (await took([option])).seconds), 's'));
  return rows;
}

async function packed(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: fileURLToPath(packageRoot),
  });
  const size = Number(/"size": *(\d+)/.exec(stdout)?.[1]);
  return [atMost(600, 'the package', size / 1000, 'kB')];
}

async function accuracy(): Promise<Row[]> {
  const begun = performance.now();
  const main = fileURLToPath(new URL('../../checks/accuracy/main.js', import.meta.url));
  await promisify(execFile)(process.execPath, [main]);
  return [atMost(180, 'every fault and every conforming server', (performance.now() - begun) / 1000, 's')];
}

const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = {
  start,
  package: packed,
  functional,
  slow,
  days,
  resumed,
  server,
  load,
  accuracy,
};

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  process.stderr.write(
    `error: no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}

let table = '';
const print = (line: string) => {
  table += `${line}\n`;
  process.stdout.write(`${line}\n`);
};

const [cpu] = cpus();
const memory = Math.round(totalmem() / 2 ** 30);
print(
  `${availableParallelism()} cores (${cpu?.model.trim()}), ${memory} GiB, ${type()} ${arch()}, Node ${process.versions.node}:\n`,
);
print('| Bench | Figure | Measured | Goal | |\n|---|---|---|---|---|');
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const rows = await bench().catch((error: unknown) => {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return [atLeast(1, 'comes to its end', 0)];
  });
  for (const row of rows) {
    const { what, measured, goal, unit } = row;
    const figure = `${measured.toFixed(goal[1] >= 100 ? 0 : goal[1] >= 5 ? 1 : 2)} ${unit}`;
    const met = isMet(row) ? 'met' : '**not met**';
    print(`| ${name} | ${what} | ${figure.trim()} | ${goal.join(' ')} | ${met} |`);
    if (!isMet(row)) process.exitCode = 1;
  }
}

if (options.write) {
  const document = new URL('CONTRIBUTING.md', packageRoot);
  const written = readFileSync(document, 'utf8');
  const place = /(?<=<!-- bench -->\n)[\s\S]*(?=<!-- end of bench -->)/;
  writeFileSync(
    document,
    written.replace(place, () => table),
  );
}
