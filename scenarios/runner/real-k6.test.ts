/** Loads through k6: every scenario, a fault for each of their signs, and what must be true of any run. */
import { execFile, spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAuthority } from '../../checks/accuracy/hostile/testing/tls-targets.ts';
import { CAPACITY_STEP, CATALOGUE } from '../lib/catalogue.ts';
import { LOAD_OPERATIONS } from '../lib/scenario.ts';
import { type LoadRun, placeScript, segmentOptions } from './load-run.ts';
import { startEmbeddedTarget } from './quota/load-target.ts';
import { prepareLoad } from './quota/prepare.ts';
import { conclude } from './result/conclude.ts';
import { type LoadResult, readLoadResult } from './result/load-result.ts';
import { readRunnerLog } from './result/recording.ts';
import { briefly, k6, runAt, skip, targetThat } from './testing/brief-runs.ts';

/** What no machine, however busy, excuses. */
function assertSound(t: Test, result: LoadResult): void {
  t.same(result.generator.errorLines, [], 'k6 logs no error');
  t.ok(result.total.requests > 0, `${result.total.requests} requests`);
  t.same(result.violations, [], 'the reference server keeps the contract');
  for (const { name: key, sent = 0, requests } of result.keys)
    t.ok(sent <= requests, `${key}: ${sent} of ${requests} on the bill`);
}

// They wait more than they work.
t.jobs = 4;
const test = (name: string, body: (t: Test) => Promise<void>) =>
  void t.test(name, { skip, buffered: true }, body);

type More = Partial<LoadRun> & { readonly clockSpeed?: number };

/** What a bucket would give back while a minute's requests are sent is no sign: a slow clock keeps it little. */
const FAULTS: readonly (readonly [fault: string, scenario: string, sign: RegExp, more?: More])[] = [
  ['limiter-races', 'plan-limit-edge', /offered to/, { clockSpeed: 8 }],
  ['load-ids-collide', 'burst', /its own id/],
  // What a busy machine takes anyway is little beside half a second.
  ['load-latency-leaks', 'soak', /creep/, { rate: 150, seconds: 30 }],
  ['load-errors', 'average-load', /errors<0\.1%/, { seconds: 4, rate: 250 }],
  ['load-stalls', 'soak', /p99\.95/, { rate: 250 }],
  ['ban-of-everybody', 'abusive-client', /errors==0/],
];

for (const [fault, scenario, sign, { clockSpeed, ...request } = {}] of FAULTS) {
  const target = { fault, ...(clockSpeed === undefined ? {} : { clockSpeed }) };
  test(`${fault} is found by ${scenario}`, async (t) => {
    // A race shows only where requests overlap, which a busy machine may prevent: three runs, one has to show it.
    let found = false;
    const said: string[] = [];
    for (let run = 1; run <= 3 && !found; run += 1) {
      const result = await briefly(join(t.testdir({}), `out-${run}`), scenario, request, target);
      found = result.thresholds.some(({ name, held }) => held === false && sign.test(name));
      said.push(
        ...result.thresholds.map(({ name, held, actual }) => `run ${run}: ${name}: ${held}, ${actual}`),
      );
    }
    t.ok(found, said.join('\n'));
  });
}

for (const { name, personas } of CATALOGUE) {
  test(`${name} holds on the reference server`, async (t) => {
    const out = join(t.testdir({}), 'out');
    const result = await briefly(out, name);
    const plan = JSON.parse(await readFile(join(out, 'k6', 'plan.json'), 'utf8'));
    assertSound(t, result);
    // How fast this machine is today is not the subject, and some runs are too short for it.
    for (const { name: threshold, held, actual } of result.thresholds)
      if (!/^p\d|noise|creep|recover/.test(threshold)) t.not(held, false, `${threshold}: ${actual}`);
    const written = JSON.stringify(result);
    t.same(readLoadResult(t.testdir({ 'load-report.json': written })), JSON.parse(written));
    const heard = new Set([...result.thresholds, ...result.measurements].map(({ key }) => key));
    if (personas?.reports === true)
      for (const place of plan.clients)
        t.ok(heard.has(plan.keys[place].name), `${plan.keys[place].name} reports`);
  });
}

/** A server whose answer to the n-th request is right, as far as `other` does not say another body; null never answers. */
const targetWith = (t: Test, other: (count: number) => string | undefined | null) => {
  const reset = Math.ceil(Date.now() / 1000) + 60;
  let count = 0;
  return targetThat(t, (request, response) => {
    request.resume();
    count += 1;
    const body = other(count);
    if (body === null) return;
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-ratelimit-limit': '1000000',
      'x-ratelimit-remaining': String(1_000_000 - count),
      'x-ratelimit-reset': String(reset),
    });
    response.end(body ?? '[{"id":1,"name":"Rex","categoryId":1}]');
  });
};

const LISTS = { facts: CAPACITY_STEP } as const;

test('every request is in the report once, also those never answered', async (t) => {
  let received = 0;
  const target = await targetWith(t, (count) => {
    received = count - 1;
    return received > 60 ? null : undefined;
  });
  const timing = { rate: 50, seconds: 2, graceSeconds: 0.3 };
  const result = await runAt(target, join(t.testdir({}), 'out'), 'mixed', { ...LISTS, ...timing });
  t.equal(result.total.requests, received, 'without the look at the target before');
  t.equal(result.keys[0]?.sent, received + 1, 'with it');
  const { unfinished, error } = result.total.outcomes;
  t.ok(unfinished + error > 10, `${unfinished} cut off, ${error} without a response`);
  t.equal(result.verdict, 'broken');
});

test('three shards are one load: keys apart, counts added up, a dashboard each', async (t) => {
  const out = join(t.testdir({}), 'out');
  const result = await briefly(out, 'mixed', {
    seconds: 5,
    rate: 60,
    shards: 3,
    graceSeconds: 5,
    dashboard: true,
  });
  assertSound(t, result);
  t.equal(result.run.shards, 3);
  const { turns } = JSON.parse(await readFile(join(out, 'k6', 'plan.json'), 'utf8'));
  const used = turns.flatMap((own: number[]) => [...new Set(own)]);
  t.equal(new Set(used).size, used.length, 'no two shards share a key');
  t.equal(
    result.keys.reduce((sum, { sent = 0 }) => sum + sent, 0),
    result.total.requests + 1,
  );
  t.same(new Set(result.series.map(({ operation }) => operation)), new Set(LOAD_OPERATIONS), 'of each some');
  // A busy machine does not get to send some.
  const arrivals = result.total.requests + result.generator.droppedIterations;
  t.ok(Math.abs(arrivals - 300) <= 3, `${arrivals} of 300 arrivals`);
  for (const shard of [1, 2, 3]) t.ok(existsSync(join(out, `k6-dashboard-${shard}.html`)));
});

test('runners of a cluster leave logs, which make one report', async (t) => {
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  const facts = CATALOGUE.find(({ name }) => name === 'mixed');
  if (facts === undefined) throw new Error('no mixed');
  const folder = t.testdir({});
  const load = { facts, target, runId: 'abcd1234', rate: 40, seconds: 3, graceSeconds: 0.5, shards: 2 };
  const plan = prepareLoad(load);
  const script = await placeScript(join(folder, 'k6'), plan);
  const logs = await Promise.all(
    [0, 1].map(async (index) => {
      const log = join(folder, `runner-${index}.log`);
      const sink = createWriteStream(log);
      const args = ['run', '--quiet', '--log-format=json', ...segmentOptions(index, 2), script];
      const runner = spawn(k6.path, args, { env: { ...process.env, ...target.secrets } });
      runner.stdout.pipe(sink, { end: false });
      runner.stderr.pipe(sink, { end: false });
      await new Promise((resolve) => runner.once('close', resolve));
      await new Promise((resolve) => sink.end(resolve));
      return log;
    }),
  );
  const result = conclude(await Promise.all(logs.map(readRunnerLog)));
  assertSound(t, result);
  t.equal(result.run.shards, 2);
  const arrivals = result.total.requests + result.generator.droppedIterations;
  t.ok(Math.abs(arrivals - 120) <= 3, `${arrivals} of 120 arrivals`);
});

test('a key is in no file, not in the log, and in nobody’s argument list', async (t) => {
  const { key, cert } = await createAuthority();
  const header = { name: 'X-Access-Token', value: 'canary-of-a-header', env: 'ACCESS' };
  const target = {
    ...(await targetWith(t, (count) => (count > 20 ? `canary-9b7e1f42d08c55aa ${header.value}` : undefined))),
    access: { headers: [header], tls: { key, cert, servername: 'petstore.test' }, secrets: [header.value] },
  };
  const canary = RegExp(
    `canary-9b7e1f42d08c55aa|${header.value}|${key.split('\n')[1]?.replace(/\W/g, '\\$&')}`,
  );
  const out = join(t.testdir({}), 'out');
  const notes: string[] = [];
  let processes = '';
  const look = () =>
    execFile('ps', ['axww', '-o', 'args'], (_, stdout) => {
      processes += stdout;
    });
  const debug = {
    k6Options: ['--http-debug=full'],
    note: (line: string) => void notes.push(line),
    dashboard: true,
  };
  const result = await runAt(target, out, 'mixed', {
    ...LISTS,
    ...debug,
    validateEvery: 1,
    seconds: 4,
    onProgress: look,
  });
  t.match(result.violations, [{ requirement: 'json-well-formed' }], 'the target said it back');
  t.match(processes, /k6 run/);
  t.notMatch(processes + notes.join('\n'), canary);
  for (const file of await readdir(out, { recursive: true })) {
    const path = join(out, file);
    const facts = await stat(path);
    t.equal(facts.mode & 0o077, 0, `${file} is private`);
    if (facts.isFile()) t.notMatch(await readFile(path, 'utf8'), canary, file);
  }
});
