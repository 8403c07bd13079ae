import t from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import type { ScenarioFacts } from '../../lib/scenario.ts';
import { type BudgetKey, interleave, keyWithMostLeft, planQuota, renderBill } from './quota.ts';

const NUMBERS = {
  free: [60, 1000],
  pro: [300, 10_000],
  business: [1000, 100_000],
  enterprise: [5000, 1e6],
} as const;

function key(name: string, plan: BudgetKey['plan'], ...roles: string[]): BudgetKey {
  const [perMinute, perDay] = NUMBERS[plan];
  return { name, plan, env: name.toUpperCase(), roles, perMinute, perDay };
}

function facts(name: string): ScenarioFacts {
  const found = scenarioNamed(name);
  if (found === undefined) throw new Error(name);
  return found;
}

const mixed = facts('mixed');

t.test('a rate that one key can pay is paid', async (t) => {
  const plan = planQuota({ facts: mixed, rate: 10, seconds: 300, clockSpeed: 1 }, [
    key('b', 'business', 'load'),
  ]);
  t.match(plan, {
    kind: 'paid',
    // With the look at the target before it.
    bill: { total: 3001, keys: [{ key: 'b', requests: 3001, busiestMinute: 601 }] },
  });
});

t.test('the bill names what each key is sent, to the request', async (t) => {
  const keys = [key('f', 'free', 'load'), key('p', 'pro', 'load'), key('b', 'business', 'load')];
  for (const [rate, seconds] of [
    [7.3, 61],
    [21, 180],
    [0.31, 10],
    [20, 52.77],
  ] as const) {
    const plan = planQuota({ facts: mixed, rate, seconds, clockSpeed: 1 }, keys);
    if (plan.kind !== 'paid') throw new Error(plan.reason);
    const schedule = plan.streams[0]?.schedule ?? [];
    const turns = Array.from({ length: Math.ceil(rate * seconds) }, (_, turn) => schedule[turn % 1000]);
    for (const [index, { name }] of keys.entries()) {
      const own = turns.flatMap((payer, turn) => (payer === index ? [turn / rate] : []));
      const busiest = Math.max(
        0,
        ...own.map((from) => own.filter((at) => at >= from && at < from + 60 - 1e-9).length),
      );
      const look = index === plan.looksFirst ? 1 : 0;
      const row = plan.bill.keys.find((each) => each.key === name);
      t.equal(row?.requests, own.length + look, `${name} at ${rate}/s for ${seconds} s`);
      const told = (row?.busiestMinute ?? 0) - look;
      t.ok(told >= busiest && told <= busiest + 2, `${told} where ${busiest} were in a minute`);
    }
    t.equal(plan.bill.total, turns.length + 1);
  }
});

t.test(
  'a client that goes over its limit is billed for its busiest minute, not for all of them',
  async (t) => {
    const keys = [key('f', 'free', 'exhaust'), key('p', 'pro', 'exhaust')];
    const plan = planQuota({ facts: facts('plan-limit-edge'), rate: 0, seconds: 260, clockSpeed: 1 }, keys);
    if (plan.kind !== 'paid') throw new Error(plan.reason);
    t.match(plan.bill.keys, [
      { key: 'f', requests: 185, busiestMinute: 64 },
      { key: 'p', requests: 906, busiestMinute: 305 },
    ]);
    t.match(renderBill(plan.bill), / 64 of 60 in the busiest minute, over it on purpose\n/);
  },
);

t.test('noise goes on for longer than a minute: the bill has both', async (t) => {
  const keys = [key('ban', 'business', 'ban'), key('b', 'business', 'load')];
  const plan = planQuota({ facts: facts('noisy-neighbour'), rate: 2, seconds: 360, clockSpeed: 1 }, keys);
  if (plan.kind !== 'paid') throw new Error(plan.reason);
  t.match(plan.bill.keys, [
    { key: 'ban', requests: 1820, busiestMinute: 620 },
    { key: 'b', requests: 721, busiestMinute: 121 },
  ]);
});

t.test('a short run may spend a minute in a moment, a long one may not', async (t) => {
  const pro = [key('p', 'pro', 'load')];
  t.match(planQuota({ facts: mixed, rate: 29, seconds: 10, clockSpeed: 1 }, pro), { kind: 'paid' });
  t.match(planQuota({ facts: mixed, rate: 29, seconds: 11, clockSpeed: 1 }, pro), { kind: 'refused' });
});

t.test('a refusal says what would fit, and that does fit', async (t) => {
  const keys = [key('p', 'pro', 'load'), key('f', 'free', 'load')];
  const demand = { facts: mixed, rate: 20, seconds: 120, clockSpeed: 1 };
  const plan = planQuota(demand, keys);
  if (plan.kind !== 'refused') throw new Error('was paid');
  const rate = Number(/--rate (\S+)/.exec(plan.fits)?.[1]);
  const seconds = Number(/--duration (\d+)s/.exec(plan.fits)?.[1]);
  t.ok(rate > 5 && rate < 6, plan.fits);
  t.match(planQuota({ ...demand, rate }, keys), { kind: 'paid' });
  t.match(planQuota({ ...demand, rate: rate + 0.2 }, keys), { kind: 'refused' });
  t.match(planQuota({ ...demand, seconds }, keys), { kind: 'paid' });
  t.match(planQuota({ ...demand, seconds: seconds + 1 }, keys), { kind: 'refused' });
});

t.test("the day's budget counts too", async (t) => {
  const keys = [key('p', 'pro', 'load')];
  t.match(planQuota({ facts: mixed, rate: 4, seconds: 2400, clockSpeed: 1 }, keys), { kind: 'paid' });
  t.match(planQuota({ facts: mixed, rate: 4, seconds: 2600, clockSpeed: 1 }, keys), { kind: 'refused' });
});

t.test('no key pays more than its plan in any minute, whatever the plans', async (t) => {
  const keys = [key('f', 'free', 'load'), key('p', 'pro', 'load'), key('b', 'business', 'load')];
  const rate = 21;
  const plan = planQuota({ facts: mixed, rate, seconds: 180, clockSpeed: 1 }, keys);
  if (plan.kind !== 'paid') throw new Error(plan.reason);
  const [stream] = plan.streams;
  const arrivals = Array.from({ length: rate * 180 }, (_, turn) => stream?.schedule[turn % 1000] ?? -1);
  for (const [index, { name, perMinute }] of keys.entries()) {
    const at = arrivals.flatMap((payer, turn) => (payer === index ? [turn / rate] : []));
    const most = at.reduce((worst, start, first) => {
      const within = at.filter((time, turn) => turn >= first && time < start + 60).length;
      return Math.max(worst, within);
    }, 0);
    t.ok(most <= perMinute, `${name}: ${most} of ${perMinute}`);
  }
});

t.test('a faster clock at the target makes a minute shorter', async (t) => {
  const free = [key('f', 'free', 'load')];
  t.match(planQuota({ facts: mixed, rate: 5, seconds: 60, clockSpeed: 1 }, free), { kind: 'refused' });
  t.match(planQuota({ facts: mixed, rate: 5, seconds: 60, clockSpeed: 10 }, free), { kind: 'paid' });
});

t.test('only keys with the role pay', async (t) => {
  const plan = planQuota({ facts: mixed, rate: 1, seconds: 10, clockSpeed: 1 }, [
    key('b', 'business', 'functional'),
  ]);
  t.match(plan, { kind: 'refused', reason: /role load/ });
});

t.test('a persona’s key does not pay for others beside it', async (t) => {
  const keys = [key('ban', 'free', 'ban', 'load'), key('b', 'business', 'load')];
  const plan = planQuota({ facts: facts('abusive-client'), rate: 2, seconds: 240, clockSpeed: 1 }, keys);
  if (plan.kind !== 'paid') throw new Error(plan.reason);
  t.match(plan.streams, [
    { keys: [0], schedule: [] },
    { keys: [1], schedule: [1] },
  ]);
});

t.test('what runs before have spent is gone', async (t) => {
  const spent = { ...key('p', 'pro', 'load'), minuteLeft: 50, dayLeft: 5000 };
  t.match(planQuota({ facts: mixed, rate: 10, seconds: 4, clockSpeed: 1 }, [spent]), { kind: 'paid' });
  t.match(planQuota({ facts: mixed, rate: 10, seconds: 6, clockSpeed: 1 }, [spent]), { kind: 'refused' });
});

t.test('the target is looked at with the key that has most left', async (t) => {
  const spent = { ...key('b', 'business', 'load'), minuteLeft: 20 };
  t.equal(keyWithMostLeft([key('f', 'free', 'load'), spent])?.name, 'f');
  t.equal(keyWithMostLeft([spent, key('f', 'free', 'load'), key('p', 'pro', 'load')])?.name, 'p');
  t.equal(keyWithMostLeft([]), undefined);
});

t.test('turns are spread and come out', async (t) => {
  t.same(interleave([0.5, 0.25, 0.25], 4).toSorted(), [0, 0, 1, 2]);
  const turns = interleave([0.9, 0.1], 1000);
  t.equal(turns.filter((turn) => turn === 1).length, 100);
});
