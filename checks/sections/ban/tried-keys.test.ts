/** Section 8: which other keys are tried while one is banned, and what they get. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { NOON, payer, type TestRun, testKey } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { outcomeOf } from '../testing/judged.ts';
import {
  type BanRules,
  banKeyForTests,
  banningRun,
  banScene,
  proKey,
  provoked,
} from './testing/banning-target.ts';

/** The waits for another key that is free. */
const waitsForAnother = ({ waits }: TestRun) => waits().filter((wait) => wait.includes('another key'));

t.test('a key of the same plan and the largest of another are tried meanwhile', async (t) => {
  const same = testKey({ name: 'free-2' });
  const load = testKey({
    name: 'load-1',
    plan: 'enterprise',
    roles: ['load'],
    limits: { perMinute: 5000, perDay: 1_000_000 },
  });
  const business = testKey({
    name: 'business-1',
    plan: 'business',
    limits: { perMinute: 1000, perDay: 100_000 },
  });
  const keys = [banKeyForTests, proKey, same, business, load];
  const got = async (rules: BanRules) =>
    (await provoked({ after: 10, ...rules }, { keys })).provocation.others.map(({ key, banned }) => [
      key.name,
      banned,
    ]);
  t.strictSame(await got({}), [
    ['free-2', false],
    ['business-1', false],
  ]);
  t.strictSame(
    await got({ bans: (key) => key?.startsWith('free') === true }),
    [
      ['free-2', true],
      ['business-1', false],
    ],
    'by plan',
  );
});

t.test('the key itself is no other key, whatever else it may do', async (t) => {
  const key = { ...banKeyForTests, roles: ['functional', 'ban'] as const };
  const { provocation } = await provoked({ after: 3, seconds: 70 }, { keys: [key, proKey] });
  t.strictSame(
    provocation.others.map((other) => other.key.name),
    ['pro-1'],
  );
});

t.test('a key that may have earned a ban of its own, or is being counted, is not tried', async (t) => {
  const tried = async (...statuses: readonly number[]) => {
    const test = await banningRun({
      after: 3,
      otherwise: ({ request, number }) =>
        payer(request) === proKey.name
          ? { status: statuses[number - 1] ?? 200, limit: 300, remaining: 200 }
          : undefined,
    });
    for (const _status of statuses) await test.run.probe('earlier').attempt(listPets(), proKey);
    return (await outcomeOf(test.run, banScene())).others.length;
  };
  t.equal(await tried(), 1);
  t.equal(await tried(429), 1, 'a single refusal earns no ban');
  t.equal(await tried(429, 429), 0);
  t.equal(await tried(429, 429, 200), 1, 'it was admitted since');
  t.equal(await tried(200, 429, 429), 0);
  const test = await banningRun({ after: 3 });
  const counted = await test.run
    .probe('minute:pro-1')
    .lane(proKey)
    .reserveFor(() => outcomeOf(test.run, banScene()));
  t.equal(counted.others.length, 0);
});

t.test('each key is tried that is free, while the ban lasts', async (t) => {
  const small = testKey({ name: 'free-2', limits: { perMinute: 2, perDay: 1000 } });
  const test = await banningRun({ after: 3, seconds: 30 }, { keys: [banKeyForTests, small, proKey] });
  for (let sent = 0; sent < 2; sent += 1) await test.run.probe('earlier').attempt(listPets(), small);
  const { others } = await outcomeOf(test.run, banScene());
  t.strictSame(
    others.map(({ key }) => key.name),
    ['pro-1'],
    'the other one is over its limit for longer',
  );
  t.match(waitsForAnother(test).at(-1), /^28/, 'its last second is left alone');
});

t.test('a ban of a day keeps nobody waiting for another key', async (t) => {
  const minutes = async (...others: readonly Key[]) => {
    const test = await banningRun({ after: 3, seconds: 86_400 }, { keys: [banKeyForTests, ...others] });
    const [spent] = others;
    if (spent !== undefined)
      for (const _refusal of [1, 2, 3, 4]) await test.run.probe('earlier').attempt(listPets(), spent);
    await test.run.play(banScene());
    return Math.round((test.clock.now() - NOON) / (60 * SECOND));
  };
  t.equal(await minutes(), 0, 'there is none');
  const spent = testKey({ name: 'free-2', limits: { perMinute: 2, perDay: 1000 } });
  t.equal(await minutes(spent, proKey), 3, 'one that may have earned a ban of its own');
});

t.test('a key that is over its own limit says nothing of the ban', async (t) => {
  const small = testKey({ name: 'free-2', limits: { perMinute: 2, perDay: 1000 } });
  const others = async (earlier: number, seconds: number, rules: BanRules = {}) => {
    const test = await banningRun({ after: 3, seconds, ...rules }, { keys: [banKeyForTests, small] });
    for (let sent = 0; sent < earlier; sent += 1) await test.run.probe('earlier').attempt(listPets(), small);
    const { others: tried } = await outcomeOf(test.run, banScene());
    return { tried: tried.length, waits: waitsForAnother(test).length };
  };
  t.match(await others(1, 20), { tried: 1 });
  t.match(await others(2, 20), { tried: 0 });
  t.match(await others(2, 100), { tried: 1 }, 'it is free again before the ban ends');
  t.match(await others(4, 20), { tried: 0 }, 'it may have earned a ban of its own');
  t.match(await others(2, 20, { tells: () => ({ status: 403, retryAfter: undefined }) }), {
    tried: 0,
    waits: 9,
  });
  const untold = () => ({ status: 403, retryAfter: undefined });
  t.match(await others(2, 70, { tells: untold }), { tried: 1 }, 'the ban outlasts the other key’s minute');
});

t.test('where a ban shows late, the others are asked while it lasts', async (t) => {
  const test = await banningRun({ after: 10, seconds: 30, tells: () => ({ status: 429 }) });
  const { others, later } = await outcomeOf(test.run, banScene());
  t.equal(others.length, 2);
  t.ok((others[1]?.exchange.sentAt ?? 0) < (later[1]?.sentAt ?? 0));
});
