/** What is told of the traffic of other clients, through the proxy and from a recording. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readReport } from '../../reports/report.ts';
import { shows, start } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';
import { type TestTarget, testTarget } from '../testing/test-target.ts';

/** What a team's own tests ask, with a key in the variable K. */
const KEY = 'Authorization: Bearer $K';
const ASKED: readonly (readonly [path: string, headers: readonly string[], body?: string])[] = [
  ['/pets', []],
  ['/pets?limit=3&status=sold', [KEY]],
  ['/pets/4711', [KEY]],
  [
    '/pets',
    [KEY, 'Content-Type: application/json'],
    JSON.stringify({ name: 'Rex', categoryId: 7, status: 'sold' }),
  ],
  ['/pets?limit=3&page=2', [KEY]],
  ['/pets', [KEY, 'If-None-Match: x']],
];

/** The tests as a command. */
const TESTS = ASKED.map(([path, headers, body]) => {
  const options = headers.map((header) => `-H "${header}"`).join(' ');
  return `curl -s ${options} ${body === undefined ? '' : `-d '${body}'`} "$PETSTORE_URL${path}" >asked`;
}).join('\n');

/** A recording of them. */
async function recorded({ address, secrets: [key = ''] }: TestTarget, hasBodies = true) {
  const entries: unknown[] = [];
  for (const [path, headers, body] of ASKED) {
    const fields = headers.map((header) => header.replace('$K', key).split(': '));
    const list = (all: Iterable<readonly string[]>) => [...all].map(([name, value]) => ({ name, value }));
    const method = body === undefined ? 'GET' : 'POST';
    const startedDateTime = new Date().toISOString();
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: Object.fromEntries(fields),
      body: body ?? null,
    });
    entries.push({
      startedDateTime,
      time: 3,
      request: {
        ...{ method, url: `${address}${path}`, headers: list(fields.slice(1)) },
        ...(body === undefined ? {} : { postData: { text: body } }),
      },
      response: {
        status: answer.status,
        headers: list(answer.headers),
        content: hasBodies ? contentOf(await answer.text(), entries.length % 2 === 1) : {},
      },
    });
  }
  return { log: { entries } };
}

/** A body as recorders write it, some of them coded. */
const contentOf = (text: string, isCoded: boolean) =>
  isCoded ? { text: Buffer.from(text).toString('base64'), encoding: 'base64' } : { text };

const verdicts = (folder: string) =>
  Object.fromEntries(readReport(folder).requirements.map(({ id, verdict }) => [id, verdict]));

async function watched(t: Test, target: TestTarget) {
  const args = ['watch', '--profile', 'target.yaml', '--out', 'results', '--', 'sh', '-c', TESTS];
  const ended = await runHere(target.folder, args, { ...target.env, K: target.secrets[0] ?? '' });
  for (const secret of target.secrets) t.notMatch(JSON.stringify(ended), secret);
  return ended;
}

t.test('a conforming target', async (t) => {
  const target = await testTarget(t);
  const { code, stdout, stderr } = await watched(t, target);
  t.equal(code, 0, stderr);
  t.match(stdout, /^# Nothing broken: \d+ of \d+ asked for, \d+ skipped/m);
  t.match(stderr, /2 answers were not judged: the document does not know the request/);
  t.match(verdicts(join(target.folder, 'results')), {
    'list-status-filter': 'pass',
    'add-echoes-name': 'pass',
    'error-body-404': 'pass',
    'rate-minute-free': 'skipped',
    'list-shows-added': 'skipped',
    'error-body-400': 'skipped',
  });
  t.match(readReport(join(target.folder, 'results')).requests, {
    total: 4,
    byKey: { 'free-1': 3, '(none)': 1 },
  });
});

t.test('a broken one is told at once, and its row again by a check', async (t) => {
  const target = await testTarget(t, { fault: 'filter-ignored' });
  const { code, stdout } = await watched(t, target);
  t.equal(code, 1);
  t.match(stdout, /^TAP version 14\nnot ok 1 - list-status-filter /);
  const { command } = readReport(join(target.folder, 'results')).run;
  const again = `${command} --only list-status-filter`.split(' ').slice(2);
  t.equal((await runHere(target.folder, again, target.env)).code, 1);
});

t.test('no header is added to an answer', async (t) => {
  const target = await testTarget(t, { variant: 'clock-behind' });
  const client = ['sh', '-c', 'curl -si "$PETSTORE_URL/pets" >asked'];
  await runHere(target.folder, ['watch', '--target', target.address, '--', ...client]);
  const { headers } = await fetch(`${target.address}/pets`);
  const passed = readFileSync(join(target.folder, 'asked'), 'utf8').matchAll(/^([\w-]+):/gm);
  const added = [...passed].filter(([, name = '']) => !headers.has(name));
  t.strictSame(added, []);
});

t.test('nothing that passed', async (t) => {
  const target = await testTarget(t);
  const args = ['watch', '--target', target.address, '--for', '1s'];
  t.match(await runHere(target.folder, args), {
    code: 4,
    stderr: /no answer of the interface at http\S+ was seen/,
  });
  const port = new URL(target.address).port;
  t.match(await runHere(target.folder, ['watch', '--target', target.address, '--port', port]), {
    code: 2,
    stderr: / in use 127\.0\.0\.1:\d+; --port 0 takes a free one/,
  });
  t.match(await runHere(target.folder, ['watch']), { code: 2, stderr: /no target is given/ });
});

t.test('a command that fails, or is ended', async (t) => {
  const target = await testTarget(t, { fault: 'filter-ignored' });
  const K = target.secrets[0] ?? '';
  const args = ['watch', '--target', target.address, '--'];
  const rows: readonly [client: readonly string[], code: number, stderr: RegExp][] = [
    [['sh', '-c', `${TESTS}; exit 7`], 7, /Not conformant/],
    [['sh', '-c', `${TESTS}; kill -INT $PPID; exec sleep 60`], 1, /stopping and saving.*Not conformant/s],
    [['not-there'], 2, /not-there could not be started/],
  ];
  for (const [client, code, stderr] of rows)
    t.match(await runHere(target.folder, [...args, ...client], { K }), { code, stderr });
});

t.test('a rule that throws ends it', async (t) => {
  const target = await testTarget(t);
  appendFileSync(target.profile, 'rules: [./rules.mjs]\n');
  const row =
    "row: { id: 'ours-a', statement: 'x', formerly: [], section: 'own', level: 'MUST', title: 'x' }";
  const check = "check: { id: 'ours-a', scenes: [], observe() { throw new Error('oh'); } }";
  writeFileSync(join(target.folder, 'rules.mjs'), `export default [{ ${row}, ${check} }];\n`);
  const started = start(target.folder, ['watch', '--profile', 'target.yaml'], target.env);
  await shows(started, 'stderr', / passes on to /);
  await fetch(`${started.output.stderr.split(' ')[0]}/pets`);
  t.equal(await started.ended, 70);
  t.match(started.output.stderr, /nothing about the target: oh\n/);
});

t.test('a recording', async (t) => {
  const target = await testTarget(t, { fault: 'filter-ignored' });
  const har = await recorded(target);
  const check = async (written: string) => {
    writeFileSync(join(target.folder, 'x.har'), written);
    return runHere(target.folder, [
      'check',
      '--target',
      target.address,
      '--traffic',
      'x.har',
      '--out',
      'results',
    ]);
  };
  const found = await check(JSON.stringify(har));
  t.match(found, { code: 1, stdout: /^not ok 1 - list-status-filter /m });
  t.match(found.stdout, /Authorization: Bearer \$NOT_RECORDED/, 'a key that was not recorded');
  t.match(verdicts(join(target.folder, 'results')), {
    'add-echoes-name': 'pass',
    'rate-limit-value': 'pass',
  });
  const lacking = JSON.stringify(await recorded(target, false));
  t.equal((await check(lacking)).code, 0, 'a body that is not there breaks nothing');
  t.equal(verdicts(join(target.folder, 'results'))['list-status-filter'], 'skipped');
  const problems: readonly [written: string, stderr: RegExp][] = [
    ['{"log":', /x\.har: is not JSON/],
    ['{"log":{}}', /x\.har: is not a HAR: \/log\/entries/],
    [JSON.stringify(har).replace('"method":"GET"', '"method":7'), /\/log\/entries\/0\/request\/method/],
  ];
  for (const [written, stderr] of problems) t.match(await check(written), { code: 2, stderr });
  t.match(await check('{"log":{"entries":[]}}'), { code: 4 });
});
