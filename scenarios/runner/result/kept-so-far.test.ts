import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { loadResult } from '../../../reports/testing/sample-load.ts';
import { keepSoFar } from './kept-so-far.ts';

/** Made once: what takes long to make is made seldom. */
const RESULT = loadResult();

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

/** Keeps results until the second was asked for, and ends; returns how many were asked for by now. */
async function keptTwice(file: string): Promise<() => number> {
  let asked = 0;
  const end = keepSoFar(
    file,
    () => {
      asked += 1;
      return RESULT;
    },
    5,
  );
  await until(() => asked >= 2);
  await end();
  return () => asked;
}

t.test('the result so far is on disk again and again, and nothing follows the end', async (t) => {
  const file = join(t.testdir({}), 'load-report.json');
  const asked = await keptTwice(file);
  const last = asked();
  t.equal(JSON.parse(readFileSync(file, 'utf8')).run.id, RESULT.run.id);
  await sleep(50);
  t.equal(asked(), last, 'the result at the end stays');
  t.strictSame(readdirSync(join(file, '..')), ['load-report.json']);
});

t.test('a disk that is full for a while ends no run', async (t) => {
  const file = join(t.testdir({}), 'no', 'such', 'folder.json');
  await keptTwice(file);
  t.notOk(existsSync(file));
});
