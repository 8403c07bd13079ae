/** What the checks of section 4.3 spend, and what they declare that they do. */
import t from 'tap';
import type { Check, Scene } from '../../run/check.ts';
import type { Run } from '../../run/run.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { type Animal, animals, type Own } from '../list/testing/listed.ts';
import { judged } from '../testing/judged.ts';
import { getAnimalChecks, retrievals } from './checks.ts';
import { retrievalRun, serving } from './testing/retrieved.ts';

const spentBy = (run: Run, sender: string) => run.exchanges.filter(({ sentBy }) => sentBy === sender).length;

/** Requests by who sends them: a check, and the scenes that it plays. */
function declared({ id, spends, scenes = [] }: Check | Scene<unknown>): ReadonlyMap<string, number> {
  return new Map([[id, spends?.requests ?? 0], ...scenes.flatMap((scene) => [...declared(scene)])]);
}

t.test('no check spends what it does not declare', async (t) => {
  for (const check of getAnimalChecks) {
    const { run } = testRun(serving(animals(3)));
    await judged(run, getAnimalChecks, check.id);
    const bill = declared(check);
    for (const { sentBy } of run.exchanges) {
      const spent = spentBy(run, sentBy);
      t.ok(spent <= (bill.get(sentBy) ?? 0), `${check.id}: ${spent} of ${bill.get(sentBy)} by ${sentBy}`);
    }
  }
});

t.test('nor declares more than it may come to', async (t) => {
  const own = Array.from({ length: 9 }, (_, index): Own => ({ id: index + 5, label: 'sold', sent: 'sold' }));
  const large = 2n ** 53n + 1n;
  const store: readonly Animal[] = [...own.map(({ id }): Animal => [id, 'sold']), [20], [large], [21]];
  const { run } = await retrievalRun({ store, own });
  const checks = getAnimalChecks.filter(({ spends }) => spends !== undefined);
  for (const { id } of checks) await judged(run, getAnimalChecks, id);
  for (const part of [retrievals, ...checks.flatMap((check) => [check, ...(check.scenes ?? [])])])
    t.equal(spentBy(run, part.id), part.spends?.requests, part.id);
});
