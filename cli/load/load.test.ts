import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { runHere } from '../testing/in-process.ts';
import { progressLine } from './load.ts';
import { runLoad, skip } from './testing/measured-load.ts';

t.test('a load, a comparison and a merge as a user runs them', { skip }, async (t) => {
  const folder = t.testdir({});
  const load = await runLoad(folder, ['smoke', '--rate', '20', '--duration', '2s', '--out', 'one']);
  t.equal(load.code, 0, load.stderr);
  t.match(load.stdout, /\nHeld: 3 thresholds\n$/);
  t.match(readFileSync(join(folder, 'one', 'k6-dashboard.html'), 'utf8'), /^<!doctype html>/i);
  t.match(load.stderr, /\nreport: one\/report\.html\n$/);
  const page = join(folder, 'one', 'report.html');
  t.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*Held: 3 thresholds/i);
  t.equal(statSync(page).mode & 0o777, 0o600);
  const text = (file: string) => readFileSync(join(folder, 'one', file), 'utf8');
  t.match(text('junit.xml'), /<testsuites [\s\S]*<testcase name="[^"]*errors==0/);
  t.match(text('results.tap'), /^TAP version 14\n[\s\S]*ok \d - threshold errors==0/);
  t.match(text('summary.md'), /^## ✅ load smoke: Held: 3 thresholds\n/);
  t.match(JSON.parse(text('results.sarif')), { version: '2.1.0' });
  t.match(JSON.parse(text('badge.json')), { schemaVersion: 1, label: 'load smoke' });

  const same = await runHere(folder, ['compare', 'one', 'one']);
  const twice = await runHere(folder, ['merge', 'one', 'one', '--out', 'both']);
  const merged = await runHere(folder, ['merge', 'one', '--slo', 'p99<10s', '--out', 'merged']);
  t.match(twice, { code: 2, stderr: /^error: two of the results are the same part of one run/ });
  t.equal(same.code, 3, 'two seconds are too short to tell anything');
  t.match(same.stdout, /not compared: listPets: \d and \d time blocks, 6 are needed/);
  t.match(same.stdout, /\nCANNOT TELL: /);
  t.equal(merged.code, 0, merged.stderr);
  t.match(readFileSync(join(folder, 'merged', 'report.html'), 'utf8'), 'Held: 1 threshold');
  t.match(readFileSync(join(folder, 'merged', 'junit.xml'), 'utf8'), 'p99&lt;10s');
  mkdirSync(join(folder, 'full', 'load-report.json'), { recursive: true });
  const unwritten = await runHere(folder, ['merge', 'one', '--out', 'full']);
  t.match(unwritten, {
    code: 2,
    stdout: /\nHeld: 3 thresholds\n$/,
    stderr: /rename .*load-report\.json'\)\n$/,
  });
});

t.test('what is not said as it should be: exit code 2 and a remedy', async (t) => {
  const wrong = [
    [[], /^error: which scenario\? Known: smoke, /],
    [['smoke', '--rate', ' '], /It must be a number from 0/],
    [
      ['smoke', '--slo', 'x'.repeat(10_000)],
      /^error: cannot read\s+"x{60}…" \(10,000\s+characters\): write p99/,
    ],
    [
      ['smoke', '--shards', '64', '--dry-run'],
      /^error: 64 shards need 64 load keys, one each; there are \d\n$/,
    ],
  ] as const;
  for (const [args, words] of wrong) {
    const { code, stdout, stderr } = await runHere(t.testdir({}), ['load', ...args]);
    t.equal(code, 2, args.join(' '));
    t.equal(stdout, '');
    t.match(stderr, words);
    t.match(stderr, /^(error: .+\n)+$/);
  }
});

t.test('a search that the day ends tells how far it came, and what each step showed', { skip }, async (t) => {
  const enterprise = { perMinute: 1000, perDay: 200 };
  const server = await startReferenceServer({ enterprise });
  t.teardown(() => server.close());
  const folder = t.testdir({
    o: { 'k6-dashboard.html': 'of an earlier load', 'load-report.json': '{}' },
    'p.yaml': `target: ${server.baseUrl}
keys: [{ name: k, plan: enterprise, env: LOAD_KEY, roles: [load] }]
plans: { enterprise: { perMinute: 1000, perDay: 200 } }
load: { allowed: true }
`,
  });
  const LOAD_KEY = server.keys.find(({ plan }) => plan === 'enterprise')?.value ?? '';
  const { code, stdout, stderr } = await runLoad(folder, ['capacity', '--profile', 'p.yaml', '--out', 'o'], {
    LOAD_KEY,
  });
  t.equal(code, 0, stderr);
  t.notMatch(readdirSync(join(folder, 'o')), /dashboard|load-report/);
  t.match(stderr, /^ +20\.0\/s {2}✓ p50 .*\n +40\.0\/s {2}✓ p50 /m);
  t.match(stdout, /At least /);
  const { outcome, atLeast, steps } = JSON.parse(readFileSync(join(folder, 'o', 'capacity.json'), 'utf8'));
  t.match({ outcome, atLeast }, { outcome: 'quota-limited', atLeast: 40 });
  for (const { rate, requests, held, p50, p99, errorPart } of steps) {
    t.ok(held && Math.abs(requests - 3 * rate) <= 1, `${requests} requests at ${rate}/s`);
    t.ok(0 < p50 && p50 <= p99 && errorPart === 0, `${p50} and ${p99} ms`);
  }
});

t.test('how far a load came is told in a line', async (t) => {
  const figures = (requests: number) => ({
    ...{ requests, errors: requests / 5, violations: 0 },
    latency: (percentile: number) => percentile / 3,
  });
  for (const [seconds, requests, line] of [
    [61.5, 5, '  62 s: 5,000 of at most 9,000 requests, 1.7/s, p95 31.7 ms, 1,000 errors'],
    [2, 5, '  2 s: 5,000 of at most 9,000 requests, 2.5/s, p95 31.7 ms, 1,000 errors'],
    [61.5, 0, '  62 s: 5,000 of at most 9,000 requests, 0.0/s, p95 –, 1,000 errors'],
  ] as const)
    t.equal(progressLine(9_000, seconds, figures(5_000), figures(requests)), line);
});

t.test('an option that k6 does not know', { skip }, async (t) => {
  const { code, stderr } = await runLoad(t.testdir({}), ['smoke', '--duration', '1s', '--', '--nonsense']);
  t.equal(code, 2, stderr);
  t.match(stderr, /unknown flag: --nonsense/);
  t.match(stderr, /\nerror: k6 rejects the options after "--"; .*k6 run --help\n$/);
});
