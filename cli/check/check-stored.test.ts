import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { run, testTarget } from '../testing/command.ts';

const VERSION = `"harnessVersion":"${HARNESS_VERSION}"`;

t.test('what is odd about a stored run is told in a line each, and what is not is judged', async (t) => {
  const { folder, profile, env } = await testTarget(t, { permit: [] });
  const args = ['check', '--profile', profile, '--out', 'out', '--only', 'list-limit-range'];
  const first = await run(folder, args, env);
  t.equal(first.code, 0, first.stderr);
  const file = join(folder, 'out', 'journal.ndjson');
  const journal = readFileSync(file, 'utf8');
  t.match(journal.split('\n')[0], VERSION);

  const [header = '', ...lines] = journal.split('\n');
  const told = header.replace(VERSION, '"harnessVersion":"0.0.9"');
  writeFileSync(file, [told, ...Array.from({ length: 7 }, () => 'x'), ...lines].join('\n'));
  const { code, stderr } = await run(folder, ['check', '--rejudge', 'out', '--out', 'again']);
  t.equal(code, 0);
  const damaged = [2, 3, 4, 5, 6].map(
    (line) =>
      `warning: ${join('out', 'journal.ndjson')}:${line}: cannot be read; what it held counts as lost`,
  );
  const warnings = stderr.split('\n').filter((line) => line.startsWith('warning: '));
  t.strictSame(warnings, [
    ...damaged,
    'warning: … and 2 more journal lines',
    `warning: the stored run was started by petstore-harness 0.0.9, and this is ${HARNESS_VERSION}: checks whose requests differ between the two are not judged`,
  ]);
});
