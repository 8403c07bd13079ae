import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { answersFrom, onTheWire } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import { startRawServer } from '../../checks/accuracy/hostile/testing/raw-server.ts';
import { checkTarget, JOURNAL_FILE } from '../../checks/check-target.ts';
import { PROFILE_DEFAULTS } from '../../checks/profile/target-profile.ts';
import { readJournal } from '../../checks/run/journal.ts';
import { TOGETHER } from '../../checks/run/sending/key-lane.ts';
import { readReport } from '../../reports/read-report.ts';
import { type Started, start, testTarget } from '../testing/command.ts';

/** A conforming target that says how many requests it has counted, before it answers the last of them. */
async function countingTarget(t: Test, onRequest: (number: number) => void | Promise<void>) {
  const target = await testTarget(t);
  const answer = answersFrom(new URL(target.address).origin);
  let answered = 0;
  const server = await startRawServer({
    async request(connection, request) {
      const text = onTheWire(await answer(request));
      await onRequest(request.number);
      connection.write(text);
      answered += 1;
    },
  });
  t.teardown(() => server.close());
  const address = `http://127.0.0.1:${server.port}/v1`;
  return { ...target, address, requests: server.requests, answered: () => answered };
}

/** As many answers at the most are on their way when a run ends: with each of two keys, and without one. */
const ON_THEIR_WAY = 3 * TOGETHER;

/** Whether what is in a folder can be read, and judged without a network; a run cut short breaks nothing. */
async function isReadable(t: Test, folder: string, env: Readonly<Record<string, string>>): Promise<number> {
  const journal = readJournal(join(folder, JOURNAL_FILE));
  t.ok(journal.ok, JSON.stringify(journal).slice(0, 200));
  if (!journal.ok) return 0;
  const { header, entries } = journal;
  const values = new Map(header.keys.map((name) => [name, Object.values(env)[0] ?? '']));
  const again = await checkTarget({
    profile: {
      target: header.target,
      keys: header.keys.map((name) => ({
        name,
        plan: name === 'pro-1' ? 'pro' : 'free',
        env: 'KEY',
        roles: ['functional'],
        unusedToday: true,
      })),
      ...PROFILE_DEFAULTS,
      permit: header.permissions,
    },
    values,
    permissions: header.permissions,
    resume: journal,
    offline: true,
  });
  if (again.kind === 'checked') {
    const broken = [...again.result.requirements].filter(([, { verdict }]) => verdict === 'fail');
    t.strictSame(broken, [], 'a run that was cut short breaks no requirement');
  }
  return entries.filter((entry) => 'exchange' in entry || 'reading' in entry).length;
}

/** In the look before the run, among additions, among lists, towards the end. */
const MOMENTS = [1, 5, 40, 110];

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  t.test(`${signal} at any moment`, { jobs: 2 }, async (t) => {
    for (const moment of MOMENTS) {
      t.test(`with request ${moment} under way`, async (t) => {
        let started: Started | undefined;
        const { address, folder, env, profile, requests } = await countingTarget(t, (number) => {
          if (number === moment) started?.child.kill(signal);
        });
        started = start(folder, ['check', '--profile', profile, '--target', address, '--out', 'out'], env);
        t.equal(await started.ended, signal === 'SIGINT' ? 130 : null, started.output.stderr);
        t.ok(requests.length < moment + ON_THEIR_WAY, `${requests.length} requests: nothing more is begun`);
        const out = join(folder, 'out');
        const measured = await isReadable(t, out, env);
        // The look before the run sends one request after another.
        const onDisk = moment > 5 ? moment - ON_THEIR_WAY : moment - 1;
        t.ok(measured >= onDisk, `${measured} exchanges are on disk`);
        if (signal === 'SIGINT' && moment > 2) {
          t.match(readReport(out), { ok: true, report: { run: { interrupted: signal } } });
          t.match(started.output.stdout, /^TAP version 14\n/);
        }
        t.strictSame(
          readdirSync(out).filter((name) => /\.\d+$/.test(name)),
          [],
          'nothing half written lies about',
        );
      });
    }
  });
}

/** No file may grow beyond so many blocks of 512 bytes: to the program that is a disk that is full. */
const fullAfter = (blocks: number) => ({
  through: ['sh', '-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`],
});

const BLOCK = 512;

const FULL: readonly {
  readonly what: string;
  /** From the sizes in bytes of what a run leaves that meets no limit. */
  readonly limit: (journal: number, report: number) => number;
  readonly error: RegExp;
  /** Of which section a run leaves more report than journal, or the other way round. */
  readonly section: string;
}[] = [
  {
    what: 'in the middle of the journal',
    section: '4',
    limit: (journal) => journal / 4,
    error: /^error: results cannot be written: EFBIG/,
  },
  {
    what: 'with the report',
    section: '9',
    limit: (journal, report) => (journal + report) / 2,
    error: /^error: results cannot be written: out\/report\.json: could not be written: EFBIG/,
  },
];

for (const { what, section, limit, error } of FULL) {
  t.test(`a disk that is full ${what}`, async (t) => {
    const { address, folder, env, profile } = await countingTarget(t, () => undefined);
    const args = ['check', '--profile', profile, '--target', address, '--only', section, '--out'];
    t.equal(await start(folder, [...args, 'whole'], env).ended, 0);
    const size = (name: string) => statSync(join(folder, 'whole', name)).size;
    const [journal, report] = [size('journal.ndjson'), size('report.json')];
    t.ok(section === '4' || journal * 1.1 < report, 'there is a limit between them');
    const blocks = Math.floor(limit(journal, report) / BLOCK);
    const { ended, output } = start(folder, [...args, 'out'], env, fullAfter(blocks));
    t.equal(await ended, 3);
    t.match(output.stderr, error);
    t.match(output.stderr, /; what was measured so far is in out\n$/);
    t.equal(output.stderr.split('\n').length, 2, 'one line');
    const out = join(folder, 'out');
    t.ok((await isReadable(t, out, env)) > (section === '4' ? 10 : 1));
    t.notOk(existsSync(join(out, 'report.json')), 'a report is whole or not there');
    t.strictSame(readdirSync(out).sort(), ['journal.ndjson', 'profile.yaml']);
  });
}

/** Root may write anywhere, unless this capability is taken away. */
const AS_SOMEBODY = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];

t.test('folders that cannot be written', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  mkdirSync(join(folder, 'read-only'));
  chmodSync(join(folder, 'read-only'), 0o555);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'file'), '');
  const cases: Readonly<Record<string, RegExp>> = {
    'read-only': /^error: results cannot be written to read-only: EACCES/,
    'read-only/out': /^error: results cannot be written to read-only\/out: EACCES/,
    file: /^error: file is not a folder; choose another one with --out/,
    'file/out': /^error: results cannot be written to file\/out: ENOTDIR/,
  };
  for (const [out, error] of Object.entries(cases)) {
    const args = ['check', '--profile', profile, '--out', out];
    const { ended, output } = start(folder, args, env, { through: AS_SOMEBODY });
    t.equal(await ended, 2, out);
    t.match(output.stderr, error);
    t.match(output.stderr, /^error: [^\n]+\n$/);
    t.equal(output.stdout, '');
  }
});

t.test('readers of both streams that go away cost no result', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--only', '4.1'], env);
  started.child.stdout?.destroy();
  started.child.stderr?.destroy();
  t.equal(await started.ended, 0);
  t.match(readReport(join(folder, 'out')), { ok: true, report: { verdict: /^conformant$/ } });
});

/** How long the command takes to begin, which counts towards the time of a run: seconds on a busy machine. */
async function secondsToStart(folder: string): Promise<number> {
  const startedAt = performance.now();
  await start(folder, ['check', '--list']).ended;
  return (performance.now() - startedAt) / 1000;
}

t.test(
  'a target whose every answer takes its time: the run ends when it said, and can be gone on with',
  async (t) => {
    // A dozen answers fit, of more than a hundred.
    const limit = 3 + Math.ceil(4 * (await secondsToStart(t.testdir({}))));
    let slowly = true;
    const { address, folder, env, profile, answered } = await countingTarget(t, async () => {
      if (slowly) await sleep((limit * 1000) / 15);
    });
    const args = ['check', '--profile', profile, '--target', address, '--format', 'human'];
    const startedAt = performance.now();
    const { ended, output } = start(folder, [...args, '--out', 'out', '--time-limit', `${limit}s`], env);
    t.equal(await ended, 3, output.stderr);
    t.ok(performance.now() - startedAt < limit * 1000 + 57_000);
    const over = new RegExp(`the run’s time limit, ${limit} s, was over`);
    t.match(output.stderr, new RegExp(`^warning: ${over.source}; --resume continues the run$`, 'm'));
    const out = join(folder, 'out');
    const read = readReport(out);
    if (!read.ok) throw new Error(read.problem);
    const { run, verdict, requirements } = read.report;
    t.equal(verdict, 'inconclusive');
    t.ok(run.durationSeconds <= limit, `${run.durationSeconds} s`);
    const open = requirements.filter(({ reason }) => over.test(reason));
    t.ok(open.length > 20 && open.every((row) => row.verdict === 'inconclusive'), `${open.length} open`);
    t.strictSame(
      requirements.filter((row) => row.verdict === 'fail'),
      [],
      'want of time breaks nothing',
    );
    t.ok(
      requirements.some((row) => row.verdict === 'pass'),
      'what was measured is judged',
    );
    const measured = await isReadable(t, out, env);
    // With each of two keys so many were under way.
    t.ok(measured >= answered() - 2 * TOGETHER, `${measured} of ${answered()} exchanges are on disk`);

    slowly = false;
    const again = start(folder, ['check', '--resume', 'out', '--format', 'human'], env);
    t.equal(await again.ended, 0, again.output.stderr);
    const whole = readReport(out);
    if (!whole.ok) throw new Error(whole.problem);
    t.strictSame(
      whole.report.requirements.filter(({ reason }) => over.test(reason)),
      [],
      'what was given up is sent again',
    );
  },
);

t.test('a target that drips for as long as it may is not waited for beyond the longest time', async (t) => {
  const server = await startRawServer({
    request(connection) {
      connection.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 150\r\n\r\n');
      const drip = setInterval(() => connection.write(' '), 100);
      void connection.closed.then(() => clearInterval(drip));
    },
  });
  t.teardown(() => server.close());
  const address = `http://127.0.0.1:${server.port}/v1`;
  const folder = t.testdir({});
  const args = ['check', '--target', address, '--format', 'human', '--time-limit', '2s'];
  const { ended, output } = start(folder, args, { PETSTORE_FREE_KEY: 'some-key-or-other' });
  t.equal(await ended, 4);
  t.equal(output.stderr, 'error: the run’s time limit, 2 s, was over before anything was judged\n');
});

t.test('a request under way when the run was interrupted is sent again when it goes on', async (t) => {
  let started: Started | undefined;
  const { address, folder, env, profile } = await countingTarget(t, async (number) => {
    if (number !== 40) return;
    started?.child.kill('SIGINT');
    await sleep(1000);
  });
  const args = ['check', '--profile', profile, '--target', address, '--out', 'out'];
  started = start(folder, args, env);
  t.equal(await started.ended, 130, started.output.stderr);
  const again = start(folder, ['check', '--resume', 'out'], env);
  t.equal(await again.ended, 0, again.output.stderr);
  const read = readReport(join(folder, 'out'));
  if (!read.ok) throw new Error(read.problem);
  t.strictSame(
    read.report.requirements.filter(({ verdict }) => verdict === 'inconclusive'),
    [],
  );
});
