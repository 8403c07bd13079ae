import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { k6ForTests } from '../scenarios/runner/k6-for-tests.ts';

const { k6, skip } = await k6ForTests();
const MAIN = join(import.meta.dirname, 'main.ts');

/** Not bundled like the other commands under test: `load` finds its scripts beside its own modules. */
function run(
  folder: string,
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...(k6 === undefined ? {} : { K6_BIN: k6.path }) };
    const all = [...process.execArgv, MAIN, ...args];
    execFile(process.execPath, all, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

t.test('a load, a comparison and a merge as a user runs them', { skip }, async (t) => {
  const folder = t.testdir({});
  const load = await run(folder, ['load', 'smoke', '--rate', '20', '--duration', '2s', '--out', 'one']);
  t.equal(load.code, 0, load.stderr);
  t.match(load.stdout, /\nHELD: every threshold\n$/);
  t.match(load.stderr, /\nreport: one\/report\.html\n$/);
  const page = join(folder, 'one', 'report.html');
  t.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*Held: 3 thresholds/i);
  t.equal(statSync(page).mode & 0o777, 0o600);

  const [same, merged] = await Promise.all([
    run(folder, ['compare', 'one', 'one']),
    run(folder, ['merge', 'one', 'one', '--out', 'both']),
  ]);
  t.equal(same.code, 3, 'two seconds are too short to tell anything');
  t.match(same.stdout, /not compared: listPets: \d and \d time blocks, 6 are needed/);
  t.equal(merged.code, 0, merged.stderr);
  t.match(readFileSync(join(folder, 'both', 'report.html'), 'utf8'), '2 processes');
});

t.test('what is not said as it should be: exit code 2 and a remedy', async (t) => {
  const folder = t.testdir({});
  const wrong = [
    [['load', 'smoky'], /there is no scenario smoky/],
    [['load', 'mixed', '--kubernetes'], /--kubernetes needs a profile/],
  ] as const;
  await Promise.all(
    wrong.map(async ([args, words]) => {
      const { code, stderr } = await run(folder, args);
      t.equal(code, 2, args.join(' '));
      t.match(stderr, words);
    }),
  );
});
