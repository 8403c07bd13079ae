import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { readReport } from '../../reports/read-report.ts';
import { run, shows, start, testTarget } from '../testing/command.ts';

/** A Free key alone runs out of its minute: the run waits, and a signal finds it there. */
const WAITING = /^waiting \d:\d\d for the next window of key free-1$/m;

/** Resolves when a journal has come to hold so many exchanges. */
async function journalHolds(file: string, exchanges: number): Promise<void> {
  const count = () =>
    existsSync(file) ? (readFileSync(file, 'utf8').match(/^\{"(?:exchange|reading)":/gm)?.length ?? 0) : 0;
  while (count() < exchanges) await sleep(5);
}

function verdicts(folder: string): Readonly<Record<string, string>> {
  const read = readReport(folder);
  if (!read.ok) throw new Error(read.problem);
  return Object.fromEntries(read.report.requirements.map(({ id, verdict }) => [id, verdict]));
}

/**
 * The verdicts that a run came to. What it left open, the next may see: the request that a kill cuts off is one that the
 * target has counted and the run has not, so that another one may be refused.
 */
const settled = (all: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(all).filter(([, verdict]) => verdict !== 'inconclusive'));

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(
    `${signal} in the middle: what was measured is written, exit code 130, and --resume goes on`,
    async (t) => {
      const { folder, profile, env } = await testTarget(t, { keys: ['free-1'] });
      const started = start(
        folder,
        ['check', '--profile', profile, '--out', 'out', '--format', 'human'],
        env,
      );
      await shows(started, 'stderr', WAITING);
      started.child.kill(signal);
      t.equal(await started.ended, 130);
      t.match(started.output.stderr, /stopping and saving what was measured/);
      t.match(started.output.stdout, `ended early: ${signal}`);
      const read = readReport(join(folder, 'out'));
      t.match(read, { ok: true, report: { run: { interrupted: signal } } });
      if (!read.ok) return;
      t.ok(read.report.requirements.some(({ verdict }) => verdict === 'pass'));
      t.notOk(
        read.report.requirements.some(({ verdict }) => verdict === 'fail'),
        'an interruption breaks no requirement',
      );
      t.notMatch(read.report.verdict, 'conformant');

      const again = start(folder, ['check', '--resume', 'out', '--format', 'human'], env);
      await shows(again, 'stderr', WAITING);
      again.child.kill('SIGKILL');
      await again.ended;
      const ids = readFileSync(join(folder, 'out', 'journal.ndjson'), 'utf8')
        .split('\n')
        .flatMap((line) => /^\{"(?:exchange|reading)":\{"id":"([^"]+)"/.exec(line)?.[1] ?? []);
      t.ok(ids.length > 0);
      t.equal(new Set(ids).size, ids.length, 'no request was sent twice');
    },
  );
}

t.test(
  'killed without a word, a run goes on to the verdict of one that was not, and is judged again to it',
  async (t) => {
    const { folder, profile, env } = await testTarget(t, { keys: ['free-1'], clockSpeed: 20 });
    const untouched = await run(folder, ['check', '--profile', profile, '--out', 'untouched'], env);
    const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--format', 'human'], env);
    await journalHolds(join(folder, 'out', 'journal.ndjson'), 70);
    started.child.kill('SIGKILL');
    await started.ended;
    t.equal(existsSync(join(folder, 'out', 'report.json')), false);
    const anew = await run(folder, ['check', '--profile', profile, '--out', 'out'], env);
    t.match(anew, { code: 2, stderr: /out holds an unfinished run: continue it with --resume out/ });

    const resumed = await run(folder, ['check', '--resume', 'out'], env);
    t.equal(resumed.code, untouched.code, resumed.stderr);
    t.match(verdicts(join(folder, 'out')), settled(verdicts(join(folder, 'untouched'))));
    const rejudged = await run(folder, ['check', '--rejudge', 'out', '--out', 'again']);
    t.equal(rejudged.code, untouched.code, rejudged.stderr);
    t.strictSame(verdicts(join(folder, 'again')), verdicts(join(folder, 'out')));
  },
);

t.test('interrupted before anything was judged', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const folder = t.testdir({});
  const started = start(folder, ['check', '--target', `http://127.0.0.1:${port}/v1`], {
    PETSTORE_FREE_KEY: 'some-key-or-other',
  });
  await once(server, 'request');
  started.child.kill('SIGINT');
  t.equal(await started.ended, 130);
  t.match(
    started.output.stderr,
    /interrupted by SIGINT before anything was judged; what was exchanged so far is in petstore-results/,
  );
  t.match(started.output.stdout, /^TAP version 14\nBail out! /);
});

t.test('a second signal ends at once', async (t) => {
  const { folder, profile, env } = await testTarget(t, { keys: ['free-1'] });
  const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--format', 'human'], env);
  await shows(started, 'stderr', WAITING);
  started.child.kill('SIGINT');
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 130);
});

t.test('a reader that goes away (| head) costs no result', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const started = start(folder, ['check', '--profile', profile, '--out', 'out', '--only', '4'], env);
  started.child.stdout?.destroy();
  const [code] = await once(started.child, 'exit');
  t.equal(code, 0, started.output.stderr);
  t.ok(existsSync(join(folder, 'out', 'report.html')));
  t.match(started.output.stderr, /^✔ Nothing broken: /);
});

t.test('a stored run is gone on with as it was begun', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  await run(folder, ['check', '--profile', profile, '--out', 'out', '--only', 'list-limit-range'], env);
  const more = await run(folder, ['check', '--resume', 'out', '--permit', 'ban'], env);
  t.match(more, { code: 2, stderr: /the stored run was not permitted ban: start a new one for that/ });
  const elsewhere = await run(folder, ['check', '--resume', 'out', '--target', 'http://127.0.0.1:9/v1'], env);
  t.match(elsewhere, {
    code: 2,
    stderr:
      /out\/journal\.ndjson:1: the stored run checked .*, and --target names http:\/\/127\.0\.0\.1:9\/v1/,
  });
  const same = await run(folder, ['check', '--resume', 'out'], env);
  t.equal(same.code, 0, same.stderr);
});
