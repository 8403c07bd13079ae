/** A load that does not come to its end leaves what it measured, and nobody behind. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { answersFrom, onTheWire } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import { startRawServer } from '../../checks/accuracy/hostile/testing/raw-server.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { readLoadResult } from '../../scenarios/runner/result/load-result.ts';
import type { Started } from '../testing/command.ts';
import { runLoad, skip, startLoad } from './testing/measured-load.ts';

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

/** The processes that have to do with a folder. */
function processesOf(folder: string): Promise<{ readonly pid: number; readonly args: string }[]> {
  return new Promise((resolve) => {
    execFile('ps', ['axww', '-o', 'pid,args'], (_, stdout) => {
      const all = stdout.split('\n').flatMap((line) => {
        const { pid, args } = /^ *(?<pid>\d+) (?<args>.*)$/.exec(line)?.groups ?? {};
        return pid === undefined || args === undefined ? [] : [{ pid: Number(pid), args }];
      });
      resolve(all.filter(({ args }) => args.includes(folder)));
    });
  });
}

const k6In = async (folder: string) =>
  (await processesOf(folder)).filter(({ args }) => args.includes(' run --log-format'));

/** Starts a load and waits until k6 sends. Its folder is named in full, so that k6 is found by it. */
async function loading(t: Test, args: readonly string[]): Promise<{ started: Started; folder: string }> {
  const folder = t.testdir({});
  const started = startLoad(folder, [...args, '--out', join(folder, 'out')]);
  await until(async () => (await k6In(folder)).length > 0);
  return { started, folder };
}

async function leavesNobody(t: Test, folder: string): Promise<void> {
  await until(async () => (await processesOf(folder)).length === 0);
  t.pass('k6 is gone');
}

const SHARDS = ['mixed', '--rate', '40', '--duration', '60s', '--shards', '2'];

t.test('interruptions', { skip, jobs: 2 }, async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    t.test(`${signal}: k6 ends in order, and the figures are partial`, async (t) => {
      const { started, folder } = await loading(t, SHARDS);
      await until(async () => (await k6In(folder)).length >= 2);
      await sleep(1500);
      started.child.kill(signal);
      t.equal(await started.ended, 130, started.output.stderr);
      t.match(started.output.stdout, /\nInterrupted: the figures are partial(: .*)?\n$/);
      const { verdict, run } = readLoadResult(join(folder, 'out'));
      t.match({ verdict, run }, { verdict: 'interrupted', run: { interrupted: 'by a signal', shards: 2 } });
      t.ok(existsSync(join(folder, 'out', 'report.html')));
      await leavesNobody(t, folder);
    });
  }

  t.test('SIGINT: clients that are cut off conclude nothing from it', async (t) => {
    const { started, folder } = await loading(t, ['plan-limit-edge']);
    await until(async () => (await k6In(folder)).length >= 1);
    await sleep(2500);
    started.child.kill('SIGINT');
    t.equal(await started.ended, 130, started.output.stderr);
    const { thresholds } = readLoadResult(join(folder, 'out'));
    t.strictSame(
      thresholds.filter(({ key }) => key !== undefined),
      [],
    );
  });

  t.test('SIGKILL: k6 does not outlive its runner by more than a line of its log', async (t) => {
    const { started, folder } = await loading(t, SHARDS);
    started.child.kill('SIGKILL');
    t.equal(await started.ended, null);
    await leavesNobody(t, folder);
  });

  t.test('a second signal ends at once', async (t) => {
    const { started, folder } = await loading(t, ['smoke', '--rate', '40', '--duration', '60s']);
    started.child.kill('SIGINT');
    started.child.kill('SIGTERM');
    t.equal(await started.ended, 130);
    await leavesNobody(t, folder);
  });

  t.test('a k6 that somebody kills takes no other shard’s figures along', async (t) => {
    const args = ['mixed', '--rate', '40', '--duration', '4s', '--shards', '2'];
    const { started, folder } = await loading(t, args);
    for (const { pid, args: words } of await k6In(folder))
      if (words.includes('--execution-segment=0/2:')) process.kill(pid, 'SIGKILL');
    t.equal(await started.ended, 3, started.output.stderr);
    t.match(started.output.stdout, /\nDid not run as it should: k6 was ended by SIGKILL\n$/);
    await leavesNobody(t, folder);
  });
});

/** Root may write anywhere, unless this capability is taken away. */
const AS_SOMEBODY = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];

t.test('disks', { skip, jobs: 2 }, async (t) => {
  t.test('folders that cannot be written are told before anything is sent', async (t) => {
    const folder = t.testdir({ file: '' });
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'read-only'));
    chmodSync(join(folder, 'read-only'), 0o555);
    const cases: Readonly<Record<string, RegExp>> = {
      'read-only': /^error: permission denied \(EACCES: .*'read-only\/in-use'\)\n$/m,
      file: /^error: file already exists \(EEXIST: .*file'\)\n$/m,
    };
    for (const [out, line] of Object.entries(cases)) {
      const { code, stdout, stderr } = await runLoad(
        folder,
        ['smoke', '--out', out],
        {},
        { through: AS_SOMEBODY },
      );
      t.equal(code, 2, stderr);
      t.match(stderr, line);
      t.equal(stdout, '');
    }
  });

  t.test('readers that go away cost no result', async (t) => {
    const folder = t.testdir({});
    const { child, ended } = startLoad(folder, ['smoke', '--rate', '20', '--duration', '2s', '--out', 'out']);
    child.stdout?.destroy();
    child.stderr?.destroy();
    t.equal(await ended, 0);
    t.match(readLoadResult(join(folder, 'out')), { verdict: 'held' });
  });
});

t.test('a target that dies under the load, and says the key back before', { skip }, async (t) => {
  const key = 'sk_live+canary/4f9Zq7TrXy==';
  const enterprise = { perMinute: 100_000, perDay: 1_000_000 };
  const server = await startReferenceServer({
    keys: [{ name: 'load-1', plan: 'enterprise', value: key }],
    enterprise,
  });
  t.teardown(() => server.close());
  const answer = answersFrom(new URL(server.baseUrl).origin);
  const target = await startRawServer({
    async request(connection, request) {
      if (request.number > 40) return connection.reset();
      if (request.number % 10 !== 0) return connection.write(onTheWire(await answer(request)));
      const echo = [key, encodeURIComponent(key), Buffer.from(key).toString('base64')].join(' ');
      const body = Buffer.from(JSON.stringify({ code: key, message: echo, status: 400 }));
      connection.write(onTheWire({ status: 400, headers: [['X-Echo', echo]], body }));
    },
  });
  t.teardown(() => target.close());
  const folder = t.testdir({
    'target.yaml': `target: http://127.0.0.1:${target.port}/v1
keys: [{ name: load-1, plan: enterprise, env: LOAD_KEY, roles: [load] }]
plans: { enterprise: { perMinute: ${enterprise.perMinute}, perDay: ${enterprise.perDay} } }
load: { allowed: true }
`,
  });
  const args = ['smoke', '--profile', 'target.yaml', '--rate', '40', '--duration', '3s', '--out', 'out'];
  const { code, stdout, stderr } = await runLoad(folder, args, { LOAD_KEY: key });
  t.equal(code, 99, stderr);
  t.match(stdout, /\nBroken: \d of 3 thresholds\n$/);
  t.match(stderr, /\nk6 has more to say; further lines are left out\n/);
  t.ok(stderr.split('\n').length < 25, 'not a line for each request');
  const files = readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, 'out', name))
    .filter((path) => statSync(path).isFile());
  const outputs = [stdout, stderr, ...files.map((path) => readFileSync(path, 'latin1'))];
  // Base64 without its ends, which what stands beside the key takes part in.
  const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64').slice(0, -4)];
  t.strictSame(
    forms.filter((form) => outputs.some((output) => output.includes(form))),
    [],
    `in none of ${files.length} files`,
  );
});
