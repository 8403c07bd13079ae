/** Of the answers of a run alone, judged as another client's: no alarm, and faults that show in one answer are found. */
import t from 'tap';
import { Traffic } from '../run/traffic.ts';
import { allChecks } from '../sections/all-checks.ts';
import { operationAsked } from '../wire/observed.ts';
import { type AccuracyCase, runCase } from './case.ts';
import { casesFor, PAIRS, someOf } from './cases.ts';

const { PETSTORE_SEED = String(Date.now() % 1_000_000) } = process.env;

/** The rows that fail where only the traffic of the run is known. */
async function failedOf(one: AccuracyCase): Promise<string[]> {
  const traffic = new Traffic(allChecks, {
    ...{ id: 'traffic', baseUrl: 'http://target/v1', clockSpeed: 1, sampleCategoryId: undefined },
    ...{ keys: [], permissions: new Set(), declined: new Set() },
  });
  await runCase({ ...one, ...(one.breaks === undefined ? {} : { only: [one.breaks] }) }, (exchange) => {
    if (operationAsked(exchange.request) !== undefined) traffic.see({ ...exchange, intent: 'foreign' });
  });
  return [...traffic.result.requirements].flatMap(([id, { verdict }]) => (verdict === 'fail' ? id : []));
}

t.test(`no alarm (PETSTORE_SEED=${PETSTORE_SEED})`, async (t) => {
  for (const pair of someOf(PAIRS, 2, Number(PETSTORE_SEED)))
    t.strictSame(await failedOf(pair), [], `${pair.name}, ${pair.disturbance}`);
});

t.test('faults', async (t) => {
  for (const name of ['filter-ignored', 'reset-in-milliseconds']) {
    const [fault] = casesFor(new RegExp(`^${name}$`)).cases.filter((one) => one.name === name);
    if (fault === undefined) throw new Error(name);
    t.ok((await failedOf(fault)).includes(fault.breaks ?? ''), name);
  }
});
