/** What is told of the traffic of other clients, through the proxy and from a recording. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readReport } from '../../reports/read-report.ts';
import { runHere } from '../testing/in-process.ts';
import { type TestTarget, testTarget } from '../testing/test-target.ts';
import { watching } from '../testing/watching.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** What a team's own tests ask. */
async function ask(address: string, { secrets }: Pick<TestTarget, 'secrets'>, hasBodies = true) {
  const [key = ''] = secrets;
  const authorization = { authorization: `Bearer ${key}` };
  const body = '{"name":"Rex","categoryId":7,"status":"sold"}';
  const requests: readonly [path: string, init: RequestInit][] = [
    ['/pets', {}],
    ['/pets?limit=3&status=sold', { headers: authorization }],
    ['/pets/4711', { headers: authorization }],
    ['/pets', { method: 'POST', body, headers: { ...authorization, ...JSON_TYPE } }],
    ['/pets?limit=3&page=2', { headers: authorization }],
    ['/pets', { headers: { ...authorization, 'if-none-match': '"1"' } }],
  ];
  const entries: unknown[] = [];
  for (const [path, init] of requests) {
    const startedDateTime = new Date().toISOString();
    const answer = await fetch(`${address}${path}`, init);
    const list = (headers: Headers | undefined) =>
      [...(headers ?? [])].map(([name, value]) => ({ name, value }));
    const headers = new Headers(init.headers);
    headers.delete('authorization');
    entries.push({
      startedDateTime,
      time: 3,
      request: {
        method: init.method ?? 'GET',
        url: `${address}${path}`,
        headers: list(headers),
        ...(init.body ? { postData: { text: init.body } } : {}),
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
  const args = ['--profile', 'target.yaml', '--out', 'results'];
  const ended = await watching(target.folder, args, target.env, (address) => ask(address, target));
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
    stderr: /is in use; --port 0/,
  });
  t.match(await runHere(target.folder, ['watch']), { code: 2, stderr: /no target is given/ });
});

t.test('a command that asks', async (t) => {
  const target = await testTarget(t, { fault: 'filter-ignored' });
  const [key] = target.secrets;
  const rows: readonly [script: string, code: number, stderr: RegExp][] = [
    [
      `curl -s -H 'Authorization: Bearer ${key}' "$PETSTORE_URL/pets?status=sold" >asked`,
      1,
      /Not conformant/,
    ],
    ['curl -s "$PETSTORE_URL/pets" >asked; exit 7', 7, /Nothing broken/],
  ];
  const args = ['watch', '--target', target.address, '--'];
  for (const [script, code, stderr] of rows)
    t.match(await runHere(target.folder, [...args, 'sh', '-c', script]), { code, stderr });
  t.match(await runHere(target.folder, [...args, 'not-there']), {
    code: 2,
    stderr: /not-there could not be started/,
  });
});

t.test('a recording', async (t) => {
  const target = await testTarget(t, { fault: 'filter-ignored' });
  const har = await ask(target.address, target);
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
  const lacking = JSON.stringify(await ask(target.address, target, false));
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
