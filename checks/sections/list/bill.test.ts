/** What the checks and observers of section 4.1 spend, and what the bill before a run has of it. */
import t from 'tap';
import type { Check } from '../../run/check.ts';
import type { Run } from '../../run/run.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { billOfCheck, billOfGap } from '../testing/bill.ts';
import { judged, observed, seen } from '../testing/judged.ts';
import { listAnimalChecks } from './checks.ts';
import { listAnimalGaps } from './gaps.ts';
import { lists } from './scenes.ts';
import { animals, listBody, storeOf } from './testing/listed.ts';

/** Everything of section 4.1 by itself: how it goes, and its bill. */
const ALONE = [
  ...listAnimalChecks.map((check) => ({
    id: check.id,
    permit: check.permit,
    go: (run: Run): Promise<unknown> => judged(run, listAnimalChecks, check.id),
    bill: (...permissions: readonly 'writes'[]) => billOfCheck(check, ...permissions).requests,
  })),
  ...listAnimalGaps.map((gap) => ({
    id: gap.id,
    permit: gap.permit,
    go: (run: Run): Promise<unknown> => observed(run, listAnimalGaps, gap.id),
    bill: (...permissions: readonly 'writes'[]) => billOfGap(gap, ...permissions).requests,
  })),
];

/** What is spent on a store whose longest list was short at first, so that it has to be taken again. */
async function spentBy(go: (run: Run) => Promise<unknown>): Promise<number> {
  const store = animals(120);
  const { run } = testRun((request, number) =>
    number === 1 ? { body: listBody(store.slice(0, 99)) } : storeOf(store)(request),
  );
  await go(run);
  return run.trace.exchanges.length;
}

t.test('each of them spends what is on its bill', async (t) => {
  for (const { id, permit, go, bill } of ALONE)
    if (permit === undefined) t.equal(await spentBy(go), bill(), id);
});

t.test('what needs an animal of the run is on the bill where animals may be added', async (t) => {
  for (const { id, permit, go, bill } of ALONE) {
    if (permit === undefined) continue;
    t.equal(bill(), 0, id);
    t.ok((await spentBy(go)) <= bill('writes'), id);
  }
});

t.test('what looks at lists as they come asks for some where it is alone', async (t) => {
  const isPassive = ({ observe, needs }: Check) =>
    observe !== undefined && Object.values(needs).every((need) => need === lists);
  for (const { id, needs } of listAnimalChecks.filter(isPassive)) {
    const { run } = testRun(storeOf(animals(30)));
    await judged(run, listAnimalChecks, id);
    const { verdict } = seen(run, listAnimalChecks, id, run.trace.exchanges.filter(isAnswered));
    t.equal(verdict, 'lists' in needs ? 'pass' : 'inconclusive', id);
  }
});
