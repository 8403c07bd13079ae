import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { answersFrom, onTheWire } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import type { HostileTarget } from '../../checks/accuracy/hostile/testing/hostile-target.ts';
import { hostileTargets } from '../../checks/accuracy/hostile/testing/hostile-targets.ts';
import { startRawServer } from '../../checks/accuracy/hostile/testing/raw-server.ts';
import {
  createAuthority,
  tlsTargets,
  trustedTarget,
} from '../../checks/accuracy/hostile/testing/tls-targets.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { run } from '../testing/command.ts';

/** In MB, of the whole process, its reports included. */
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
async function upstream(t: Test, host = '127.0.0.1') {
  const server = await startReferenceServer({ host });
  t.teardown(() => server.close());
  const keyOf = (wanted: string) => server.keys.find(({ name }) => name === wanted)?.value ?? '';
  const env = { PETSTORE_FREE_KEY: keyOf('free-1'), PETSTORE_PRO_KEY: keyOf('pro-1') };
  return { origin: new URL(server.baseUrl).origin, address: server.baseUrl, env };
}

/** Checks a target with the command. */
async function check(t: Test, address: string, env: Readonly<Record<string, string>>) {
  const folder = t.testdir({});
  const peak = join(folder, 'peak');
  const ended = await run(
    folder,
    ['check', '--target', address, '--permit', 'writes', '--format', 'human', '--out', 'out'],
    { ...env, PEAK_FILE: peak },
    { node: [METER] },
  );
  return { ...ended, megabytes: Number(readFileSync(peak, 'utf8')) / 1024 };
}

async function running(t: Test, target: HostileTarget, origin?: string): Promise<string> {
  const started = await target.start(origin);
  t.teardown(() => started.close());
  return started.url;
}

const BIG: Readonly<Record<string, number>> = {
  'sends a gzip bomb': 4,
  'sends a body without end, in chunks': 4,
  'sends 10 MB of animals': 4,
  'sends 1 MB of animals': 1,
  'sends 2 MB of one name': 1,
  'nests 100,000 deep': 3,
};

t.test('memory of the whole command, reports included', { jobs: 2 }, async (t) => {
  for (const [name, code] of Object.entries(BIG)) {
    t.test(`against a target that ${name}`, async (t) => {
      const target = hostileTargets.find((candidate) => candidate.name === name);
      if (target === undefined) throw new Error('no such target');
      const { origin, env } = await upstream(t);
      const ended = await check(t, await running(t, target, origin), env);
      t.equal(ended.code, code, ended.stderr);
      t.ok(ended.megabytes > 50 && ended.megabytes < MOST_MEMORY, `${Math.round(ended.megabytes)} MB`);
    });
  }
});

t.test('TLS', { jobs: 2 }, async (t) => {
  const authority = await createAuthority();
  const file = join(t.testdir({ 'authority.pem': authority.cert }), 'authority.pem');
  const targets = await tlsTargets(authority);
  const proofs = readFileSync(join(import.meta.dirname, '..', '..', 'CONTRIBUTING.md'), 'utf8');
  t.match(proofs, ` ${hostileTargets.length + targets.length} hostile targets`, 'which are counted there');
  // Where no handshake comes to a certificate nobody's trust matters: those are in hostile-runs.test.ts.
  for (const target of targets.filter(({ name }) => /certificate|signs for itself/.test(name))) {
    t.test(`a target that ${target.name}`, async (t) => {
      const env = { PETSTORE_FREE_KEY: 'sk-some-key-or-other' };
      const address = await running(t, target);
      const ended = await check(t, address, { ...env, NODE_EXTRA_CA_CERTS: file });
      t.equal(ended.code, 4, ended.stdout);
      t.match(ended.stderr, /^error: https?:\S+ cannot be reached: .+\n$/, 'one line');
      const { expected } = target;
      const message = expected.kind === 'failure' ? expected.message.source : '';
      t.match(ended.stderr, new RegExp(message));
      t.equal(ended.stdout, '');
    });
  }
  t.test('an authority of NODE_EXTRA_CA_CERTS is trusted, and nobody else’s', async (t) => {
    const { origin, env } = await upstream(t);
    const address = await running(t, await trustedTarget(authority), origin);
    const trusted = await check(t, address, { ...env, NODE_EXTRA_CA_CERTS: file });
    t.match(trusted.stdout, /^\S Nothing broken: 6\d of 6\d asked for, \d+ skipped/, trusted.stderr);
    const untrusted = await check(t, address, env);
    t.match(untrusted, { code: 4, stderr: /no secure connection: .*NODE_EXTRA_CA_CERTS/ });
  });
});

t.test('addresses', { jobs: 2 }, async (t) => {
  const VERIFIED = /^\S Nothing broken: 6\d of 6\d asked for, \d+ skipped/;

  t.test('IPv6', async (t) => {
    const { address, env } = await upstream(t, '::1');
    t.match(address, 'http://[::1]:');
    const ended = await check(t, address, env);
    t.match(ended, { code: 0, stdout: VERIFIED }, ended.stderr);
  });

  for (const slash of ['', '/']) {
    t.test(`a base path with${slash === '' ? 'out' : ''} a trailing slash`, async (t) => {
      const { origin, env } = await upstream(t);
      const answer = answersFrom(origin);
      const paths: string[] = [];
      const shop = await startRawServer({
        async request(connection, request) {
          paths.push(request.path);
          const path = request.path.replace(/^\/shop\/v1\/pets/, '/v1/pets');
          connection.write(onTheWire(await answer({ ...request, path })));
        },
      });
      t.teardown(() => shop.close());
      const ended = await check(t, `http://127.0.0.1:${shop.port}/shop/v1${slash}`, env);
      t.match(ended, { code: 0, stdout: VERIFIED }, ended.stderr);
      t.strictSame(
        paths.filter((path) => !path.startsWith('/shop/v1/') || path.includes('//')),
        [],
      );
    });
  }

  t.test(
    'of another service, whose own ends in /v1 too and who refuses everything with an Error',
    async (t) => {
      const { env } = await upstream(t);
      const other = await startRawServer({
        request(connection) {
          const body = Buffer.from('{"code":"not_found","message":"No such route.","status":404}');
          connection.write(onTheWire({ status: 404, headers: [['Content-Type', 'application/json']], body }));
        },
      });
      t.teardown(() => other.close());
      const ended = await check(t, `http://127.0.0.1:${other.port}/orders/v1`, env);
      t.match(ended, {
        code: 4,
        stdout: '',
        stderr:
          /^error: \S+\/orders\/v1 is not the Pet Store Service: GET \/pets answers 404 .*; is this the address .*\?\n$/,
      });
    },
  );

  t.test('without /v1, where the service has it', async (t) => {
    const { origin, env } = await upstream(t);
    const ended = await check(t, origin, env);
    t.match(ended, {
      code: 4,
      stdout: '',
      stderr:
        /^error: \S+ is not the Pet Store Service: GET \/pets answers 404 application\/json, \d+ bytes; is \/v1 missing from the address\?\n$/,
    });
  });

  t.test('without /v1, where the service has none: that one requirement is broken', async (t) => {
    const { origin, env } = await upstream(t);
    const answer = answersFrom(origin);
    const bare = await startRawServer({
      async request(connection, request) {
        connection.write(onTheWire(await answer({ ...request, path: `/v1${request.path}` })));
      },
    });
    t.teardown(() => bare.close());
    const ended = await check(t, `http://127.0.0.1:${bare.port}`, env);
    t.equal(ended.code, 1, ended.stderr);
    t.match(ended.stdout, /^✘ Not conformant: 1 of \d+ requirements broken/);
    t.match(ended.stdout, /^✘ version-path-segment \(9\)/m);
  });
});
