/** What is wrong with a value by a schema: in testing/schema.txt the schema and the JSON, then what is said, and where. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertAsStored } from '../testing/as-stored.ts';
import { parseJson } from './lossless-json.ts';
import { schemaProblem } from './schema.ts';

const FILE = join(import.meta.dirname, 'testing', 'schema.txt');

t.test('what is wrong with a value is said as stored', async (t) => {
  const texts: Record<string, string> = {};
  for (const [, row = '', name, text = ''] of readFileSync(FILE, 'utf8').matchAll(/^===== ((\w+) (.*))$/gm)) {
    const parsed = parseJson(text);
    const [, problemOf] = Object.entries(schemaProblem).find(([known]) => known === name) ?? [];
    if (!parsed.ok || problemOf === undefined) throw new Error(row);
    const problem = problemOf(parsed.value);
    texts[row] = problem === undefined ? 'right' : `${problem.text}, at ${problem.at || 'the root'}`;
  }
  assertAsStored(t, FILE, texts);
});
