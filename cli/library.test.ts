import { join } from 'node:path';
import t from 'tap';
import { check, conformance, NothingToJudge, serve, UsageError } from './library.ts';
import { headerGateway } from './testing/gateways.ts';

const keyOf = (server: Awaited<ReturnType<typeof serve>>) => {
  const [{ plan, value } = { plan: 'free' as const, value: '' }] = server.keys;
  return { plan, value };
};

t.test('check: the report of a run, from keys in hand, without a folder', async (t) => {
  await using server = await serve();
  const told: string[] = [];
  const report = await check({
    target: server.address,
    keys: [keyOf(server)],
    only: ['4.1'],
    onDecided: ({ id, verdict }) => told.push(`${id} ${verdict}`),
  });
  t.match(report, {
    complete: false,
    run: {
      target: server.address,
      permissions: [],
      keys: [{ name: 'free-1', roles: ['functional', 'exhaust'] }],
    },
  });
  t.ok(told.includes('list-limit-range pass'));
  t.notMatch(JSON.stringify(report), keyOf(server).value);
});

t.test('check: what is wrong is thrown', async (t) => {
  await using server = await serve();
  const { address: target } = server;
  const key = keyOf(server);
  const keys = [key];
  const profile = join(t.testdir({ 'x.yaml': 'keys: []\n' }), 'x.yaml');
  for (const [options, message] of [
    [{ target, keys: [{ plan: 'enterprise', value: 'a-long-key' }] }, /plans: \{ enterprise/],
    [
      { target, keys: [{ ...key, value: 1234567890 }] },
      /^\/keys\/0\/value: expected (string|required property)/,
    ],
    [{ target, keys: [{ plan: 'free' }] }, /^\/keys\/0\/value: expected (string|required property)/],
    [{ target, keys, permit: ['write'] }, /no permission "write"; did you mean "writes"\?/],
    [{ target, keys, only: ['list-limit-rang'] }, /did you mean "list-limit-range"/],
    [{ target: 5 }, /^\/target: expected string$/],
    [{ profile: 7 }, /^\/profile: expected string$/],
    [{ target, keys: 'x' }, /^\/keys: expected array$/],
    [{ target, keys: [null] }, /^\/keys\/0: expected object$/],
    [{ target, keys, only: 'x' }, /^\/only: expected array$/],
    [{ target, keys, permit: [1] }, /^\/permit\/0: expected string$/],
    [{ target, keys, profile }, /give keys or a profile, not both/],
    [{ profile, gaps: { 'limit-out-of-range': 'clamped' } }, /plans, gaps, headers and tls go with keys/],
    [{ target, keys, headers: { 'X-A': 7 } }, /^\/headers\/X-A: expected string$/],
    [{ target, keys, headers: { Host: 'elsewhere' } }, /Host is a header that the harness itself sends/],
    [{ target, keys, tls: { ca: 'none.pem' } }, /none\.pem: no such file/],
    [{ profile }, /x\.yaml:1:/],
  ] as const) {
    // Callers in JavaScript are not held to the types.
    await t.rejects(
      check(JSON.parse(JSON.stringify(options))),
      { constructor: UsageError, message },
      String(message),
    );
  }
  await t.rejects(check({ target, keys: [{ plan: 'free', value: 'not-a-key' }] }), NothingToJudge);
  for (const [options, message] of [
    ['{"port":"x"}', /port/],
    ['{"animals":-1}', /animals/],
  ] as const)
    await t.rejects(serve(JSON.parse(options)), { constructor: UsageError, message });
  t.throws(() => conformance(JSON.parse('{"only":"x"}')), UsageError);
  await t.rejects(serve({ faults: ['filter-ignord'] }), /did you mean "filter-ignored"/);
});

t.test('check: what a gateway wants is sent', async (t) => {
  await using server = await serve();
  const value = 'canary of a header';
  const port = await headerGateway(t, new URL(server.address), 'x-access', value);
  const options = {
    target: `http://127.0.0.1:${port}/v1`,
    keys: [keyOf(server)],
    only: ['list-limit-range'],
  };
  await t.rejects(check(options), NothingToJudge);
  const report = await check({ ...options, headers: { 'X-Access': value } });
  t.equal(report.verdict, 'nothing-broken');
  t.notMatch(JSON.stringify(report), /canary/);
});

t.test('check: a signal ends it', async (t) => {
  await using server = await serve();
  const stop = new AbortController();
  const run = check({
    target: server.address,
    keys: [keyOf(server)],
    signal: stop.signal,
    onDecided: () => stop.abort(new Error('enough')),
  });
  await t.rejects(run, /enough/);
  await t.rejects(check({ signal: AbortSignal.abort(new Error('never begun')) }), /never begun/);
});

t.test('conformance: a test for each requirement, and one for the run', async (t) => {
  await using server = await serve({ faults: ['filter-ignored', 'limit-ignored'], animals: 150 });
  const tests = conformance({
    target: server.address,
    keys: [keyOf(server)],
    only: ['4.1', 'add-answers-201'],
  });
  t.ok(
    tests.every(({ run }) => run.length === 0),
    'a runner that counts parameters sees none',
  );
  const run = async (id: string, context = {}) => {
    const found = tests.find((one) => one.id === id);
    if (found === undefined) throw new Error(id);
    return found.run(context);
  };
  await t.rejects(run('list-status-filter'), {
    name: 'Nonconformity',
    message: /asked for: /,
    expected: String,
    actual: String,
    curl: /^curl /,
  });
  await t.rejects(run('list-limit-maximum'), { name: 'Nonconformity' }, 'both faults are there');
  const said: string[] = [];
  const context = {
    skip: (why: string) => said.push(`skip ${why}`),
    pass: (why: string) => said.push(`pass ${why}`),
  };
  for (const id of ['list-answers-200', 'add-answers-201', 'run']) await run(id, context);
  t.match(said, [/^pass held in/, 'skip needs the permission writes', /^pass Not conformant/]);
});

t.test('conformance: a target that cannot be judged fails each test', async (t) => {
  const keys = [{ plan: 'free', value: 'a-long-key' }] as const;
  for (const { run } of conformance({ target: 'http://127.0.0.1:1/v1', keys, only: ['4.1'] }))
    await t.rejects(run(), NothingToJudge);
});
