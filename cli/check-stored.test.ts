import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HARNESS_VERSION } from '../checks/harness/harness-version.ts';
import { run, testTarget } from './command-for-tests.ts';

const VERSION = `"harnessVersion":"${HARNESS_VERSION}"`;

t.test('what is odd about a stored run is told in a line each, and what is not is judged', async (t) => {
  const { folder, profile, env } = await testTarget(t, { permit: [] });
  const args = ['check', '--profile', profile, '--out', 'out', '--only', 'list-limit-range'];
  const first = await run(folder, args, env);
  t.equal(first.code, 0, first.stderr);
  const file = join(folder, 'out', 'journal.ndjson');
  const journal = readFileSync(file, 'utf8');
  t.match(journal.split('\n')[0], VERSION);

  writeFileSync(file, journal.replace(VERSION, '"harnessVersion":"0.0.9"'));
  const { code, stderr } = await run(folder, ['check', '--rejudge', 'out', '--out', 'again']);
  t.equal(code, 0);
  t.match(
    stderr,
    /^warning: the stored run was begun by petstore-harness 0\.0\.9, and this is [\d.]+: [^\n]+\n$/,
  );
});
