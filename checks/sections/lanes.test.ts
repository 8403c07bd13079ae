import t from 'tap';
import { testKey, testRun } from '../run/testing/test-run.ts';
import type { Permission } from '../run/verdict.ts';
import { allChecks } from './all-checks.ts';
import { spendingLanes } from './lanes.ts';

const FREE = testKey({ roles: ['functional', 'exhaust'] });
const PRO = testKey({
  name: 'pro-1',
  plan: 'pro',
  roles: ['exhaust'],
  limits: { perMinute: 300, perDay: 10_000 },
});
const BANNED = testKey({ name: 'free-ban', roles: ['ban'] });

/** The scenes of each lane. */
function lanesOf(
  permissions: readonly Permission[],
  { keys = [FREE, PRO, BANNED], checks = allChecks } = {},
) {
  const { run } = testRun(() => ({}), { keys, permissions: new Set(permissions) });
  return spendingLanes(run.probe('plan'), checks).map((lane) => lane.map(({ id }) => id));
}

t.test(
  'each key spends its minute and then its day, beside the others, and another is banned meanwhile',
  async (t) => {
    t.strictSame(lanesOf(['exhaust', 'day', 'ban']), [
      ['minute:free-1', 'day:free-1'],
      ['minute:pro-1', 'day:pro-1'],
      ['ban:free-ban:end'],
    ]);
  },
);

t.test('nothing is spent without a permission', async (t) => {
  t.strictSame(lanesOf(['exhaust']), [['minute:free-1'], ['minute:pro-1']]);
  t.strictSame(lanesOf(['day']), [['day:free-1'], ['day:pro-1']]);
  t.strictSame(lanesOf(['ban']), [[], [], ['ban:free-ban:end']]);
  t.strictSame(lanesOf([]), [[], []]);
});

t.test('nothing is spent that no check asks about', async (t) => {
  const checksOf = (...asked: Permission[]) =>
    allChecks.filter(({ permit }) => permit !== undefined && asked.includes(permit));
  const lanes = (...asked: Permission[]) =>
    lanesOf(['exhaust', 'day', 'ban'], { checks: checksOf(...asked) });
  t.strictSame(lanes('exhaust'), [['minute:free-1'], ['minute:pro-1']]);
  t.strictSame(lanes('ban'), [[], [], ['ban:free-ban:end']]);
  t.strictSame(lanes(), [[], []]);
});

t.test('no key is banned that was not given for it', async (t) => {
  t.strictSame(lanesOf(['exhaust', 'ban'], { keys: [FREE] }), [['minute:free-1']]);
});
