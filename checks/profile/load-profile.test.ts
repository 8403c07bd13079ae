import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readProfile } from './load-profile.ts';
import { KEY } from './testing/test-profile.ts';

t.test('files', async (t) => {
  const dir = t.testdir({
    'good.yaml': `keys: [${KEY}]`,
    'bom.yaml': `\uFEFFkeys: [${KEY}]`,
    'crlf.yaml': `keys:\r\n  - ${KEY}\r\nload: 7\r\n`,
    'bad.yaml': 'keys: 1',
    'latin1.yaml': Buffer.from([0x6b, 0xe4, 0x0a]),
    'huge.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 20 + 1, '#'),
    'largest.yaml': `keys: [${KEY}]\n`.padEnd(2 ** 20, '#'),
    'secret.yaml': '',
  });
  mkdirSync(join(dir, 'folder'));
  symlinkSync('loop.yaml', join(dir, 'loop.yaml'));
  writeFileSync(join(dir, 'secret.yaml'), 'keys: []');
  chmodSync(join(dir, 'secret.yaml'), 0);
  const read = async (name: string) => {
    const loaded = await readProfile(join(dir, name));
    return loaded.ok
      ? []
      : loaded.problems.map(({ line, message, remedy }) => `${line}: ${message}; ${remedy}`);
  };
  t.strictSame(await read('good.yaml'), []);
  t.strictSame(await read('bom.yaml'), []);
  t.match(await read('crlf.yaml'), [/^3: load must be/]);
  t.match(await read('bad.yaml'), [/^1: keys must be a list/]);
  t.match(await read('latin1.yaml'), [/^1: the profile is not in UTF-8; save it in UTF-8$/]);
  t.match(await read('huge.yaml'), [/^1: the profile is larger than 1 MiB; is it the right file\?$/]);
  t.strictSame(await read('largest.yaml'), []);
  t.match(await read('folder'), [/^1: the profile is a directory; name the file in it$/]);
  t.match(await read('loop.yaml'), [/^1: the profile is a link to itself; name the file itself$/]);
  t.match(await read('missing.yaml'), [
    /^1: there is no such profile; check the path; .*serve --profile-out/,
  ]);
  t.match(await read('good.yaml/x'), [/no such profile; check the path: a part of it is a file$/]);
  t.match(await read('\u0000'), [/no such profile; check the path: it holds a NUL character$/]);
  t.match(await read('x'.repeat(5000)), [/no such profile; check the path$/]);
  // The path of a socket has 108 bytes at most, which a folder of tests may have by itself.
  const short = mkdtempSync(join(tmpdir(), 'profile-'));
  t.teardown(() => rmSync(short, { recursive: true }));
  const socket = createServer().listen(join(short, 'socket'));
  await once(socket, 'listening');
  const unread = await readProfile(join(short, 'socket'));
  t.match(unread, {
    problems: [{ line: 1, message: /^the profile cannot be read \((ENXIO|EOPNOTSUPP)\)$/ }],
  });
  socket.close();
  // The superuser may read everything.
  if (process.getuid?.() !== 0) t.match(await read('secret.yaml'), [/permission denied; make it readable/]);
  const endless = await readProfile('/dev/zero');
  t.match(endless, { ok: false, source: '/dev/zero', problems: [{ message: /larger than 1 MiB/ }] });
});

t.test('a file that was read is closed', async (t) => {
  const path = join(t.testdir({ 'good.yaml': `keys: [${KEY}]` }), 'good.yaml');
  const open = () => readdirSync('/dev/fd').length;
  const before = open();
  for (let times = 0; times < 20; times += 1) await readProfile(path);
  t.ok(open() < before + 10);
});
