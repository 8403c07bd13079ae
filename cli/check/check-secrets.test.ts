import { createPrivateKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Answer, answersFrom } from '../../checks/accuracy/hostile/testing/good-answers.ts';
import { echoes } from '../../checks/accuracy/hostile/testing/hostile-targets.ts';
import {
  type RawConnection,
  type RawRequest,
  startRawServer,
} from '../../checks/accuracy/hostile/testing/raw-server.ts';
import { createAuthority } from '../../checks/accuracy/hostile/testing/tls-targets.ts';
import { shellWord } from '../../checks/wire/curl.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { proxyTo } from '../testing/gateways.ts';
import { runHere } from '../testing/in-process.ts';

/** With characters that URLs, JSON, HTML and base64 write differently. */
const CANARIES = { free: 'sk_live+canary/4f9Zq7<TrXy>==', pro: 'pk.Canary~8"Wm2&Qe-Zt5%41Lx' };
/** A header's value, the proxy's password, the passphrase of a private key. */
const HIDDEN = {
  header: 'Bearer canary*9xKd:Gate+Way=3',
  proxy: 'canary~proxy%7W',
  passphrase: 'canary!pass 5Yq',
};
const ENV = {
  ...{ PETSTORE_FREE_KEY: CANARIES.free, PETSTORE_PRO_KEY: CANARIES.pro },
  ...{ ACCESS: HIDDEN.header, PASSPHRASE: HIDDEN.passphrase },
};

/** The text without the escapes of URLs, JSON and HTML. */
const plain = (text: string): string =>
  text
    .replace(/(?:%|\\u00|&#x)([0-9a-f]{2});?/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replace(/&#(\d+);/g, (_, decimal: string) => String.fromCharCode(Number(decimal)))
    .replace(/&(lt|gt|quot|amp);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"' })[name] ?? '&')
    .replace(/\\(["\\/])/g, '$1');

/** What base64 makes of a key wherever it stands in a longer text, but for the characters that it shares with it. */
const base64Cores = (key: string) =>
  [0, 1, 2].map((before) =>
    Buffer.from('\0'.repeat(before) + key)
      .toString('base64')
      .slice(4, -4),
  );

/** Every form of a key that the text holds. */
function found(text: string, keys: readonly string[]): string[] {
  const layers = [text, plain(text), plain(plain(text))].map((layer) => layer.toLowerCase());
  return keys.flatMap((key) => [
    ...[key, plain(key)].filter((form) => layers.some((layer) => layer.includes(form.toLowerCase()))),
    ...base64Cores(key).filter((core) => text.includes(core)),
  ]);
}

const bearer = (request: RawRequest) => (request.header('authorization') ?? '').replace(/^Bearer /, '');

/** The answer with the key wherever a target can put it: status line, headers, errors, animals. */
function echoing({ status, headers, body }: Answer, request: RawRequest): { head: string; body: Buffer } {
  const key = bearer(request);
  const access = request.header('x-access-token') ?? '';
  const forms = [...echoes(key), ...echoes(access), access.slice('Bearer '.length)];
  const text = JSON.stringify(`${forms.join(' ')} ${request.head}`);
  const fields = forms.map((form, at) => `X-Echo-${at}: ${form}\r\n`).join('');
  const own = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const told =
    status >= 400
      ? `{"code":${JSON.stringify(key)},"message":${text},"status":${status}}`
      : body
          .toString()
          .replaceAll('"name":', `"note":${text},"name":`)
          .replace(/("name":")([^"]*")/, `$1${JSON.stringify(key).slice(1, -1)} $2`);
  const reason = `${STATUS_CODES[status]} ${key}`;
  return { head: `HTTP/1.1 ${status} ${reason}\r\n${own}${fields}`, body: Buffer.from(told) };
}

/** Sends in chunks of a few bytes and in two pieces, so that every key is cut in two somewhere. */
function inPieces(connection: RawConnection, { head, body }: { head: string; body: Buffer }): void {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += 7) {
    const chunk = body.toString('latin1', at, at + 7);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  const whole = `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
  const bytes = Buffer.from(whole, 'latin1');
  connection.write(bytes.subarray(0, bytes.length / 2));
  setImmediate(() => connection.write(bytes.subarray(bytes.length / 2)));
}

/** A target that says back what it was told, in front of a conforming one. */
async function echo(t: Test): Promise<number> {
  const server = await startReferenceServer({
    clockSpeed: 60,
    keys: [
      { name: 'free-1', plan: 'free', value: CANARIES.free },
      { name: 'pro-1', plan: 'pro', value: CANARIES.pro },
    ],
  });
  t.teardown(() => server.close());
  const answer = answersFrom(new URL(server.baseUrl).origin);
  const target = await startRawServer({
    request: async (connection, request) => inPieces(connection, echoing(await answer(request), request)),
  });
  t.teardown(() => target.close());
  return target.port;
}

t.test('the search finds what it looks for', async (t) => {
  for (const key of Object.values(CANARIES)) {
    for (const form of [key, key.toUpperCase(), encodeURIComponent(JSON.stringify(key)), btoa(`user:${key}`)])
      t.not(found(`… ${form} …`, [key]).length, 0, form);
  }
  t.strictSame(found('sk_live and canary, [key redacted]', Object.values(CANARIES)), []);
});

t.test('no byte of any output holds a key, whatever the target echoes', async (t) => {
  const echoing = await echo(t);
  const { port } = await proxyTo(t, echoing, `me:${HIDDEN.proxy}`);
  const { cert, key } = await createAuthority();
  const cipher = { cipher: 'aes-256-cbc', passphrase: HIDDEN.passphrase };
  const locked = createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', ...cipher });
  const folder = t.testdir({
    'p.yaml': `keys:
  - { name: free-1, plan: free, env: PETSTORE_FREE_KEY }
  - { name: pro-1, plan: pro, env: PETSTORE_PRO_KEY }
clock: { speed: 60 }
headers: [{ name: X-Access-Token, env: ACCESS }]
tls: { cert: own.pem, key: own.key, passphraseEnv: PASSPHRASE }
`,
    ...{ 'own.pem': cert, 'own.key': locked },
  });
  const env = { ...ENV, HTTP_PROXY: `http://me:${encodeURIComponent(HIDDEN.proxy)}@127.0.0.1:${port}` };
  const keys = [...Object.values(CANARIES), ...Object.values(HIDDEN), HIDDEN.header.slice('Bearer '.length)];
  const args = ['check', '--target', 'http://petstore.test/v1', '--profile', 'p.yaml', '--permit', 'writes'];
  const outputs: string[] = [];
  // The whole is played once; a part of it shows what is said meanwhile, as a terminal has it.
  for (const [format, ...only] of [['human', '--only', '4.3'], ['tap']] as const) {
    const { code, stdout, stderr } = await runHere(
      folder,
      [...args, '--out', format, '--format', format, ...only],
      env,
    );
    t.equal(code, 1, stderr);
    outputs.push(stdout, stderr);
  }
  const authorizations = Object.values(CANARIES).flatMap((key) => [
    `Bearer ${key}`,
    `Basic ${btoa(`user:${key}`)}`,
    key,
  ]);
  const asks = authorizations.map(
    (authorization) => `curl -s -H ${shellWord(`Authorization: ${authorization}`)} $PETSTORE_URL/pets >&-`,
  );
  const watched = await runHere(folder, [
    'watch',
    '--target',
    `http://127.0.0.1:${echoing}/v1`,
    '--out',
    'watched',
    '--',
    'sh',
    '-c',
    `${asks.join('\n')}\ntrue`,
  ]);
  t.equal(watched.code, 0);
  outputs.push(watched.stdout, watched.stderr);
  const again = await runHere(folder, ['check', '--rejudge', 'tap', '--format', 'human'], env);
  outputs.push(again.stdout, again.stderr);
  t.strictSame(
    outputs.flatMap((output) => found(output, keys)),
    [],
    'standard output and standard error',
  );
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  t.ok(files.length >= 17, `${files.length} files`);
  for (const { parentPath, name } of files)
    t.strictSame(found(readFileSync(join(parentPath, name), 'latin1'), keys), [], name);
  const journal = readFileSync(join(folder, 'tap', 'journal.ndjson'), 'utf8');
  t.ok(journal.split('[key redacted]').length > 1000, 'each exchange held it a dozen times');
});
