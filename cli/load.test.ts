import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from './command-for-tests.ts';
import { runLoad, skip } from './load-for-tests.ts';

t.test('a load, a comparison and a merge as a user runs them', { skip }, async (t) => {
  const folder = t.testdir({});
  const load = await runLoad(folder, ['smoke', '--rate', '20', '--duration', '2s', '--out', 'one']);
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
    [['smoky'], /there is no scenario smoky/],
    [['mixed', '--kubernetes'], /--kubernetes needs a profile/],
  ] as const;
  await Promise.all(
    wrong.map(async ([args, words]) => {
      const { code, stderr } = await runLoad(folder, args);
      t.equal(code, 2, args.join(' '));
      t.match(stderr, words);
    }),
  );
});
