/** What a run against a target ends with: exit code, what it says, what is on disk. */
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { parse as parseJunit } from 'junit2json';
import t, { type Test } from 'tap';
import { FORMATS } from '../../reports/formats.ts';
import { readReport } from '../../reports/report.ts';
import { run } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';
import { type TestTargetOptions, testTarget } from '../testing/test-target.ts';
import { resultsFolder } from './check-folder.ts';

interface Row extends TestTargetOptions {
  readonly args: readonly string[];
  /** A file, known.yaml. */
  readonly known?: string;
  readonly code: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
  /** Variables beside those of the keys. */
  readonly more?: Readonly<Record<string, string>>;
}

const BASELINE = [
  '--only',
  'list-status-filter,list-limit-range',
  '--baseline',
  'known.yaml',
  '--format',
  'human',
];
const WRITES = ['--only', 'list-limit-range,add-answers-201'];

const ROWS: Readonly<Record<string, Row>> = {
  'a broken requirement in TAP, the summary beside it': {
    args: ['--only', '4.1'],
    fault: 'filter-ignored',
    code: 1,
    stdout: /^TAP version 14\n[\s\S]*^not ok \d+ - list-status-filter /m,
    stderr: /^✘ Not conformant: 1 of /m,
  },
  'what needs a permission is skipped': {
    args: WRITES,
    permit: [],
    code: 0,
    stdout: /^ok \d+ - add-answers-201 .* # SKIP needs the permission writes/m,
  },
  'unless it is required': {
    args: [...WRITES, '--require', 'writes'],
    permit: [],
    code: 3,
    stdout: /^not ok \d+ - add-answers-201 /m,
  },
  'what was asked for binds nobody yet': {
    args: ['--only', 'get-removed'],
    code: 0,
    stdout: /^ok \d+ - get-removed .* # SKIP it is not past 2030-12-05/m,
    stderr: /^. Nothing broken: 1 not applicable, \d+ skipped/m,
  },
  'a known failure': {
    args: BASELINE,
    known: '- { id: list-status-filter, reason: PET-12 }\n',
    fault: 'filter-ignored',
    code: 0,
    stdout: /1 covered by the baseline/,
  },
  'a failure that is not known': { args: BASELINE, known: '[]\n', fault: 'filter-ignored', code: 1 },
  'a known failure that passes': {
    args: BASELINE,
    known: '# known\n- list-status-filter\n- list-limit-range\n',
    fault: 'filter-ignored',
    code: 3,
    stdout: /^\? Inconclusive: delete list-limit-range from the baseline \(known\.yaml:3\), it passes now/,
  },
  ...Object.fromEntries(
    [
      ['add-answers-200', 'add-answers-201'],
      ['list-trailing-comma', 'json-well-formed'],
      ['get-gone-already', 'get-until-removal'],
      ['headers-absent-on-200', 'rate-headers-on-200'],
    ].map(([fault = '', id]) => [
      `what follows from the known failure ${id}`,
      { args: ['--baseline', 'known.yaml'], known: `- ${id}\n`, fault, code: 0 },
    ]),
  ),
};

t.test('a run', async (t) => {
  for (const [name, { args, known, code, stdout = /^/, stderr = /^/, ...options }] of Object.entries(ROWS)) {
    t.test(name, async (t) => {
      const { folder, profile, env } = await testTarget(t, options);
      if (known !== undefined) writeFileSync(join(folder, 'known.yaml'), known);
      const words = ['check', '--profile', profile, '--out', 'out', ...args];
      t.match(await runHere(folder, words, env), { code, stdout, stderr });
      if (code !== 1 || known !== undefined) return;
      const junit = await parseJunit(readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'));
      const suites = junit && 'testsuite' in junit ? (junit.testsuite ?? []) : [];
      const failed = suites.flatMap(({ testcase }) => testcase ?? []).filter(({ failure }) => failure);
      const broken = readReport(join(folder, 'out')).requirements.filter(({ verdict }) => verdict === 'fail');
      t.equal(failed.length, broken.length, 'a JUnit reader counts the same failures');
    });
  }
});

t.test('standard output that is full', async (t) => {
  const { folder, profile, env } = await testTarget(t);
  const words = ['check', '--profile', profile, '--out', 'out', '--only', 'list-limit-range'];
  const through = ['sh', '-c', 'exec "$0" "$@" >/dev/full'];
  t.match(await run(folder, words, env, { through }), {
    code: 3,
    stderr: /^error: the output cannot be written: no space left on device\n(?!error)/m,
  });
});

t.test('runs that begin in the same second have a folder each', async (t) => {
  const before = process.cwd();
  t.teardown(() => process.chdir(before));
  process.chdir(t.testdir());
  const folders = [1, 2, 3].map(() => resultsFolder(undefined));
  t.equal(new Set(await Promise.all(folders)).size, 3);
});

t.test(
  'without --out: every format in a folder of its own, private; the keys from the environment',
  async (t) => {
    const { folder, address, env } = await testTarget(t);
    const [value = ''] = Object.values(env);
    const args = ['check', '--target', `${address}/`, '--only', '4', '--format', 'human'];
    const { code, stdout } = await run(folder, args, { PETSTORE_FREE_KEY: value });
    t.equal(code, 0, stdout);
    t.match(stdout, /^✔ Nothing broken: \d+ of \d+ asked for, \d+ skipped/);
    const [name = ''] = readdirSync(join(folder, 'petstore-results')).filter((entry) => entry !== 'latest');
    t.match(name, /^\d{4}-\d\d-\d\dT\d{6}Z-\w{6}$/);
    const results = join(folder, 'petstore-results', name);
    t.equal(statSync(results).mode & 0o777, 0o700);
    const formats = Object.values(FORMATS).flatMap(({ file, written }) => (written ? [file] : []));
    const kept = ['journal.ndjson', 'profile.yaml', 'report.json'];
    t.strictSame(readdirSync(results).sort(), [...formats, ...kept].sort());
    for (const file of readdirSync(results)) t.equal(statSync(join(results, file)).mode & 0o077, 0, file);
    t.match(readReport(join(folder, 'petstore-results', 'latest')).run, {
      target: address,
      permissions: [],
      keys: [{ name: 'free-1', roles: ['functional', 'exhaust'] }],
      command: `npx petstore-harness check --target ${address}/ --only 4`,
    });
  },
);

t.test(
  'a stored run is rejudged without a target and without keys; what is odd about it is told',
  async (t) => {
    const { folder, profile, env } = await testTarget(t, { fault: 'filter-ignored' });
    const first = await runHere(
      folder,
      ['check', '--profile', profile, '--only', '4', '--out', 'runs/first'],
      env,
    );
    t.equal(first.code, 1, first.stderr);
    appendFileSync(join(folder, 'runs', 'first', 'journal.ndjson'), 'x\n');
    const again = await runHere(folder, ['check', '--rejudge', 'runs/first', '--out', 'again']);
    t.equal(again.code, 1, again.stderr);
    t.match(
      again.stderr,
      /^warning: runs\/first\/journal\.ndjson:\d+: damaged; what was written from here on is not known$/m,
    );
    const verdicts = (name: string) =>
      readReport(join(folder, name)).requirements.map(({ id, verdict }) => `${id} ${verdict}`);
    t.same(verdicts('again'), verdicts('runs/first'));
  },
);

t.test('--write-profile pins what was observed; another answer then fails the run', async (t) => {
  // Three runs on one key: a Free key would have to wait for its minutes.
  const { folder, profile, env } = await testTarget(t, { keys: ['business-1'] });
  writeFileSync(profile, `# ours\n${readFileSync(profile, 'utf8')}`);
  const check = (file: string, ...more: readonly string[]) =>
    runHere(folder, ['check', '--profile', file, '--out', `of ${basename(file)}`, ...more], env);
  const first = await check(profile, '--write-profile', 'pinned.yaml');
  t.equal(first.code, 0, first.stderr);
  const pinned = readFileSync(join(folder, 'pinned.yaml'), 'utf8');
  t.match(pinned, /^# ours\n[\s\S]*^ {2}limit-out-of-range: rejected-400$/m, 'comments are kept');
  t.equal((await check('pinned.yaml')).code, 0);
  t.ok(readReport(join(folder, 'of pinned.yaml')).gaps.some(({ verdict }) => verdict === 'kept'));
  writeFileSync(join(folder, 'drifted.yaml'), pinned.replace('rejected-400', 'clamped'));
  const drifted = await check('drifted.yaml');
  t.match(drifted, { code: 1, stdout: /not ok \d+ - gap limit-out-of-range/ });
  t.match(drifted.stdout, /answers rejected-400, the profile pins clamped/);
});

async function listening(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const NOTHING_TO_JUDGE: Readonly<Record<string, readonly [(t: Test) => Promise<string>, RegExp]>> = {
  'nothing listens': [
    async () => 'http://127.0.0.1:9/v1',
    /cannot be reached: the connection was refused: nothing listens at this address \(ECONNREFUSED\); start the service, or correct the port of the address$/m,
  ],
  'a page that is not the service': [
    (t) =>
      listening(t, (_request, response) => response.setHeader('content-type', 'text/html').end('<title>')),
    /is not the Pet Store Service: GET \/pets answers/,
  ],
  'a key that the target does not know': [
    async (t) => (await testTarget(t)).address,
    /the target answers 401 to key free-1 \(is the value of PETSTORE_FREE_KEY right\?\)/,
  ],
};

for (const [name, [start, message]] of Object.entries(NOTHING_TO_JUDGE)) {
  t.test(`${name}: exit code 4, and no requirement blamed`, async (t) => {
    const address = await start(t);
    const folder = t.testdir({});
    const env = { PETSTORE_FREE_KEY: 'not-a-key-of-anybody' };
    const { code, stdout, stderr } = await runHere(
      folder,
      ['check', '--target', address, '--out', 'out'],
      env,
    );
    t.equal(code, 4);
    t.match(stderr, message);
    t.match(stderr, /^error: .+\n$/);
    t.match(stdout, /^TAP version 14\nBail out! .+\n$/);
    t.match(readReport(join(folder, 'out')), {
      verdict: 'inconclusive',
      complete: false,
      problems: [String],
    });
    t.match(
      readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'),
      /<(error|failure) /,
      'every format says so',
    );
    const init = await runHere(folder, ['init', '--target', address], env);
    const refused = name !== 'nothing listens';
    t.equal(init.code, refused ? 4 : 0, init.stderr);
    t.match(refused ? init.stderr : init.stdout, message);
    t.equal(
      readdirSync(folder).includes('petstore-profile.yaml'),
      !refused,
      'a profile of nothing is not written',
    );
  });
}

t.test('init: a profile with which the target is checked as it stands', async (t) => {
  const { folder, address, env } = await testTarget(t, { keys: ['free-1', 'free-ban', 'pro-1'] });
  writeFileSync(
    join(folder, 'keys.env'),
    Object.entries(env)
      .map(([name, value]) => `export ${name}='${value}'\n`)
      .join(''),
  );
  const keys = [
    '--key',
    'free=PETSTORE_FREE_1_KEY',
    'free=PETSTORE_FREE_BAN_KEY:ban',
    'pro=PETSTORE_PRO_1_KEY:load',
  ];
  const init = await runHere(folder, ['init', '--target', address, ...keys, '--env-file', 'keys.env']);
  t.match(
    init,
    { code: 0, stdout: /target: {2}GET \/pets with PETSTORE_FREE_1_KEY answers 200/ },
    init.stderr,
  );
  const written = readFileSync(join(folder, 'petstore-profile.yaml'), 'utf8');
  t.match(written, /name: pro-load[\s\S]*allowed: true/);
  const next = /Next: npx petstore-harness (.*)/.exec(init.stdout)?.[1]?.split(' ') ?? [];
  t.equal((await runHere(folder, next)).code, 0);
  for (const value of Object.values(env)) t.notOk(`${init.stdout}${written}`.includes(value));
  const forLoad = ['init', '--target', address, ...keys.slice(0, 1), 'pro=PETSTORE_PRO_1_KEY:load'];
  const { stdout } = await runHere(folder, [...forLoad, '--env-file', 'keys.env', '--out', 'load.yaml']);
  t.match(stdout, /\n\nNext: npx petstore-harness load smoke --profile load\.yaml --env-file keys\.env\n$/);
});
