/** Targets that are not simply there: behind gateways, proxies, certificates. */
import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { createAuthority, createCertificate } from '../../checks/accuracy/hostile/testing/tls-targets.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { headerGateway, proxyTo, tlsFront } from '../testing/gateways.ts';
import { runHere } from '../testing/in-process.ts';

const HOST = 'petstore.test';
const FAULTS = ['filter-ignored', 'limit-plus-one', 'list-as-text-plain'];
const BROKEN = ['list-limit-maximum', 'list-status-filter', 'media-type-json'];
const PASSPHRASE = 'canary of a passphrase';

const authority = await createAuthority();
const files: Readonly<Record<string, string>> = await (async () => {
  const [server, client] = [
    await createCertificate(authority, { host: HOST }),
    await createCertificate(authority, { host: 'client' }),
  ];
  const locked = createPrivateKey(client.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE })
    .toString();
  return {
    ...{ 'ca.pem': authority.cert, 'server.pem': server.cert, 'server.key': server.key },
    ...{
      'client.pem': client.cert,
      'client.key': locked,
      'other.pem': (await createAuthority('other')).cert,
    },
  };
})();
const server = { key: files['server.key'], cert: files['server.pem'] };
const mutual = { ...server, ca: authority.cert, requestCert: true };

type Env = Readonly<Record<string, string>>;
type Profile = Readonly<Record<string, unknown>>;

/** A way to the target: the target's address then, what the profile and the environment say, and what is told of it. */
interface Way {
  readonly address: string;
  readonly profile?: Profile;
  readonly env?: Env;
  readonly told: RegExp;
  /** What the proxy was asked for. */
  readonly asked?: readonly string[];
  /** What else a profile or an environment may say, with the exit code and the sentence. */
  readonly lacks: readonly (readonly [
    change: { profile?: Profile; env?: Env },
    code: number,
    said: RegExp,
  ])[];
}

const tls = { ca: 'ca.pem' };
const client = { ...tls, cert: 'client.pem', key: 'client.key', passphraseEnv: 'PASSPHRASE' };

const WAYS: Readonly<Record<string, (t: Test, upstream: URL) => Promise<Way>>> = {
  'a gateway that wants a header': async (t, upstream) => {
    const port = await headerGateway(t, upstream, 'x-access-token', 'canary of a header');
    return {
      address: `http://127.0.0.1:${port}/v1`,
      profile: { headers: [{ name: 'X-Access-Token', env: 'ACCESS' }] },
      env: { ACCESS: 'canary of a header', HTTP_PROXY: 'http://127.0.0.1:1' },
      told: /^HTTP\/1\.1$/,
      lacks: [
        [{ profile: {} }, 4, /answers 302 to https:\S+; does a gateway in front of it want a header\?/],
        [{ env: {} }, 2, /^error: p\.yaml:8:5: ACCESS, which holds the header X-Access-Token, is not set/],
        [{ env: { ACCESS: 'two\nlines' } }, 2, /ACCESS, .* has a character that a header cannot carry/],
      ],
    };
  },
  'a proxy that forwards': async (t, upstream) => {
    const { port, asked } = await proxyTo(t, Number(upstream.port), 'me:canary~of a proxy');
    const proxy = `127.0.0.1:${port}`;
    return {
      address: `http://${HOST}/v1`,
      asked,
      env: { http_proxy: `me:canary~of%20a%20proxy@${proxy}`, NO_PROXY: 'test:1, 10.0.0.0/8' },
      told: RegExp(`^HTTP/1\\.1, through the proxy http://${proxy}$`),
      lacks: [
        [
          { env: { HTTP_PROXY: proxy } },
          4,
          RegExp(`the proxy http://${proxy} asks for credentials \\(407\\); `),
        ],
        [
          { env: { HTTP_PROXY: 'http://127.0.0.1:1' } },
          4,
          /the proxy http:\S+:1 cannot be reached: .*refused/,
        ],
        [{ env: { HTTP_PROXY: proxy, NO_PROXY: '.test' } }, 4, /the host name (has no address|could not be)/],
        [
          { env: { HTTP_PROXY: 'socks5://a:1' } },
          2,
          /^error: HTTP_PROXY names no http:\S+ or https:\S+ proxy/,
        ],
      ],
    };
  },
  'a proxy that connects': async (t, upstream) => {
    const front = await tlsFront(t, upstream, server);
    const { port, asked } = await proxyTo(t, front, 'me:canary');
    const silent = await proxyTo(t, 1);
    return {
      address: `https://${HOST}/v1`,
      asked,
      profile: { tls },
      env: { HTTPS_PROXY: `http://me:canary@127.0.0.1:${port}` },
      told: /^HTTP\/1\.1, through the proxy http:\S+$/,
      lacks: [
        [{ profile: {} }, 4, /authority is not known.*tls\.ca of the profile.* \(through the proxy http/],
        [{ env: { HTTPS_PROXY: `127.0.0.1:${port}` } }, 4, /the proxy http:\S+ asks for credentials/],
        [
          { env: { HTTPS_PROXY: `127.0.0.1:${silent.port}` } },
          4,
          /the proxy \S+ answers 502 to CONNECT \S+:443/,
        ],
      ],
    };
  },
  'mutual TLS': async (t, upstream) => ({
    address: `https://127.0.0.1:${await tlsFront(t, upstream, mutual)}/v1`,
    profile: { tls: { ...client, serverName: HOST } },
    env: { PASSPHRASE },
    told: /^HTTP\/1\.1$/,
    lacks: [
      [
        { profile: { tls: { ...tls, serverName: HOST } } },
        4,
        /asks for a client certificate: name one in tls/,
      ],
      [{ profile: { tls: client } }, 4, /for another host; correct the address, or name .* tls\.serverName/],
      [{ env: {} }, 2, /client\.key: holds no private key that opens with that in PASSPHRASE, in PEM/],
      [
        { env: { PASSPHRASE: 'wrong' } },
        2,
        /client\.key: holds no private key that opens with that in PASSPHRASE/,
      ],
      [
        { profile: { tls: { ...client, cert: 'other.pem' } } },
        2,
        /client\.key: belongs to another certificate/,
      ],
      [{ profile: { tls: { ca: 'none.pem' } } }, 2, /none\.pem: no such file or directory; correct tls\.ca/],
      [
        { profile: { tls: { ca: 'client.key' } } },
        2,
        /client\.key: holds no certificate, in PEM; correct tls\.ca/,
      ],
    ],
  }),
  'HTTP/2 only, unverified': async (t, upstream) => ({
    address: `https://127.0.0.1:${await tlsFront(t, upstream, server, 2)}/v1`,
    profile: { tls: { insecure: true } },
    told: /^HTTP\/2, the certificate was not verified \(tls\.insecure\)$/,
    lacks: [[{ profile: {} }, 4, /authority is not known on this machine/]],
  }),
};

t.test('init takes what its first request shows to be wanted, and writes it', async (t) => {
  const folder = t.testdir({ ...files, profiles: {} });
  const store = await startReferenceServer({});
  t.teardown(() => store.close());
  const gateway = await headerGateway(t, new URL(store.baseUrl), 'x-access-token', 'canary of a header');
  const front = await tlsFront(t, new URL(`http://127.0.0.1:${gateway}`), {
    ...mutual,
    ...(await createCertificate(authority)),
  });
  const env = { K: store.keys[0]?.value ?? '', ACCESS: 'canary of a header', PASSPHRASE };
  const out = join('profiles', 'p.yaml');
  const words = ['--target', `https://127.0.0.1:${front}/v1`, '--key', 'free=K', '--out', out];
  for (const [said, ...more] of [
    [/name the file of its authority in tls\.ca.*; nothing was written/, '--ca', 'ca.pem'],
    [/asks for a client certificate: name one in tls/, '--cert', 'client.pem', '--cert-key', 'client.key'],
    [/holds no private key that opens without a passphrase/, '--passphrase-env', 'PASSPHRASE'],
    [/want a header\? Add it with --header/, '--header', 'X-Access-Token=ACCESS'],
  ] as const) {
    const { code, stderr } = await runHere(folder, ['init', ...words], env);
    t.ok(code === 4 || code === 2);
    t.match(stderr, said);
    t.notOk(existsSync(join(folder, out)));
    words.push(...more);
  }
  const beside = ['init', '--target', store.baseUrl.slice(0, -3), '--key', 'free=K', '--out', out];
  t.match(
    (await runHere(folder, beside, env)).stderr,
    /answers 404 .*; is \/v1 missing from the address\?; nothing was written/,
  );
  t.match(await runHere(folder, ['init', ...words], env), {
    code: 0,
    stdout: /target: {2}GET \/pets .* 200 /,
  });
  t.match(parse(readFileSync(join(folder, out), 'utf8')), {
    headers: [{ name: 'X-Access-Token', env: 'ACCESS' }],
    tls: { ca: '../ca.pem', cert: '../client.pem', key: '../client.key', passphraseEnv: 'PASSPHRASE' },
  });
  t.match(await runHere(folder, ['check', '--profile', out], env), { code: 0 });
});

for (const [name, start] of Object.entries(WAYS))
  t.test(name, async (t) => {
    const folder = t.testdir(files);
    let [secrets, out]: [Env, number] = [{}, 0];
    const through = async (fault: string[]) => {
      const store = await startReferenceServer({ fault });
      t.teardown(() => store.close());
      const way = await start(t, new URL(store.baseUrl));
      secrets = { PETSTORE_FREE_KEY: store.keys.find((key) => key.name === 'free-1')?.value ?? '' };
      const check = ({ profile = way.profile, env = way.env }: { profile?: Profile; env?: Env } = {}) => {
        const keys = [{ name: 'free-1', plan: 'free', env: 'PETSTORE_FREE_KEY' }];
        writeFileSync(join(folder, 'p.yaml'), stringify({ target: way.address, keys, ...profile }));
        out += 1;
        return runHere(folder, ['check', '--profile', 'p.yaml', '--out', `${out}`], { ...secrets, ...env });
      };
      return { way, check };
    };
    const written = (file: string) => readFileSync(join(folder, `${out}`, file), 'utf8');
    const good = await through([]);
    const { code, stderr } = await good.check();
    t.equal(code, 0, stderr);
    const asks = `curl -s --noproxy '*' -H "Authorization: Bearer $PETSTORE_FREE_KEY" $PETSTORE_URL/pets`;
    const watched = await runHere(
      folder,
      ['watch', '--profile', 'p.yaml', '--out', 'watched', '--', 'sh', '-c', `${asks} >/dev/null`],
      { ...secrets, ...good.way.env },
    );
    t.match(watched, { code: 0, stderr: /Nothing broken: [1-9]/ }, 'what others ask goes the same way');
    const [, told] = /name="Way" value="([^"]*)"/.exec(written('junit.xml')) ?? [];
    t.match(told, good.way.told);
    t.match(
      good.way.asked?.[0] ?? '',
      /^$|^GET http:\/\/petstore\.test\/v1\/pets|^CONNECT petstore\.test:443$/,
    );
    t.equal(stderr.includes('not verified'), told?.includes('not verified'), 'the summary says so too');
    for (const [change, code, said] of good.way.lacks) {
      const run = await good.check(change);
      t.match(run.stderr, said);
      t.equal(run.code, code, run.stderr);
    }
    const bad = await through(FAULTS);
    t.equal((await bad.check()).code, 1);
    const rows: readonly { id: string; verdict: string }[] = JSON.parse(written('report.json')).requirements;
    const broken = rows.flatMap(({ id, verdict }) => (verdict === 'fail' ? [id] : []));
    t.strictSame(broken.sort(), BROKEN);
  });
