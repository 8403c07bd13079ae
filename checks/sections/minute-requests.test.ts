import t from 'tap';
import type { RequestSpec } from '../harness/requests.ts';
import { testRun } from '../harness/run-for-tests.ts';
import { exhaustKey } from './measured-for-tests.ts';
import { refusedOperation, variety } from './minute-requests.ts';

const keys = [exhaustKey(), exhaustKey({ name: 'free-2' })];

/** All that is sent while both keys are driven to their limits, as far as it adds. */
function additions(): RequestSpec[] {
  const probe = testRun(undefined, { keys, permissions: new Set(['writes', 'exhaust']) }).run.probe('check');
  const specs = keys.flatMap((key) => {
    const requests = variety(probe, key, [7n], 1n);
    const filling = Array.from({ length: 20 }, () => requests.next().value).filter(
      (spec) => spec !== undefined,
    );
    return [...filling, refusedOperation(probe, key, [7n], 1n)];
  });
  return specs.filter(({ operation }) => operation === 'createPet');
}

t.test('an addition that a process’s end cuts off is sent as another animal than any', async (t) => {
  const all = additions();
  t.equal(all.length, 2 * 9 + 1);
  t.ok(all.every(({ again }) => again !== undefined));
  const bodies = all.flatMap(({ body, again }) => [body, again?.body]);
  t.equal(new Set(bodies).size, 2 * all.length);
});
