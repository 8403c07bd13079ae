import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readReport } from '../reports/read-report.ts';
import { run, shows, start, testTarget } from './command-for-tests.ts';

/** A Free key alone runs out of its minute: the run waits, and a signal finds it there. */
const WAITING = /^waiting \d:\d\d for the next window of key free-1$/m;

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
      t.match(started.output.stderr, /stopping, and writing down what was measured/);
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
        .flatMap((line) => /^\{"id":"([^"]+)"/.exec(line)?.[1] ?? []);
      t.ok(ids.length > 0);
      t.equal(new Set(ids).size, ids.length, 'no request was sent twice');
    },
  );
}

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
  t.equal(started.output.stderr, '');
});

t.test('a stored run is gone on with as it was begun', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  await run(folder, ['check', '--profile', profile, '--out', 'out', '--only', 'list-limit-range'], env);
  const more = await run(folder, ['check', '--resume', 'out', '--permit', 'ban'], env);
  t.match(more, { code: 2, stderr: /the stored run was not permitted ban: start a new one for that/ });
  const elsewhere = await run(folder, ['check', '--resume', 'out', '--target', 'http://127.0.0.1:9/v1'], env);
  t.match(elsewhere, { code: 2, stderr: /the stored run checked .*, not http:\/\/127\.0\.0\.1:9\/v1/ });
  const same = await run(folder, ['check', '--resume', 'out'], env);
  t.equal(same.code, 0, same.stderr);
});
