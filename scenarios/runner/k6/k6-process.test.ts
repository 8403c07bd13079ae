/** k6 and its parent: signals, and a parent that dies. A shell script stands in for k6. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startK6 } from './k6-process.ts';

async function stand(t: Test, script: string): Promise<string> {
  const path = join(t.testdir({}), 'k6');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

function start(k6: string, mostMemory?: number) {
  const heard: string[] = [];
  const process = startK6({
    k6,
    script: 'script.js',
    options: ['--tag', 'a=b'],
    environment: { A_KEY: 'its-value' },
    withheld: ['ANOTHER_KEY'],
    ...(mostMemory === undefined ? {} : { mostMemory }),
    onSamples: (line) => heard.push(`samples ${line}`),
    onEvent: (json) => heard.push(`event ${json}`),
    onLog: (level, message) => heard.push(`${level} ${message}`),
  });
  return { heard, process };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

t.test('log lines are told apart, arguments and keys arrive their own way', async (t) => {
  t.intercept(globalThis.process, 'env', {
    value: { ...globalThis.process.env, ANOTHER_KEY: 'not-for-k6' },
  });
  const k6 = await stand(
    t,
    `echo '{"level":"info","msg":"petstore-samples 1,2,3,4"}' >&2
echo '{"level":"info","msg":"petstore-event {}"}' >&2
echo '{"level":"error","msg":"went wrong","error":"here"}' >&2
echo 'plain' >&2
echo "{\\"level\\":\\"info\\",\\"msg\\":\\"$* key=$A_KEY other=$ANOTHER_KEY.\\"}" >&2
exit 99`,
  );
  const { heard, process } = start(k6);
  const { code } = await process.ended;
  t.equal(code, 99);
  t.same(heard.slice(0, 4), ['samples 1,2,3,4', 'event {}', 'error went wrong here', 'plain plain']);
  t.match(heard[4], /^info run .*--tag a=b script\.js key=its-value other=\.$/);
});

t.test('stop is gentle, kill is not', async (t) => {
  const k6 = await stand(
    t,
    `trap 'echo stopping >&2; exit 105' INT\necho up >&2\nwhile :; do sleep 0.05; done`,
  );
  const gentle = start(k6);
  await until(() => gentle.heard.includes('plain up'));
  gentle.process.stop();
  t.match(await gentle.process.ended, { code: 105, signal: null });
  t.ok(gentle.heard.includes('plain stopping'));
  const stubborn = start(await stand(t, `trap '' INT\necho up >&2\nwhile :; do sleep 0.05; done`));
  await until(() => stubborn.heard.includes('plain up'));
  stubborn.process.stop();
  stubborn.process.kill();
  t.match(await stubborn.process.ended, { code: null, signal: 'SIGKILL' });
});

t.test('a k6 that cannot be started is an end too', async (t) => {
  const { heard, process } = start('/nonexistent/k6');
  t.match(await process.ended, { code: 127 });
  t.ok(heard.includes('error k6 could not be started'));
});

t.test('k6 does not survive a parent that is killed', async (t) => {
  const folder = t.testdir({});
  // It writes nothing to a log whose closed pipe would end it.
  const k6 = await stand(t, `echo $$ > ${folder}/pid\ntrap '' INT HUP PIPE\nwhile :; do sleep 0.05; done`);
  const parentScript = join(import.meta.dirname, 'k6-process.ts');
  const source = `
    import { startK6 } from ${JSON.stringify(parentScript)};
    const nothing = () => {};
    startK6({ k6: ${JSON.stringify(k6)}, script: 's', options: [], environment: {},
      onSamples: nothing, onEvent: nothing, onLog: nothing });
    setInterval(nothing, 1000);`;
  const parent = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', source], {
    cwd: import.meta.dirname,
    stdio: 'ignore',
  });
  t.teardown(() => parent.kill('SIGKILL'));
  let pid = 0;
  await until(async () => {
    pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => 0));
    return pid > 0;
  });
  t.ok(isAlive(pid));
  parent.kill('SIGKILL');
  await until(() => !isAlive(pid));
  t.pass('it is gone');
});

t.test(
  'a k6 that takes memory without end is ended, and it is said why',
  { skip: !existsSync('/proc/self/status') && 'the system does not tell' },
  async (t) => {
    const hoard = 'const all = []; setInterval(() => all.push(Buffer.alloc(2 ** 24, 1)), 5)';
    const k6 = await stand(t, `echo up >&2\nexec '${process.execPath}' -e '${hoard}'`);
    const { heard, process: hoarding } = start(k6, 200 * 2 ** 20);
    t.match(await hoarding.ended, { code: null, signal: 'SIGKILL' });
    t.ok(
      heard.includes(
        'error k6 held more than 200 MiB and was ended: does the target send bodies without end?',
      ),
      heard.join('\n'),
    );
  },
);

t.test('what the environment has for other scripts does not change the load', async (t) => {
  process.env['K6_VUS'] = '3';
  t.teardown(() => delete process.env['K6_VUS']);
  const { heard, process: k6 } = start(await stand(t, 'echo "users: $K6_VUS, key: $A_KEY" >&2'));
  await k6.ended;
  t.same(heard, ['plain users: , key: its-value']);
});
