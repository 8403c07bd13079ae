import { readFileSync } from 'node:fs';
import t from 'tap';
import { CATALOGUE } from '../lib/catalogue.ts';
import { readCapacity } from '../runner/capacity/result.ts';
import { readLoadResult } from '../runner/result/load-result.ts';
import { PUBLISHED } from './published-schemas.ts';

t.test('the schemas of the package are those of the definitions: npm run schemas', async (t) => {
  for (const [file, text] of PUBLISHED)
    t.same(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(text), file.pathname);
});

t.test('the stored results can be read: else npm run store:load', async (t) => {
  t.equal(readLoadResult(import.meta.dirname).verdict, 'broken');
  t.equal(readCapacity(import.meta.dirname).outcome, 'found');
});

t.test('the guide names every scenario', async (t) => {
  const guide = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const { name } of CATALOGUE) t.match(guide, new RegExp(`\\| ${name} +\\|`));
});
