import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { CAPACITY_STEP, CATALOGUE } from '../lib/catalogue.ts';
import { placeScript } from '../runner/k6/script.ts';
import { contractPlugin } from './bundle.ts';

interface Validators {
  pets(value: unknown): boolean;
  pet(value: unknown): boolean;
  error(value: unknown): boolean;
  beyondDoubles(): boolean;
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

t.test('scripts judge by the schemas of the contract', async (t) => {
  const { pets, pet, error, beyondDoubles } = await validators();
  t.ok(pet(animal));
  t.ok(pet({ id: 1, name: 'Rex', categoryId: 2, extra: true }), 'status is optional, other fields are free');
  t.ok(pets([animal, animal]));
  for (const wrong of [{ id: '1' }, { id: 1.5 }, { name: 7 }, { status: 'dead' }, { categoryId: null }]) {
    t.notOk(pet({ ...animal, ...wrong }), JSON.stringify(wrong));
  }
  t.notOk(pets(animal));
  t.ok(error({ code: 'not_found', message: 'No such animal.', status: 404 }));
  t.notOk(error({ code: 'not_found', status: 404 }));
  beyondDoubles();
  pet(animal);
  t.notOk(beyondDoubles());
  pet({ ...animal, id: 2 ** 53 });
  t.ok(beyondDoubles(), 'an id that JSON.parse may have rounded is left to its text');
  t.notOk(beyondDoubles(), 'and is told of once');
});

t.test('every scenario comes with all that it imports, private, and leaves k6 its own modules', async (t) => {
  for (const facts of [...CATALOGUE, CAPACITY_STEP]) {
    const { name } = facts;
    const folder = join(t.testdir({}), name);
    await placeScript(facts, folder);
    const files = readdirSync(folder);
    for (const file of files) {
      t.equal(statSync(join(folder, file)).mode & 0o077, 0, `${name} is private`);
      const imported = [...readFileSync(join(folder, file), 'utf8').matchAll(/ from "([^"]+)";$/gm)];
      t.ok(imported.length > 0);
      for (const [, path = ''] of imported)
        t.ok(/^k6(\/|$)/.test(path) || files.includes(path.slice(2)), path);
    }
  }
});
