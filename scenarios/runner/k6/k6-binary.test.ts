import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findK6, provideK6 } from './k6-binary.ts';

async function program(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const INSTALL =
  'Install k6 2.x (https://grafana.com/docs/k6/latest/set-up/install-k6/), or set K6_BIN to its path.';
const says = (version: string) => `echo "k6 v${version} (go1.26.8, linux/amd64)"`;

const { env } = process;
function environment(t: Test, values: Record<string, string>): void {
  process.env = { ...values };
  t.teardown(() => {
    process.env = env;
  });
}

t.test('K6_BIN comes first', async (t) => {
  const folder = t.testdir({});
  const chosen = await program(folder, 'mine', says('2.4.1'));
  await program(join(folder, 'bin'), 'k6', says('2.2.0'));
  environment(t, { K6_BIN: chosen, PATH: `${join(folder, 'bin')}:/bin` });
  t.match(await findK6(), { path: chosen, version: '2.4.1' });
});

t.test('a K6_BIN that is not k6 2.x is not passed over silently', async (t) => {
  const folder = t.testdir({ readme: 'no program' });
  const old = await program(folder, 'old', says('1.5.0'));
  for (const path of [old, join(folder, 'readme'), join(folder, 'absent')]) {
    environment(t, { K6_BIN: path, PATH: '/bin' });
    await t.rejects(findK6(), { name: 'K6Unavailable', message: /is not a k6 2\.x that can be run/ });
  }
});

t.test('then PATH, where a k6 1.x is passed over', async (t) => {
  const folder = t.testdir({});
  await program(join(folder, 'one'), 'k6', says('1.5.0'));
  await program(join(folder, 'two'), 'k6', says('2.2.0'));
  environment(t, { PATH: `${join(folder, 'two')}:/bin`, XDG_CACHE_HOME: folder });
  t.match(await findK6(), { path: 'k6', version: '2.2.0' });
  environment(t, { PATH: `${join(folder, 'one')}:/bin`, XDG_CACHE_HOME: folder });
  t.equal(await findK6(), undefined);
});

t.test('without k6 and Go one message says how to get it', async (t) => {
  environment(t, { PATH: t.testdir({}), XDG_CACHE_HOME: t.testdir({}) });
  const message = `Load needs k6 2.x, and there is neither k6 nor Go on this machine. ${INSTALL} With Go 1.25 or later the harness builds k6 2.2.0 itself, once.`;
  await t.rejects(
    provideK6(() => {}),
    { name: 'K6Unavailable', message },
  );
});

t.test('builds with exactly what go.sum lists, also for two at once, and keeps it', async (t) => {
  const folder = t.testdir({});
  const bin = join(folder, 'bin');
  // A Go that notes how it was called and "builds" a k6.
  await program(
    bin,
    'go',
    `[ "$1" = version ] && exit
echo "$@ $CGO_ENABLED $GOWORK $(basename "$PWD")" >> ${folder}/calls
echo "go: downloading example.com/x v1" >&2
echo "go.k6.io/k6/v2/lib" >&2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n${says('2.2.0')}\\n' > "$2"
chmod +x "$2"`,
  );
  environment(t, { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: folder });
  const lines: string[] = [];
  const both = await Promise.all([
    provideK6((line) => lines.push(line)),
    provideK6((line) => lines.push(line)),
  ]);
  const path = join(folder, 'petstore-harness', 'k6-2.2.0', 'k6');
  t.same(both, [
    { path, version: '2.2.0' },
    { path, version: '2.2.0' },
  ]);
  const calls = await readFile(join(folder, 'calls'), 'utf8');
  const call =
    / -mod=readonly -trimpath -buildvcs=false -o \S+\/k6\.\w{8}\.part go\.k6\.io\/k6\/v2 0 off k6$/m;
  t.match(calls, call);
  t.equal((await stat(join(folder, 'petstore-harness'))).mode & 0o777, 0o700);
  t.same(new Set(lines), new Set(['building k6 2.2.0 with Go, once; this takes about a minute']));
  t.same(await findK6(), both[0]);
  t.same(await readdir(join(folder, 'petstore-harness', 'k6-2.2.0')), ['k6'], 'and nothing beside it');
});

t.test('a build that fails says why', async (t) => {
  const folder = t.testdir({});
  await program(join(folder, 'bin'), 'go', '[ "$1" = version ] && exit; seq 7 >&2; exit 1');
  environment(t, { PATH: `${join(folder, 'bin')}:/bin:/usr/bin`, XDG_CACHE_HOME: folder });
  await t.rejects(
    provideK6(() => {}),
    { message: `Building k6 2.2.0 with Go failed:\n3\n4\n5\n6\n7\n${INSTALL}` },
  );
});
