import { readFileSync } from 'node:fs';
import t from 'tap';
import { HARNESS_VERSION } from './harness-version.ts';
import { packageRoot } from './package-root.ts';

t.test('the version is that of the package', async (t) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8'));
  t.match(manifest, { name: 'petstore-harness', version: HARNESS_VERSION });
  t.match(HARNESS_VERSION, /^\d+\.\d+\.\d+$/);
});
