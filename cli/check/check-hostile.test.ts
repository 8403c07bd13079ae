/** The whole command, reports included, against targets and at addresses that a run alone does not show. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { answersFrom, onTheWire } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import { hostileTargets } from '../../checks/accuracy/hostile/testing/hostile-targets.ts';
import { startRawServer } from '../../checks/accuracy/hostile/testing/raw-server.ts';
import { createAuthority, trustedTarget } from '../../checks/accuracy/hostile/testing/tls-targets.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { run } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';

/** In MB, of the whole process. */
const MOST_MEMORY = 250;

/**
 * Has the process write down, as it ends, the most memory that it had, in kB. What it inherits of its parent as
 * resourceUsage() on Linux is left out.
 */
const METER = `--import=data:text/javascript,${encodeURIComponent(
  `import { readFileSync, writeFileSync } from 'node:fs';
  const peak = () => process.platform === 'linux'
    ? /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]
    : String(process.resourceUsage().maxRSS);
  process.on('exit', () => writeFileSync(process.env.PEAK_FILE, peak()));`,
)}`;

/** A conforming server and its keys' variables. */
async function upstream(t: Test) {
  const server = await startReferenceServer();
  t.teardown(() => server.close());
  const keyOf = (wanted: string) => server.keys.find(({ name }) => name === wanted)?.value ?? '';
  const env = { PETSTORE_FREE_KEY: keyOf('free-1'), PETSTORE_PRO_KEY: keyOf('pro-1') };
  return { origin: new URL(server.baseUrl).origin, address: server.baseUrl, env };
}

const argsFor = (address: string) =>
  ['check', '--target', address, '--permit', 'writes', '--format', 'human', '--out', 'out'] as const;

async function check(t: Test, address: string, env: Readonly<Record<string, string>>) {
  const folder = t.testdir({});
  const peak = join(folder, 'peak');
  const ended = await run(folder, argsFor(address), { ...env, PEAK_FILE: peak }, { node: [METER] });
  return { ...ended, megabytes: Number(readFileSync(peak, 'utf8')) / 1024 };
}

for (const [name, code] of [
  ['sends a body without end, in chunks', 4],
  ['sends a gzip bomb in a gzip bomb', 4],
  ['sends 1 MB of animals', 1],
  ['nests 100,000 deep', 3],
] as const) {
  t.test(`a target that ${name} costs little memory`, async (t) => {
    const target = hostileTargets.find((candidate) => candidate.name === name);
    if (target === undefined) throw new Error('no such target');
    const { origin, env } = await upstream(t);
    const started = await target.start(origin);
    t.teardown(() => started.close());
    const ended = await check(t, started.url, env);
    t.equal(ended.code, code, ended.stderr);
    t.ok(ended.megabytes > 50 && ended.megabytes < MOST_MEMORY, `${Math.round(ended.megabytes)} MB`);
  });
}

t.test('an authority of NODE_EXTRA_CA_CERTS is trusted, and nobody else’s', async (t) => {
  const authority = await createAuthority();
  const file = join(t.testdir({ 'authority.pem': authority.cert }), 'authority.pem');
  const { origin, env } = await upstream(t);
  const started = await (await trustedTarget(authority)).start(origin);
  t.teardown(() => started.close());
  await t.test('trusted', async (t) => {
    const ended = await check(t, started.url, { ...env, NODE_EXTRA_CA_CERTS: file });
    t.match(ended, { code: 0, stdout: VERIFIED }, ended.stderr);
  });
  await t.test('not trusted', async (t) => {
    t.match(await check(t, started.url, env), {
      code: 4,
      stdout: '',
      stderr:
        /^error: Nothing to judge: https:\S+ cannot be reached: no secure connection: .*NODE_EXTRA_CA_CERTS.*\n$/,
    });
  });
});

const VERIFIED = /^\S Nothing broken: 6\d of 6\d asked for, \d+ skipped/;

/** What answers forwards each path to the path of a conforming service, or knows it not. */
const ADDRESSES: Readonly<
  Record<string, { base: string; to?: (path: string) => string | undefined; code: number; says: RegExp }>
> = {
  'another service that refuses everything with an Error': {
    base: '/orders/v1',
    to: () => undefined,
    code: 4,
    says: /^error: Nothing to judge: \S+\/orders\/v1 is not the Pet Store Service: GET \/pets answers 40\d .*; is this the address .*\?\n$/,
  },
  'without /v1, where the service has it': {
    base: '',
    code: 4,
    says: /^error: Nothing to judge: \S+ is not the Pet Store Service: GET \/pets answers 404 .*; is \/v1 missing from the address\?\n$/,
  },
  'without /v1, where the service has none': {
    base: '',
    to: (path) => `/v1${path}`,
    code: 1,
    says: /^✘ Not conformant: 1 of \d+ requirements broken[\s\S]*^✘ version-path-segment \(9\)/m,
  },
};

const UNKNOWN = {
  status: 404,
  headers: [['Content-Type', 'application/json']],
  body: Buffer.from('{"code":"not_found","message":"No such route.","status":404}'),
} as const;

for (const [name, { base, to, code, says }] of Object.entries(ADDRESSES)) {
  t.test(`an address: ${name}`, async (t) => {
    const { origin, env } = await upstream(t);
    const answer = answersFrom(origin);
    const front = await startRawServer({
      async request(connection, request) {
        const path = to?.(request.path);
        connection.write(onTheWire(path === undefined ? UNKNOWN : await answer({ ...request, path })));
      },
    });
    t.teardown(() => front.close());
    const address = `${to === undefined ? origin : `http://127.0.0.1:${front.port}`}${base}`;
    const ended = await runHere(t.testdir({}), argsFor(address), env);
    t.equal(ended.code, code, ended.stderr);
    t.match(code === 4 ? ended.stderr : ended.stdout, says);
  });
}
