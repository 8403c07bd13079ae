import t from 'tap';
import type { Permission } from '../../checks/profile/permissions.ts';
import type { KeyBill } from '../../checks/run/plan.ts';
import { BAN_SECONDS, checked, sharedClockTarget } from '../../checks/testing/shared-clock-target.ts';
import { run, testTarget } from '../testing/command.ts';
import { planCheck } from './check-plan.ts';

const CASES: readonly { readonly keys: readonly string[]; readonly permit: readonly Permission[] }[] = [
  { keys: ['free-1', 'pro-1', 'business-1'], permit: ['writes'] },
  { keys: ['pro-1'], permit: [] },
  { keys: ['free-1'], permit: ['writes'] },
  { keys: ['free-1', 'pro-1'], permit: ['writes', 'exhaust'] },
  { keys: ['free-1', 'pro-1', 'free-ban'], permit: ['writes', 'exhaust', 'ban'] },
  { keys: ['free-1'], permit: ['writes', 'exhaust', 'day'] },
];

/** What only some targets need: animals where the store has few, a second look where something is suspicious. */
const FEW = 15;

/** Refusals that a bill foresees, and how many came: the same, but where the target chooses when to ban. */
// Beside a banned key the others are asked as well: one that is over its limit at that moment is refused once more.
function foreseen({ refusals, refusalsAtMost }: KeyBill, came: number, besideBan: boolean): boolean {
  if (refusalsAtMost) return came > 0 && came <= refusals;
  return came >= refusals && came <= refusals + (besideBan ? 1 : 0);
}

for (const { keys, permit } of CASES) {
  t.test(
    `the bill of ${keys.join(', ')}, permitted ${permit.join(', ') || 'nothing'}, is what the run spends`,
    async (t) => {
      // An empty store is the dearest: what is needed has to be added.
      const animals = permit.length === 0 ? 120 : 0;
      const { request } = await sharedClockTarget(t, { animals }, keys, permit);
      const { bill, skipped } = planCheck({ ...request, only: undefined });
      const { trace, result, requestsByKey, startedAt, endedAt } = await checked(request);
      for (const billed of bill.keys) {
        const { name } = billed.key;
        const spent = requestsByKey.get(name) ?? 0;
        // Until a target bans, up to sixty requests are tried.
        const most = billed.refusalsAtMost ? spent + 75 : Math.max(spent * 1.25, spent + FEW);
        t.ok(
          billed.requests >= spent && billed.requests <= most,
          `${name}: ${billed.requests}, spent ${spent}`,
        );
        const refused = trace.readings.filter(({ key, status }) => key === name && status === 429).length;
        t.ok(
          foreseen(billed, refused, permit.includes('ban')),
          `${name}: ${billed.refusals} refusals, came ${refused}`,
        );
      }
      const seconds = bill.total / 1000;
      const took = (endedAt - startedAt) / 1000;
      // The ban's length is the target's; a minute is the least that a window less can make.
      const ban = bill.waitsForBan ? BAN_SECONDS : 0;
      t.ok(took <= seconds + ban && seconds <= took * 1.25 + 75, `${seconds} s, took ${took}`);
      const anonymous = requestsByKey.get('(none)') ?? 0;
      t.ok(bill.anonymous >= anonymous && bill.anonymous <= anonymous + 8, `${bill.anonymous}, ${anonymous}`);
      const added = trace.readings.filter(
        ({ operation, status }) => operation === 'createPet' && status === 201,
      ).length;
      t.ok(bill.animals >= added && bill.animals <= added + 16, `${bill.animals}, ${added}`);
      const left = [...result.requirements].flatMap(([id, { verdict }]) =>
        verdict === 'skipped' ? [id] : [],
      );
      t.same([...skipped.keys()].sort(), left.sort(), 'what is skipped is what was foreseen');
    },
  );
}

t.test('--dry-run sends nothing', async (t) => {
  const { folder, profile, env } = await testTarget(t, {
    permit: ['writes', 'exhaust', 'ban'],
    keys: ['free-1', 'pro-1', 'free-ban'],
  });
  const { code, stdout, stderr } = await run(
    folder,
    ['check', '--profile', profile, '--target', 'http://127.0.0.1:9/v1', '--dry-run'],
    env,
  );
  t.equal(code, 0, stderr);
  t.match(stdout, /^ {2}free-1 +free +\d+ +all of 60 +\d+ % of 1,000 +2$/m);
  t.match(stdout, /^ {2}free-ban +free +\d+ +all of 60 +\d+ % of 1,000 +up to \d+$/m);
  t.match(
    stdout,
    /^ {2}Requests {5}\d+ at most, if the target counts exactly, no answer is lost and nobody else uses the keys$/m,
  );
  t.match(stdout, /^ {2}Animals {6}\d+ are added at most, plus one for each lost answer; they stay$/m);
  t.match(stdout, /Longest wait 1 min, and the length of the ban/);
  t.match(stdout, /^ {2}At most {6}4\d min.*: then the run ends with what it has; --resume continues it$/m);
  t.match(stdout, /\? needs the permission day: rate-day-free, rate-day-pro/);
  t.match(stdout, /\? the profile has no business key with the role exhaust: rate-minute-business$/m);
});

t.test('--dry-run says how long the run may take, in real time', async (t) => {
  const { folder, profile, env } = await testTarget(t, { clockSpeed: 60 });
  const bill = async (...more: string[]) =>
    (await run(folder, ['check', '--profile', profile, '--dry-run', ...more], env)).stdout;
  t.match(await bill(), /^ {2}At most {6}1\d min.* of real time: then the run ends/m);
  t.match(await bill('--time-limit', '1m30s'), /^ {2}At most {6}1 min 30 s of real time: then the run ends/m);
});
