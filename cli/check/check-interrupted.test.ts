/** A run that does not come to its end keeps what it measured, and goes on from there. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { answersFrom, onTheWire } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import { startRawServer } from '../../checks/accuracy/hostile/testing/raw-server.ts';
import { readReport } from '../../reports/report.ts';
import { run, type Started, shows, start } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';
import { testTarget } from '../testing/test-target.ts';

/** A conforming target with a plan that makes no run wait, which tells of each request before it answers. */
async function tellingTarget(t: Test, onRequest: () => void | Promise<void>) {
  const target = await testTarget(t, { keys: ['business-1'] });
  const answer = answersFrom(new URL(target.address).origin);
  const server = await startRawServer({
    async request(connection, request) {
      const text = onTheWire(await answer(request));
      await onRequest();
      connection.write(text);
    },
  });
  t.teardown(() => server.close());
  return { ...target, address: `http://127.0.0.1:${server.port}/v1` };
}

function rowsIn(folder: string) {
  return readReport(folder).requirements;
}

const verdicts = (folder: string) => rowsIn(folder).map(({ id, verdict }) => `${id} ${verdict}`);
/** What a run that was left alone says, and how many requests it took. */
let untouched: { readonly verdicts: readonly string[]; readonly requests: number } | undefined;

const STOPPED = /stopping and saving what was measured; repeat the signal to end at once\n/;

for (const { what, signal, moment, code, stderr = /^/, stdout = /^/ } of [
  {
    what: 'interrupted before anything is judged',
    signal: 'SIGINT',
    moment: 1,
    code: 130,
    stderr:
      /error: interrupted by SIGINT before anything was judged; what was exchanged so far is in out\/journal\.ndjson\n$/,
    stdout: /^TAP version 14\nBail out! /,
  },
  {
    what: 'interrupted among additions',
    signal: 'SIGTERM',
    moment: 40,
    code: 130,
    stderr: STOPPED,
    stdout: /^TAP version 14\n/,
  },
  { what: 'killed among additions', signal: 'SIGKILL', moment: 40, code: null },
] as const) {
  t.test(`a run that is ${what} goes on to the verdict of one that was not`, async (t) => {
    let started: Started | undefined;
    let requests = 0;
    const { address, folder, env, profile } = await tellingTarget(t, () => {
      requests += 1;
      if (started === undefined || requests !== moment) return undefined;
      started.child.kill(signal);
      // What is under way is given up.
      return signal === 'SIGKILL' ? undefined : new Promise(() => {});
    });
    const args = ['check', '--profile', profile, '--target', address, '--out'];
    if (untouched === undefined) {
      t.equal((await runHere(folder, [...args, 'untouched'], env)).code, 0);
      untouched = { verdicts: verdicts(join(folder, 'untouched')), requests };
      requests = 0;
    }
    started = start(folder, [...args, 'out'], env);
    t.equal(await started.ended, code, started.output.stderr);
    t.match(started.output, { stderr, stdout });
    const out = join(folder, 'out');
    if (code === 130 && moment > 1) {
      t.match(readReport(out), { run: { interrupted: signal } });
      t.ok(rowsIn(out).some(({ verdict }) => verdict === 'pass'));
      t.match(started.output.stderr, /^ {2}npx petstore-harness check --resume out$/m);
      t.strictSame(
        rowsIn(out).filter(({ verdict }) => verdict === 'fail'),
        [],
        'an interruption breaks no requirement',
      );
    }
    t.strictSame(
      readdirSync(out).filter((name) => /\.tmp$/.test(name) || (name === 'in-use' && code === 130)),
      [],
      'nothing half written lies about',
    );
    const resumed = await runHere(folder, ['check', '--resume', 'out'], env);
    t.equal(resumed.code, 0, resumed.stderr);
    t.strictSame(verdicts(out), untouched.verdicts);
    t.ok(
      requests <= untouched.requests + 25,
      `${requests} requests, ${untouched.requests} without the interruption`,
    );
    if (signal !== 'SIGKILL') return;
    const again = await runHere(folder, ['check', '--rejudge', 'out', '--out', 'again']);
    t.equal(again.code, 0, again.stderr);
    t.strictSame(verdicts(join(folder, 'again')), verdicts(out));
  });
}

t.test('a run that waits is interrupted at once; a second signal leaves it no time', async (t) => {
  // A Free key alone runs out of its minute, which is a real one.
  const { folder, profile, env } = await testTarget(t, { keys: ['free-1'], clockSpeed: 1 });
  const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--format', 'human'], env);
  await shows(started, 'stderr', /\d:\d\d for the next window of key free-1\n/);
  t.match(await runHere(folder, ['check', '--resume', 'out'], env), {
    code: 2,
    stderr: /^error: out is in use by process/,
  });
  started.child.kill('SIGINT');
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 130);
});

t.test('a target that no longer answers is not waited for beyond the time limit', async (t) => {
  let requests = 0;
  let isGone = true;
  const { address, folder, env, profile } = await tellingTarget(t, () => {
    requests += 1;
    return isGone && requests > 60 ? new Promise(() => {}) : undefined;
  });
  const args = ['check', '--profile', profile, '--target', address, '--out', 'out', '--format', 'human'];
  const { code, stderr } = await run(folder, [...args, '--time-limit', '12s'], env);
  t.equal(code, 3, stderr);
  t.match(stderr, /^warning: the run’s time limit, 12 s, was over; --resume continues the run$/m);
  t.ok(
    rowsIn(join(folder, 'out')).some(({ verdict }) => verdict === 'pass'),
    'what was measured is judged',
  );
  isGone = false;
  const again = await runHere(folder, ['check', '--resume', 'out', '--format', 'human'], env);
  t.equal(again.code, 0, again.stderr);
});

/** No file may grow beyond so many blocks of 512 bytes: to the program that is a disk that is full. */
const fullAfter = (bytes: number) => ({
  through: ['sh', '-c', `trap '' XFSZ; ulimit -f ${Math.floor(bytes / 512)}; exec "$0" "$@"`],
});

t.test('a disk that is full: one line, what is written is whole, and the run goes on later', async (t) => {
  const { folder, env, profile } = await testTarget(t, { keys: ['business-1'] });
  const args = ['check', '--profile', profile, '--only', '9', '--out'];
  t.equal((await runHere(folder, [...args, 'whole'], env)).code, 0);
  const size = (name: string) => statSync(join(folder, 'whole', name)).size;
  const [journal, report] = [size('journal.ndjson'), size('report.json')];
  t.ok(journal * 1.1 < report, 'there is a limit between them');
  for (const [what, bytes] of [
    ['in the journal', journal / 2],
    ['with the report', (journal + report) / 2],
  ] as const) {
    const out = join(folder, what);
    const { code, stderr } = await run(folder, [...args, what], env, fullAfter(bytes));
    t.equal(code, 3, what);
    t.match(stderr, /^error: the run cannot go on: .*file too large.*; what was measured so far is in .*\n$/);
    t.strictSame(
      readdirSync(out).sort(),
      ['journal.ndjson', 'profile.yaml'],
      'a report is whole or not there',
    );
    t.equal((await runHere(folder, ['check', '--resume', what], env)).code, 0);
  }
});

t.test('too few open files are one line', async (t) => {
  const { folder, env, profile } = await testTarget(t);
  const through = ['sh', '-c', 'ulimit -n 40; exec "$0" "$@"'];
  const { code, stderr } = await run(
    folder,
    ['check', '--profile', profile, '--permit', 'exhaust', '--out', 'out'],
    env,
    { through },
  );
  t.match(stderr, /too many open files/);
  t.equal(code, 3, stderr);
});

t.test('readers of both streams that go away cost no result', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--only', '4.1'], env);
  started.child.stdout.destroy();
  started.child.stderr.destroy();
  t.equal(await started.ended, 0);
  t.ok(existsSync(join(folder, 'out', 'report.html')));
});

t.test('a folder that is removed during the run is told', async (t) => {
  let started: Started | undefined;
  let requests = 0;
  const { address, folder, env, profile } = await tellingTarget(t, () => {
    requests += 1;
    if (requests === 10) rmSync(join(folder, 'out'), { recursive: true });
    if (requests === 20) started?.child.kill('SIGINT');
  });
  started = start(folder, ['check', '--profile', profile, '--target', address, '--out', 'out'], env);
  t.equal(await started.ended, 130);
  t.match(started.output.stderr, /^warning: out was removed during the run: its journal is lost/m);
  t.notMatch(started.output.stderr, '--resume', 'nor is it said to be continued');
});

t.test(
  'a defect of the harness has an exit code of its own, one line, and its details without keys',
  async (t) => {
    const { folder, profile, env } = await testTarget(t, { keys: ['free-1'] });
    const defect = `import { existsSync } from 'node:fs';
    setInterval(() => { if (existsSync('out/in-use')) throw new TypeError('boom ' + process.env.PETSTORE_FREE_1_KEY); }, 1).unref();`;
    const node = [`--import=data:text/javascript,${encodeURIComponent(defect)}`];
    const { code, stderr } = await run(folder, ['check', '--profile', profile, '--out', 'out'], env, {
      node,
    });
    t.equal(code, 70);
    t.match(
      stderr,
      /^error: petstore-harness itself failed, which says nothing about the target: boom \[key redacted\]\npetstore-harness \d+\.\d+\.\d+, Node v\d+[\s\S]*TypeError: boom \[key redacted\]\n {4}at /m,
    );
  },
);
