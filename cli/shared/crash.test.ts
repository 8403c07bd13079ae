import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';

const SCRIPT = join(t.testdir(), 'crash.mjs');
await build({
  stdin: {
    contents:
      "import { crash } from './crash.ts'; crash(new TypeError('boom ' + process.env.GIVEN + ' ' + process.env.MY_API_KEY), [process.env.GIVEN], process.argv[2]);",
    resolveDir: import.meta.dirname,
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outfile: SCRIPT,
});

function crashed(...args: readonly string[]) {
  const env = { ...process.env, GIVEN: 'canary-of-the-profile', MY_API_KEY: 'canary-of-the-environment' };
  return spawnSync(process.execPath, [SCRIPT, ...args], { env, encoding: 'utf8' });
}

t.test('a crash of the harness has its own exit code, one line, and its details without keys', (t) => {
  const folder = t.testdir({});
  const { status, stdout, stderr } = crashed(folder);
  t.equal(status, 70);
  t.equal(stdout, '');
  t.match(
    stderr,
    /^error: petstore-harness itself failed, which says nothing about the target: boom .*; details: .*crash\.txt\n$/,
  );
  const file = join(folder, 'crash.txt');
  const details = readFileSync(file, 'utf8');
  t.match(details, /^petstore-harness \d+\.\d+\.\d+, Node v\d+/);
  t.match(details, /TypeError: boom/);
  t.match(details, /at .*crash\.mjs/, 'with the stack');
  for (const text of [stderr, details]) t.notMatch(text, 'canary');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.end();
});

t.test('where the folder cannot be written the details go among the temporary files', (t) => {
  const { status, stderr } = crashed('/dev/null/nowhere');
  t.equal(status, 70);
  const [, file = ''] = /details: (.*)\n$/.exec(stderr) ?? [];
  t.match(readFileSync(file, 'utf8'), /TypeError: boom/);
  t.end();
});
