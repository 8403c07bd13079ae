/** k6 and its parent: environment, options, signals, memory. A shell script stands in for k6. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { environmentForK6, otherLoad, runK6, usedTogether } from './k6-process.ts';

async function stand(t: Test, script: string): Promise<string> {
  const path = join(t.testdir({}), 'k6');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

function start(k6: string, mostMemory?: number) {
  const heard: string[] = [];
  const stop = new AbortController();
  const kill = new AbortController();
  const ended = runK6({
    k6,
    script: 'script.js',
    options: ['--tag', 'a=b'],
    environment: { A_KEY: 'its-value' },
    ...(mostMemory === undefined ? {} : { mostMemory }),
    onLine: (line) => heard.push(line),
    onProblem: (line) => heard.push(`problem: ${line}`),
    stop: stop.signal,
    kill: kill.signal,
  });
  return { heard, ended, stop, kill };
}

const heardOf = async ({ heard }: { heard: readonly string[] }, line: string) => {
  while (!heard.includes(line)) await sleep(20);
};

t.test('of the environment k6 gets what it needs', async (t) => {
  const kept = {
    PATH: '/bin',
    HOME: '/',
    https_proxy: 'http://proxy',
    GOMAXPROCS: '2',
    K6_OUT: 'json',
    OTEL_X: 'y',
  };
  const withheld = {
    DATABASE_PASSWORD: 'x',
    PETSTORE_BAN_KEY: 'y',
    K6_VUS: '3',
    K6_STAGES: '1m:9',
    NODE_OPTIONS: '',
  };
  t.same(environmentForK6({ ...kept, ...withheld }), kept);
});

t.test('options of k6 that replace the load that was paid for are seen', async (t) => {
  for (const option of [
    '--vus',
    '--vus=3',
    '-u',
    '-u3',
    '-i=30',
    '--iterations',
    '-qd',
    '-s',
    '--stage=1m:5',
  ])
    t.equal(otherLoad(['--out', 'web-dashboard', option]), option);
  for (const option of [
    '--out',
    '-oweb-dashboard',
    '--vus-x',
    '-v',
    '--dns=ttl=5m',
    '--tag',
    'duration=x',
    '-e',
  ])
    t.equal(otherLoad([option]), undefined, option);
});

t.test('stop is gentle, kill is not', async (t) => {
  const gentle = start(
    await stand(t, `trap 'echo stopping >&2; exit 105' INT\necho up >&2\nwhile :; do sleep 0.05; done`),
  );
  await heardOf(gentle, 'up');
  gentle.stop.abort();
  t.match(await gentle.ended, { code: 105 });
  t.same(gentle.heard, ['up', 'stopping']);
  const stubborn = start(await stand(t, `trap '' INT\necho up >&2\nwhile :; do sleep 0.05; done`));
  await heardOf(stubborn, 'up');
  stubborn.stop.abort();
  stubborn.kill.abort();
  t.match(await stubborn.ended, { code: null });
  t.same(stubborn.heard, ['up', 'problem: k6 was ended by SIGKILL']);
});

t.test('a k6 that cannot be started is an end too', async (t) => {
  const { heard, ended } = start('/nonexistent/k6');
  t.match(await ended, { code: null });
  t.match(heard, [/^problem: k6 could not be started: .*ENOENT/]);
});

t.test('a k6 that takes memory without end is ended, and it is said why', async (t) => {
  const hoard = 'const all = []; setInterval(() => all.push(Buffer.alloc(2 ** 24, 1)), 5)';
  const k6 = await stand(t, `exec '${process.execPath}' -e '${hoard}'`);
  const { heard, ended } = start(k6, 200 * 2 ** 20);
  const { code, memoryPeakBytes } = await ended;
  t.equal(code, null);
  t.ok((memoryPeakBytes ?? 0) > 200 * 2 ** 20);
  t.match(
    heard[0],
    /^problem: k6 held more than 200 MiB and was ended: does the target send bodies without end\?$/,
  );
});

t.test('processes on one machine share its CPU and memory', async (t) => {
  const usage = { cpuMeanPart: 0.5, memoryPeakBytes: 7 };
  t.same(usedTogether([usage, usage]), { cpuMeanPart: 1, memoryPeakBytes: 14 });
  const unknown = { cpuMeanPart: null, memoryPeakBytes: null };
  t.same(usedTogether([usage, unknown]), usage);
  t.same(usedTogether([unknown]), unknown);
});
