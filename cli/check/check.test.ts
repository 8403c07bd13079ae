import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseJunit } from 'junit2json';
import t from 'tap';
import { Parser } from 'tap-parser';
import { readReport } from '../../reports/read-report.ts';
import { run, testTarget } from '../testing/command.ts';

function reportIn(folder: string) {
  const read = readReport(folder);
  if (!read.ok) throw new Error(read.problem);
  return read.report;
}

t.test('a conforming target: exit code 0, every format on disk, private', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const { code, stdout, stderr } = await run(
    folder,
    ['check', '--profile', profile, '--only', '4,5', '--format', 'human'],
    env,
  );
  t.equal(code, 0, stdout + stderr);
  t.match(stdout, /^✔ Nothing broken: \d+ of \d+ asked for, \d+ skipped \(left out by --only\)\n/);
  const [name = ''] = readdirSync(join(folder, 'petstore-results')).filter((entry) => entry !== 'latest');
  t.match(name, /^\d{4}-\d\d-\d\dT\d{6}Z$/);
  const results = join(folder, 'petstore-results', name);
  t.equal(statSync(results).mode & 0o777, 0o700);
  for (const file of readdirSync(results))
    t.equal(statSync(join(results, file)).mode & 0o077, 0, `${file} is private`);
  const report = reportIn(join(folder, 'petstore-results', 'latest'));
  t.equal(report.verdict, 'conformant');
  t.match(report.run, {
    permissions: ['writes'],
    keys: [{ name: 'free-1' }, { name: 'pro-1' }],
    clockSpeed: 1,
  });
  t.equal(report.run.command, `npx petstore-harness check --profile ${profile} --only 4,5`);
});

t.test(
  'a broken requirement: exit code 1, the clause, what came back, a command that repeats it',
  async (t) => {
    const { folder, profile, env, address } = await testTarget(t, { fault: 'filter-ignored' });
    const args = ['check', '--profile', profile, '--only', '4.1', '--out', 'out'];
    const { code, stdout } = await run(folder, [...args, '--format', 'human'], env);
    t.equal(code, 1, stdout);
    t.match(stdout, /^✘ Not conformant: /);
    t.match(stdout, /✘ list-status-filter \(4\.1\)/);
    t.match(stdout, `-H "Authorization: Bearer $PETSTORE_`);
    t.match(stdout, `${address}/pets?limit=100&status=`);

    const junit = await parseJunit(readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'));
    const cases = (junit && 'testsuite' in junit ? (junit.testsuite ?? []) : []).flatMap(
      ({ testcase }) => testcase ?? [],
    );
    const failed = cases.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
    t.match(failed.join('\n'), /list-status-filter/);
    const broken = reportIn(join(folder, 'out')).requirements.filter(({ verdict }) => verdict === 'fail');
    t.equal(failed.length, broken.length, 'a JUnit reader counts the same failures');

    // Where standard output is no terminal it is TAP.
    const again = await run(folder, args, env);
    t.equal(again.code, 1);
    t.match(again.stderr, /^✘ Not conformant: 1 of /m, 'the summary is beside the TAP');
    const points = Parser.parse(again.stdout).filter(([type]) => type === 'assert');
    t.match(Parser.parse(again.stdout)[0], ['version', 14]);
    const results = points.map(([, result]) => result);
    const notOk = results.filter(
      (result) => typeof result === 'object' && result !== null && 'ok' in result && !result.ok,
    );
    t.match(notOk, [{ name: /^list-status-filter / }]);
  },
);

t.test('what a permission would be needed for is skipped, unless it is required', async (t) => {
  const { folder, profile, env } = await testTarget(t, { permit: [] });
  const args = ['check', '--profile', profile, '--only', 'list-limit-range,add-answers-201'];
  const { code, stdout, stderr } = await run(folder, args, env);
  t.equal(code, 0, stderr);
  t.match(stdout, /^ok \d+ - list-limit-range /m);
  t.match(stdout, /^ok \d+ - add-answers-201 .* # SKIP needs the permission writes/m);
  const required = await run(folder, [...args, '--require', 'writes'], env);
  t.equal(required.code, 3);
  t.match(required.stdout, /^not ok \d+ - add-answers-201 /m);
  const unknown = await run(folder, [...args, '--require', 'wriets'], env);
  t.match(unknown, { code: 2, stderr: /did you mean "writes"/ });
});

t.test('a check that does not apply is skipped, and a run of nothing else is not green', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const { code, stdout } = await run(folder, ['check', '--profile', profile, '--only', 'get-removed'], env);
  t.match(stdout, /^ok \d+ - get-removed .* # SKIP it is not past 2030-12-05/m);
  t.equal(code, 3);
});

t.test('keys from the environment, without a profile', async (t) => {
  const { folder, address, env } = await testTarget(t);
  const [value = ''] = Object.values(env);
  const keys = { PETSTORE_FREE_KEY: value };
  const { code, stdout } = await run(
    folder,
    ['check', '--target', `${address}/`, '--only', 'list-limit-range', '--out', 'o'],
    keys,
  );
  t.equal(code, 0, stdout);
  t.match(reportIn(join(folder, 'o')).run, {
    target: address,
    permissions: [],
    keys: [{ name: 'free-1', roles: ['functional', 'exhaust'] }],
  });
});

t.test(
  'a baseline: listed failures do not gate, others do, and those that pass are to be removed',
  async (t) => {
    const { folder, profile, env } = await testTarget(t, { fault: 'filter-ignored' });
    const check = async (baseline: string) => {
      writeFileSync(join(folder, 'known.yaml'), baseline);
      const args = [
        'check',
        '--profile',
        profile,
        '--only',
        'list-status-filter,list-limit-range',
        '--baseline',
        'known.yaml',
      ];
      return run(folder, [...args, '--out', 'out', '--format', 'human'], env);
    };
    const listed = await check('- { id: list-status-filter, reason: PET-12 }\n');
    t.equal(listed.code, 0, listed.stdout);
    t.match(listed.stdout, /1 known failure/);
    const none = await check('[]\n');
    t.equal(none.code, 1, none.stdout);
    const outdated = await check('# known\n- list-status-filter\n- list-limit-range\n');
    t.equal(outdated.code, 1);
    t.match(outdated.stdout, 'list-limit-range passes now: remove it from the baseline (known.yaml:3)');
    t.equal(reportIn(join(folder, 'out')).verdict, 'not-conformant');
    const wrong = await check('- list-status-filter\n- lst-limit-range\n');
    t.equal(wrong.code, 2);
    t.match(wrong.stderr, /^error: known\.yaml:2:3: .*did you mean "list-limit-range"\?\n$/);
  },
);

t.test('a baseline covers what follows from its entries', async (t) => {
  for (const [fault, known] of [
    ['add-answers-200', 'add-answers-201'],
    ['list-trailing-comma', 'json-well-formed'],
    ['get-gone-already', 'get-until-removal'],
    ['headers-absent-on-200', 'rate-headers-on-200'],
  ] as const) {
    const { folder, profile, env } = await testTarget(t, { fault });
    writeFileSync(join(folder, 'known.yaml'), `- ${known}\n`);
    const args = ['check', '--profile', profile, '--baseline', 'known.yaml', '--format', 'human'];
    const { code, stdout } = await run(folder, args, env);
    t.equal(code, 0, `${fault}: ${stdout}`);
  }
});

t.test(
  '--write-profile pins what was observed; the next run fails where the target answers otherwise',
  async (t) => {
    // Three runs on one key: a Free key would have to wait for its minutes.
    const { folder, profile, env } = await testTarget(t, { keys: ['business-1'] });
    writeFileSync(profile, `# ours\n${readFileSync(profile, 'utf8')}`);
    const first = await run(folder, ['check', '--profile', profile, '--write-profile', 'pinned.yaml'], env);
    t.equal(first.code, 0, first.stderr);
    const pinned = readFileSync(join(folder, 'pinned.yaml'), 'utf8');
    t.match(pinned, /^# ours\n/, 'comments are kept');
    t.match(pinned, /^ {2}limit-out-of-range: rejected-400$/m);
    const kept = await run(folder, ['check', '--profile', 'pinned.yaml', '--out', 'kept'], env);
    t.equal(kept.code, 0, kept.stderr);
    t.ok(reportIn(join(folder, 'kept')).gaps.some(({ verdict }) => verdict === 'kept'));
    writeFileSync(
      join(folder, 'drifted.yaml'),
      pinned.replace('limit-out-of-range: rejected-400', 'limit-out-of-range: clamped'),
    );
    const drifted = await run(folder, ['check', '--profile', 'drifted.yaml'], env);
    t.equal(drifted.code, 1);
    t.match(drifted.stdout, /not ok \d+ - gap limit-out-of-range/);
    t.match(drifted.stdout, /answers rejected-400, the profile pins clamped/);
  },
);

t.test('--rejudge judges a stored run again, without a target and without keys', async (t) => {
  const { folder, profile, env } = await testTarget(t, { fault: 'filter-ignored' });
  const first = await run(folder, ['check', '--profile', profile, '--only', '4', '--out', 'first'], env);
  t.equal(first.code, 1);
  writeFileSync(
    profile,
    readFileSync(profile, 'utf8').replace(/^target: .*$/m, 'target: http://127.0.0.1:1/v1'),
  );
  const again = await run(folder, ['check', '--rejudge', 'first', '--out', 'again']);
  t.equal(again.code, 1, again.stderr);
  const verdicts = (name: string) =>
    reportIn(join(folder, name)).requirements.map(({ id, verdict }) => `${id} ${verdict}`);
  t.same(verdicts('again'), verdicts('first'));
});

t.test('--list: every check with section, level, permission and cost', async (t) => {
  const folder = t.testdir({});
  const { code, stdout } = await run(folder, ['check', '--list']);
  t.equal(code, 0);
  t.match(stdout, /^list-limit-range +4\.1 +MUST +- +\d+/m);
  t.match(stdout, /^rate-day-free +8 +MUST +day +day/m);
  t.match(stdout, /^ban-provoked +8 +MAY +ban +ban/m);
  const bans = await run(folder, ['check', '--list', '--only', 'bans']);
  t.match(bans.stdout, /\n7 checks\./);
});
