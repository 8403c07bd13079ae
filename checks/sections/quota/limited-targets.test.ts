/** What is said of whole targets whose limits are models: nothing against one that conforms, the row of what does not. */

import fc from 'fast-check';
import t from 'tap';
import { currentId } from '../../../spec/contract.ts';
import { MODELS, type SimulatedLimit } from '../../limits/testing/simulated-limits.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import type { Finding } from '../../run/findings.ts';
import { NOON } from '../../run/testing/test-run.ts';
import { type Arrival, type LimitedTarget, limitedRun, reset, verdictsOn } from './testing/limited-target.ts';
import { exhaustKey, type Told } from './testing/measured.ts';

const limits = { perMinute: 60, perDay: 1000 };
const free = exhaustKey({ limits });
const spare = exhaustKey({ name: 'free-2', roles: ['functional'], limits });
const toBan = exhaustKey({ name: 'free-ban', roles: ['ban'], limits });
const keys: readonly Key[] = [free, spare, toBan];
const ban = { refusals: 10, seconds: 40 };
const all = ['exhaust', 'ban'] as const;

type Model = keyof typeof MODELS;

/** A conforming target. At the end of its window a sliding counter still holds all of it: it asks to wait longer. */
const conforming = (model: Model, given: Partial<LimitedTarget> = {}): LimitedTarget => ({
  keys,
  permissions: all,
  ban,
  limit: MODELS[model],
  later: model === 'slidingCounter' ? 2 : 0,
  ...given,
});

const open = (verdicts: ReadonlyMap<string, Finding>) =>
  [...verdicts].filter(([, { verdict }]) => !['pass', 'skipped', 'not-applicable'].includes(verdict));

for (const model of Object.keys(MODELS) as Model[])
  t.test(`${model}: everything holds, the day too`, async (t) => {
    t.strictSame(open(await verdictsOn(conforming(model, { permissions: [...all, 'day'] }))), []);
  });

const someNumbers: fc.Arbitrary<readonly number[]> = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), {
  maxLength: 12,
});
const disturbed = fc.record({
  model: fc.constantFrom(...(Object.keys(MODELS) as Model[])),
  takes: fc.array(fc.oneof(fc.nat(5), fc.nat(40), fc.nat(900)), { minLength: 1, maxLength: 9 }),
  clockAhead: fc.oneof(fc.constant('none' as const), fc.constant(0), fc.integer({ min: -5000, max: 5000 })),
  day: fc.oneof(fc.constant(1000), fc.integer({ min: 0, max: 250 })),
  lost: fc.oneof(fc.constant<readonly number[]>([]), someNumbers),
  /** Nobody else sends one right before each of ours. */
  neighbours: fc.oneof(fc.constant<readonly number[]>([]), someNumbers),
  decades: fc.constantFrom(0, 0, -36, 12),
});

/** Such targets were once found in breach. */
const undisturbed = { clockAhead: 'none', day: 1000, lost: [], neighbours: [], decades: 0 } as const;
const examples: [typeof disturbed extends fc.Arbitrary<infer T> ? T : never][] = [
  [{ ...undisturbed, model: 'tokenBucket', takes: [88, 5], day: 67, neighbours: [1, 6] }],
  [{ ...undisturbed, model: 'slidingCounter', takes: [521], lost: [1, 6, 9] }],
  [{ ...undisturbed, model: 'slidingCounter', takes: [799, 23, 891], lost: [1] }],
  [
    {
      ...undisturbed,
      model: 'slidingCounter',
      takes: [0, 185, 2, 802, 800, 4, 892],
      clockAhead: 0,
      day: 102,
    },
  ],
];

t.test('whatever disturbs a conforming target, nothing is said against it', async (t) => {
  await fc.assert(
    fc.asyncProperty(disturbed, async ({ model, takes, clockAhead, day, lost, neighbours, decades }) => {
      const target = conforming(model, {
        clockAhead: clockAhead === 'none' ? 'none' : clockAhead + decades * 365 * 86_400,
        day,
        takes: (number) => takes[number % takes.length] ?? 0,
        neighbour: (number) => neighbours.includes(number),
        tells: ({ number }) => (lost.includes(number) ? reset : undefined),
      });
      const failed = [...(await verdictsOn(target))].filter(([, { verdict }]) => verdict === 'fail');
      if (failed.length > 0)
        throw new Error(JSON.stringify(failed.map(([id, { violation }]) => [id, violation])));
    }),
    { numRuns: 25, examples },
  );
  t.pass();
});

t.test(
  'a day that is spent, under headers of the minute: nothing else is blamed or waited for',
  async (t) => {
    for (const [day, waits] of [
      [0, 1],
      [1, 1],
      [30, 1],
      [90, 4],
    ] as const) {
      const target: LimitedTarget = {
        keys: [free],
        day,
        tells: ({ ofDay, seconds }) =>
          ofDay ? { limit: 60, remaining: 30, reset: seconds + 40, retryAfter: 50_000 } : undefined,
      };
      const test = limitedRun(target);
      const verdicts = open(await verdictsOn(target, test));
      t.not(verdicts.length, 0);
      t.ok(test.waits().length <= waits, `${day} left: ${test.waits().join('; ')}`);
      for (const [id, { verdict, reasons }] of verdicts) {
        t.equal(verdict, 'inconclusive', `${day} left: ${id}`);
        t.ok(
          reasons.every(({ kind }) => kind === 'day-spent' || kind === 'not-shown'),
          `${day} left: ${id}: ${JSON.stringify(reasons)}`,
        );
      }
    }
  },
);

t.test(
  'a day that is as small as a few minutes holds, and the minute of a smaller one binds nobody',
  async (t) => {
    for (const [perDay, minuteRow] of [
      [700, 'pass'],
      [400, 'skipped'],
    ] as const) {
      const key = exhaustKey({ plan: 'enterprise', limits: { perMinute: 600, perDay } });
      const verdicts = await verdictsOn({ keys: [key], permissions: ['exhaust', 'day'] });
      t.strictSame(open(verdicts), [], `${perDay} a day`);
      t.equal(verdicts.get('rate-day-enterprise')?.verdict, 'pass', `${perDay} a day`);
      t.equal(verdicts.get('rate-minute-enterprise')?.verdict, minuteRow, `${perDay} a day`);
    }
  },
);

/** One request at a time, evenly: whoever sends two at once is to wait for two seconds. */
const noBurst: SimulatedLimit = (capacity) => {
  let next = 0;
  return (now) => {
    const admitted = now >= next;
    if (admitted) next = now + MINUTE / capacity;
    return { admitted, remaining: admitted ? capacity - 1 : 0, reset: now + 2 * SECOND };
  };
};
/** What is told by each answer to a key that should be banned, or whose day is over. */
const overDay = (
  isServed: (arrival: Arrival, refusals: number) => boolean,
): Pick<LimitedTarget, 'tells' | 'permissions'> => {
  let refusals = 0;
  return {
    permissions: ['exhaust', 'day', 'writes'],
    tells: (arrival) => {
      if (arrival.ofDay) refusals += 1;
      return arrival.ofDay && isServed(arrival, refusals) ? { status: 200, remaining: 0 } : undefined;
    },
  };
};

/** The day's refusals have headers of a minute that has quota left. */
const dayEndsWith = (refusal: Told): Pick<LimitedTarget, 'tells' | 'permissions'> => ({
  permissions: ['exhaust', 'day'],
  tells: ({ ofDay, seconds }) =>
    ofDay ? { limit: 60, remaining: 30, reset: seconds + 40, ...refusal } : undefined,
});

/** While one key is banned every key is. */
function banOfAll(): NonNullable<LimitedTarget['tells']> {
  let until = 0;
  return ({ banned, seconds }) => {
    if (banned && until === 0) until = seconds + 40;
    if (seconds >= until) return undefined;
    return { status: banned ? 403 : 401, code: 'banned', retryAfter: Math.ceil(until - seconds) };
  };
}

t.test(
  'what does not conform is told by its row, a minute’s within three minutes, a ban’s within five',
  async (t) => {
    const rows: readonly (readonly [string, string, Partial<LimitedTarget>, 'inconclusive'?])[] = [
      ['bursts are refused', 'rate-minute-free', { limit: noBurst }],
      ['one too few', 'rate-minute-free', { admits: 59 }],
      [
        'a Reset that is now while quota is left',
        'rate-reset-true',
        { tells: ({ admitted, seconds }) => (admitted ? { reset: Math.ceil(seconds) } : undefined) },
      ],
      ['never refused', 'rate-minute-free', { admits: 10_000 }],
      ['a wait that is too short', 'retry-after-honest', { later: -20 }],
      ['a ban of every key', 'ban-other-keys', { tells: banOfAll() }],
      [
        'a ban that goes on',
        'ban-ends',
        {
          ban: { refusals: 10, seconds: 3000 },
          tells: ({ banned }) => (banned ? { retryAfter: 20 } : undefined),
        },
      ],
      [
        'a ban of an hour that does not say so',
        'ban-ends',
        {
          ban: { refusals: 10, seconds: 3600 },
          tells: ({ banned }) => (banned ? { retryAfter: undefined } : undefined),
        },
        'inconclusive',
      ],
      [
        'a ban that lets in every sixth',
        'rate-refused-429',
        { tells: ({ banned, number }) => (banned && number % 6 === 0 ? { status: 200 } : undefined) },
      ],
      ['the day lets in every fourth', 'rate-day-free', overDay((_, refusals) => refusals % 4 === 0)],
      ['the day is for lists', 'rate-day-free', overDay(({ request }) => request.operation === 'createPet')],
      ['the day ends with 402', 'rate-day-refusal', dayEndsWith({ status: 402, retryAfter: 30_000 })],
      ['the day asks for a minute', 'rate-day-refusal', dayEndsWith({ retryAfter: 60 })],
    ];
    for (const [what, id, given, expected = 'fail'] of rows) {
      const target: LimitedTarget = { keys, permissions: all, ban, ...given };
      const test = limitedRun(target);
      const verdict = (await verdictsOn(target, test)).get(currentId(id))?.verdict;
      t.equal(verdict, expected, what);
      const minutes = (test.clock.now() - NOON) / MINUTE;
      const most = target.tells === undefined ? 3 : 5;
      t.ok(minutes < most || target.permissions?.includes('day'), `${what}: ${minutes} minutes`);
    }
  },
);
