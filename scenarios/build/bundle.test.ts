import { readFileSync, statSync } from 'node:fs';
import t from 'tap';
import { CATALOGUE } from '../lib/catalogue.ts';
import { placeScript } from '../runner/load-run.ts';
import { planWith } from '../runner/testing/made-results.ts';

t.test('the script has every client, is private, and imports nothing but k6’s own modules', async (t) => {
  const script = await placeScript(t.testdir({}), planWith('k'));
  t.equal(statSync(script).mode & 0o077, 0);
  const text = readFileSync(script, 'utf8');
  const imported = [...text.matchAll(/ from "([^"]+)";$/gm)].map(([, path = '']) => path);
  t.ok(imported.length > 0);
  for (const path of imported) t.match(path, /^k6(\/|$)/);
  const exported = /\nexport \{([^}]*)\};\n$/.exec(text)?.[1]?.split(/[\s,]+/) ?? [];
  for (const { personas } of CATALOGUE)
    if (personas !== undefined) t.ok(exported.includes(personas.name), personas.name);
});
