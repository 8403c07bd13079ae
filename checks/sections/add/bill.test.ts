/** What the checks of section 4.2 need, each by itself: the permission to write, and what they declare to spend. */
import t from 'tap';
import type { Check } from '../../run/check.ts';
import { judgeRun } from '../../run/judge.ts';
import { playRun } from '../../run/play.ts';
import { animals } from '../list/testing/listed.ts';
import { billOfCheck } from '../testing/bill.ts';
import { addAnimalChecks } from './checks.ts';
import { invalidAnimalChecks } from './invalid-bodies.ts';
import { addingRun, additionsOf } from './testing/adding.ts';

const creating = addAnimalChecks.filter((check) => !invalidAnimalChecks.includes(check));

/** What is said of a target that adds whatever it is sent, by one check alone. */
async function alone(check: Check, ...options: Parameters<typeof addingRun>) {
  const { run, sent } = addingRun(...options);
  const judging = { checks: [check], gapObservers: [] };
  await playRun(run, judging);
  const { requirements } = judgeRun(judging, run, run.trace);
  return { ...requirements.get(check.id), sent };
}

t.test('each check comes to its verdict by itself', async (t) => {
  for (const check of creating) t.equal((await alone(check, animals(3))).verdict, 'pass', check.id);
});

t.test('none spends what it does not declare', async (t) => {
  for (const check of creating)
    for (const store of [animals(0), animals(3), animals(30)]) {
      const { sent } = await alone(check, store);
      const { requests, animals: most } = billOfCheck(check, 'writes');
      t.ok(sent.length <= requests, `${check.id}: ${sent.length} of ${requests} requests`);
      const added = additionsOf(sent).length;
      t.ok(added <= most, `${check.id}: ${added} of ${most} animals`);
    }
});

t.test('without the permission to write nothing is sent, and all of it is skipped', async (t) => {
  for (const check of addAnimalChecks) {
    const { verdict, reason, sent } = await alone(check, [], undefined, { permissions: new Set() });
    t.strictSame([verdict, reason], ['skipped', 'needs the permission writes'], check.id);
    t.equal(sent.length, 0, check.id);
  }
});
