import fc from 'fast-check';
import t from 'tap';
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { scenarioNamed } from '../../lib/catalogue.ts';
import {
  type BudgetKey,
  type Demand,
  looksFirst,
  type PaidLoad,
  payFor,
  totalOf,
  Unpayable,
} from './quota.ts';

const NUMBERS = {
  free: [60, 1000],
  pro: [300, 10_000],
  business: [1000, 100_000],
  enterprise: [5000, 1e6],
} as const;

function key(name: string, plan: keyof typeof NUMBERS, ...roles: string[]): BudgetKey {
  const [perMinute, perDay] = NUMBERS[plan];
  return { name, plan, env: name.toUpperCase(), roles, perMinute, perDay };
}

const mixed = scenarioNamed('mixed');
const FREE = key('f', 'free', 'load');
const PRO = key('p', 'pro', 'load');
const BUSINESS = key('b', 'business', 'load');

/** What a mixed load costs, or what would fit. */
function pay(rate: number, seconds: number, keys: readonly BudgetKey[], more: Partial<Demand> = {}) {
  try {
    return payFor({ facts: mixed, rate, seconds, clockSpeed: 1, ...more }, keys);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function paid(load: PaidLoad | UsageError): PaidLoad {
  if (load instanceof UsageError) throw load;
  return load;
}

t.test('the bill is what each key is sent, to the request, and never more than its plan', async () => {
  const keys = [FREE, PRO, BUSINESS];
  const rates = fc.double({ min: 0.05, max: 22, noNaN: true });
  fc.assert(
    fc.property(
      rates,
      fc.integer({ min: 5, max: 240 }),
      fc.integer({ min: 1, max: 3 }),
      (rate, seconds, processes) => {
        const load = pay(rate, seconds, keys, { processes });
        if (load instanceof UsageError) return;
        const { turns, keys: bill } = load;
        const own = rate / processes;
        for (const [index, { name, perMinute }] of keys.entries()) {
          const at = turns.flatMap((schedule) =>
            Array.from({ length: Math.ceil(own * seconds - 1e-6) }, (_, turn) =>
              schedule[turn % schedule.length] === index ? [turn / own] : [],
            ).flat(),
          );
          const look = index === looksFirst(load) ? 1 : 0;
          const row = bill.find((each) => each.name === name);
          if (Math.abs((row?.requests ?? 0) - at.length - look) > 1)
            throw new Error(`${name}: ${row?.requests}, ${at.length}`);
          const busiest = Math.max(
            0,
            ...at.map((from) => at.filter((time) => time >= from && time < from + 60).length),
          );
          if (busiest > perMinute) throw new Error(`${name} is sent ${busiest} in a minute`);
          if (busiest + look > (row?.busiestMinute ?? 0) + 1)
            throw new Error(`${name}: ${busiest} are not billed`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

t.test('what fits is decided by minute, day, clock, role and what was spent before', async (t) => {
  const spent = { ...PRO, minuteLeft: 50, dayLeft: 5000 };
  for (const [fits, rate, seconds, key, more] of [
    // A short run may spend a minute in a moment, a long one may not.
    [true, 29, 10, PRO],
    [false, 29, 11, PRO],
    [true, 4, 2400, PRO],
    [false, 4, 2600, PRO],
    [false, 5, 60, FREE],
    [true, 5, 60, FREE, { clockSpeed: 10 }],
    [true, 10, 4, spent],
    [false, 10, 6, spent],
    [false, 1, 10, { ...BUSINESS, roles: ['functional'] }],
  ] as const)
    t.equal(
      !(pay(rate, seconds, [key], more) instanceof UsageError),
      fits,
      `${rate}/s for ${seconds} s, ${key.plan}`,
    );
  t.match(pay(1, 10, [key('x', 'pro')]), { message: /no key has the role load/ });
});

t.test('a refusal says what would fit, and that does fit', async (t) => {
  const keys = [PRO, FREE];
  const refused = pay(20, 120, keys);
  if (!(refused instanceof Unpayable)) throw new Error('was paid');
  const rate = Number(/--rate (\S+)/.exec(refused.message)?.[1]);
  const seconds = Number(/--duration (\d+)s/.exec(refused.message)?.[1]);
  t.ok(rate > 4.9 && rate < 5, refused.message);
  t.equal(totalOf(paid(pay(rate, 120, keys)).keys), Math.ceil(rate * 120) + 1, 'with the look at the target');
  t.ok(pay(rate + 0.2, 120, keys) instanceof Unpayable);
  t.ok(paid(pay(20, seconds, keys)));
  t.ok(pay(20, seconds + 1, keys) instanceof Unpayable);
  t.match(refused.message, /^mixed does not fit: .*\nWould fit: .*\n {2}p .* of 10,000 a day/);
});

t.test('processes have keys of their own that can pay an equal part', async (t) => {
  const three = [BUSINESS, key('c', 'business', 'load'), key('d', 'business', 'load')];
  const { turns, keys: bill } = paid(pay(9, 120, three, { processes: 3 }));
  t.same(turns.flat().toSorted(), [0, 1, 2]);
  t.ok(totalOf(bill) > 9 * 120 && totalOf(bill) <= 9 * 120 + 3, 'each rounds its own part up');
  t.match(pay(16, 120, [FREE, BUSINESS], { processes: 2 }), {
    message: /does not fit: .*\nWould fit: --rate 1\.86 for the same time/,
  });
});

t.test('keys pay equal parts, as many as can; the one that can pay most looks at the target', async (t) => {
  t.same(paid(pay(1, 120, [FREE, PRO, BUSINESS])).turns, [[1, 2, 0]]);
  t.same(paid(pay(8, 120, [FREE, PRO, BUSINESS])).turns, [[2, 1]], 'a third is too much for one of them');
  t.same(paid(pay(3, 120, [PRO, BUSINESS, BUSINESS], { processes: 2 })).turns.flat().length, 2);
  const spent = { ...BUSINESS, minuteLeft: 20 };
  t.equal(looksFirst(paid(pay(0.5, 60, [FREE, spent]))), 0);
  t.equal(looksFirst(paid(pay(1, 60, [spent, FREE, PRO]))), 2);
});
