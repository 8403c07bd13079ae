import { readFileSync, statSync } from 'node:fs';
import { build } from 'esbuild';
import t from 'tap';
import { CATALOGUE } from '../lib/catalogue.ts';
import { placeScript } from '../runner/load-run.ts';
import { planWith } from '../runner/testing/made-results.ts';
import { contractPlugin } from './bundle.ts';

interface Validators {
  pets(value: unknown): boolean;
  pet(value: unknown): boolean;
  error(value: unknown): boolean;
}

async function validators(): Promise<Validators> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from 'contract:validators';`, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [contractPlugin],
  });
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return import(`data:text/javascript;base64,${source}`);
}

const animal = { id: 1, name: 'Rex', categoryId: 2, status: 'sold' };

t.test('the script judges by the schemas of the contract', async (t) => {
  const { pets, pet, error } = await validators();
  t.ok(pet(animal));
  t.ok(pet({ id: 1, name: 'Rex', categoryId: 2, extra: true }), 'status is optional, other fields are free');
  t.ok(pets([animal, animal]));
  for (const wrong of [{ id: '1' }, { id: 1.5 }, { name: 7 }, { status: 'dead' }, { categoryId: null }])
    t.notOk(pet({ ...animal, ...wrong }), JSON.stringify(wrong));
  t.notOk(pets(animal));
  t.ok(error({ code: 'not_found', message: 'No such animal.', status: 404 }));
  t.notOk(error({ code: 'not_found', status: 404 }));
  t.ok(pet({ ...animal, id: 2 ** 64 }), 'an id that JSON.parse may have rounded is left to its text');
});

t.test('the script has every client, is private, and imports nothing but k6’s own modules', async (t) => {
  const plan = { ...planWith('k'), headers: [], samples: { categoryId: '1', ids: [] }, options: {} };
  const script = await placeScript(t.testdir({}), plan);
  t.equal(statSync(script).mode & 0o077, 0);
  const text = readFileSync(script, 'utf8');
  const imported = [...text.matchAll(/ from "([^"]+)";$/gm)].map(([, path = '']) => path);
  t.ok(imported.length > 0);
  for (const path of imported) t.match(path, /^k6(\/|$)/);
  const exported = /\nexport \{([^}]*)\};\n$/.exec(text)?.[1]?.split(/[\s,]+/) ?? [];
  for (const stream of CATALOGUE.flatMap(({ streams }) => streams))
    if (stream.kind === 'clients') t.ok(exported.includes(stream.name), stream.name);
});
