import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { fileText } from './file-text.ts';

t.test('a regular file of a size that can be held, and nothing that does not end', async (t) => {
  const folder = t.testdir({ small: 'text', large: 'x'.repeat(2 ** 20 + 1) });
  t.equal(fileText(join(folder, 'small')), 'text');
  t.throws(() => fileText(join(folder, 'large'), 2 ** 20), { message: /^is larger than 1 MiB/ });
  t.throws(() => fileText(folder), { message: 'is not a regular file' });
  t.throws(() => fileText('/dev/zero'), { message: 'is not a regular file' });
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  t.throws(() => fileText(join(folder, 'pipe')), { message: 'is not a regular file' });
  t.throws(() => fileText(join(folder, 'none')), { message: 'no such file', cause: { code: 'ENOENT' } });
});
