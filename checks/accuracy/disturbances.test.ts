/** A dozen pairs of a conforming variant and a disturbance; `npm run accuracy` runs them all. */
import t from 'tap';
import { runCase } from './case.ts';
import { PAIRS, someOf } from './cases.ts';
import { matrixOf } from './matrix.ts';

const { PETSTORE_SEED = String(Date.now() % 1_000_000) } = process.env;

t.test(`no alarm, and nothing open that is not explained (PETSTORE_SEED=${PETSTORE_SEED})`, async (t) => {
  for (const pair of someOf(PAIRS, 12, Number(PETSTORE_SEED)))
    await t.test(`${pair.name}, ${pair.disturbance}`, async (t) => {
      const { problems } = matrixOf([{ case: pair, result: await runCase(pair) }], []);
      t.strictSame(problems, []);
    });
});
