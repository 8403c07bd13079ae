/** What is wrong with a value by a schema: in testing/schema.txt the schema and the JSON, then what is said, and where. */
import { join } from 'node:path';
import t from 'tap';
import { assertAnsweredAsStored } from '../testing/answered-as-stored.ts';
import { parseJson } from './lossless-json.ts';
import { schemaProblem } from './schema.ts';

const FILE = join(import.meta.dirname, 'testing', 'schema.txt');

t.test('what is wrong with a value is said as stored', async (t) => {
  await assertAnsweredAsStored(t, FILE, (asked) => {
    const [, name, text = ''] = /^(\w+) (.*)$/.exec(asked) ?? [];
    const parsed = parseJson(text);
    const [, problemOf] = Object.entries(schemaProblem).find(([known]) => known === name) ?? [];
    if (!parsed.ok || problemOf === undefined) throw new Error(asked);
    const problem = problemOf(parsed.value);
    return problem === undefined ? 'right' : `${problem.text}, at ${problem.at || 'the root'}`;
  });
});
