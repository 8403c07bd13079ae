import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import t from 'tap';

const LIBRARIES = ['leven', 'yaml'];

/** The modules that each module of the folder imports, by their paths within it. */
function imports(): Map<string, string[]> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  // The benchmark's competitors are no part of the server.
  const modules = files.filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith(`bench${sep}`),
  );
  return new Map(
    modules.map((file) => {
      const text = readFileSync(join(import.meta.dirname, file), 'utf8');
      const found = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)];
      const path = file.replaceAll(sep, '/');
      return [
        path,
        found.map(([, specifier = '']) =>
          specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
        ),
      ];
    }),
  );
}

t.test('the server is a reading of its own: it imports node, itself and two libraries', async (t) => {
  const modules = imports();
  t.ok(modules.size > 40);
  for (const [file, imported] of modules) {
    for (const name of imported) {
      t.ok(modules.has(name) || name.startsWith('node:') || LIBRARIES.includes(name), `${file}: ${name}`);
    }
  }
});

t.test('the minimal server knows no deviations; they are applied in one place', async (t) => {
  const knowing = [...imports()].filter(
    ([file, imported]) => !file.includes('/') && imported.some((name) => name.startsWith('deviations/')),
  );
  t.same(
    knowing.map(([file]) => file),
    ['reference-server.ts'],
  );
});

t.test('no module imports itself, by whatever way', async (t) => {
  const modules = imports();
  const reached = (file: string): Set<string> => {
    const seen = new Set<string>();
    const queue = [...(modules.get(file) ?? [])];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (seen.has(name)) continue;
      seen.add(name);
      queue.push(...(modules.get(name) ?? []));
    }
    return seen;
  };
  t.same(
    [...modules.keys()].filter((file) => reached(file).has(file)),
    [],
  );
});
