import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readProfile } from './load-profile.ts';
import { GAPS, KEY } from './profile-for-tests.ts';

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
    const loaded = await readProfile(join(dir, name), GAPS);
    return loaded.ok ? [] : loaded.problems.map(({ line, message }) => `${line}: ${message}`);
  };
  t.strictSame(await read('good.yaml'), []);
  t.strictSame(await read('bom.yaml'), []);
  t.match(await read('crlf.yaml'), [/^3: load must be/]);
  t.match(await read('bad.yaml'), [/^1: keys must be a list/]);
  t.match(await read('latin1.yaml'), [/not in UTF-8/]);
  t.match(await read('huge.yaml'), [/larger than 1 MiB/]);
  t.strictSame(await read('largest.yaml'), []);
  t.match(await read('folder'), [/is a directory/]);
  t.match(await read('loop.yaml'), [/link to itself/]);
  t.match(await read('missing.yaml'), [/no such profile/]);
  t.match(await read('good.yaml/x'), [/no such profile/]);
  t.match(await read('\u0000'), [/no such profile/]);
  t.match(await read('x'.repeat(5000)), [/no such profile/]);
  // The path of a socket has 108 bytes at most, which a folder of tests may have by itself.
  const short = mkdtempSync(join(tmpdir(), 'profile-'));
  t.teardown(() => rmSync(short, { recursive: true }));
  const socket = createServer().listen(join(short, 'socket'));
  await once(socket, 'listening');
  const unread = await readProfile(join(short, 'socket'), GAPS);
  t.match(unread, {
    problems: [{ line: 1, message: /^the profile cannot be read \((ENXIO|EOPNOTSUPP)\)$/ }],
  });
  socket.close();
  // The superuser may read everything.
  if (process.getuid?.() !== 0) t.match(await read('secret.yaml'), [/permission denied/]);
  const endless = await readProfile('/dev/zero', GAPS);
  t.match(endless, { ok: false, source: '/dev/zero', problems: [{ message: /larger than 1 MiB/ }] });
});

t.test('a file that was read is closed', async (t) => {
  const path = join(t.testdir({ 'good.yaml': `keys: [${KEY}]` }), 'good.yaml');
  const open = () => readdirSync('/dev/fd').length;
  const before = open();
  for (let times = 0; times < 20; times += 1) await readProfile(path, GAPS);
  t.ok(open() < before + 10);
});
