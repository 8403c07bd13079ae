import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { testTarget } from '../../cli/testing/command.ts';

const NODE_TEST = ['--test', '--test-reporter=tap'];

/** Runs an example beside the profile of a served target, on what `npm run build` left in dist/. */
async function example(t: Test, words: readonly string[], name: string, fault?: string) {
  const target = await testTarget(t, { permit: [], ...(fault === undefined ? {} : { fault }) });
  copyFileSync(target.profile, join(target.folder, 'petstore-profile.yaml'));
  const { NODE_OPTIONS: _runner, TAP: _nested, ...usual } = process.env;
  const [key = ''] = target.secrets;
  const child = spawn(process.execPath, [...words, join(import.meta.dirname, name)], {
    cwd: target.folder,
    env: { ...usual, ...target.env, PETSTORE_TARGET: target.address, PETSTORE_FREE_KEY: key },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stdout, stderr };
}

t.test('gate.mjs', async (t) => {
  t.same(await example(t, [], 'gate.mjs'), { code: 0, stdout: '', stderr: '' }, 'the library says nothing');
  const { code, stdout } = await example(t, [], 'gate.mjs', 'filter-ignored');
  t.equal(code, 1);
  t.match(stdout, /^list-status-filter: /m);
});

t.test('client.mjs', async (t) => {
  const { code, stdout } = await example(t, NODE_TEST, 'client.mjs');
  t.equal(code, 0);
  t.match(stdout, /^# pass 3$/m);
});

for (const [words, name] of [
  [NODE_TEST, 'node-test.mjs'],
  [[], 'tap.mjs'],
] as const) {
  t.test(name, async (t) => {
    const good = await example(t, words, name);
    t.equal(good.code, 0);
    t.match(good.stdout, /^ *ok \d+ - list-limit-range /m);
    t.match(good.stdout, /^ *ok \d+ - add-answers-201 .* # SKIP needs the permission writes/m);
    t.match(good.stdout, /^ *ok \d+ - the run as a whole/m);
    const bad = await example(t, words, name, 'filter-ignored');
    t.equal(bad.code, 1);
    t.match(bad.stdout, /^ *not ok \d+ - list-status-filter /m);
    t.match(bad.stdout, /asked for: /, 'what the document asks');
  });
}
