import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import t from 'tap';

const LIBRARIES = ['leven', 'yaml'];

t.test('the server is a reading of its own: it imports node, itself and two libraries', async (t) => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  // The benchmark's competitors are no part of the server.
  const modules = files.filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith(`bench${sep}`),
  );
  t.ok(modules.length > 40);
  for (const file of modules) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)) {
      const inside =
        specifier.startsWith('.') && join('/server', file, '..', specifier).startsWith('/server/');
      t.ok(inside || specifier.startsWith('node:') || LIBRARIES.includes(specifier), `${file}: ${specifier}`);
    }
  }
});
