/** Section 8: at which pace a key goes on after a 429, and which of what it is served was over the limit. */
import t from 'tap';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Run } from '../../run/run.ts';
import { NOTHING_TRIED } from '../../run/scene.ts';
import { payer, testKey } from '../../run/testing/test-run.ts';
import { type LimitedTarget, limitedRun, reset } from '../minute/testing/limited-target.ts';
import { played } from '../testing/judged.ts';
import {
  type BanRules,
  banKeyForTests,
  banScene,
  forbidden,
  proKey,
  provoked,
} from './testing/banning-target.ts';

/** How many requests of the key went together, from this one on, and the next time, and so on. */
function together({ trace }: Run, from: number): number[] {
  const own = trace.readings.filter(({ key }) => key === banKeyForTests.name).slice(from - 1);
  return [...new Set(own.map(({ sentAt }) => sentAt))].map(
    (time) => own.filter(({ sentAt }) => sentAt === time).length,
  );
}

/** An answer of these numbers takes so long. */
const slow =
  (isSlow: (number: number) => boolean, seconds: number): NonNullable<LimitedTarget['takes']> =>
  (number) =>
    isSlow(number) ? seconds * SECOND : 0;

t.test('one request at a time, unless the last few answers were all slow', async (t) => {
  const pace = async (isSlow: (number: number) => boolean) =>
    together((await provoked({ after: 40 }, { takes: slow(isSlow, 0.3) })).run, 13);
  t.ok((await pace(() => false)).every((count) => count === 1));
  t.strictSame((await pace((number) => number === 14)).slice(0, 6), [1, 1, 1, 1, 1, 1], 'one of them was');
  t.strictSame((await pace((number) => number > 13)).slice(0, 5), [1, 1, 1, 1, 4], 'three of them were');
});

t.test('what a new window has given back is spent at once', async (t) => {
  const givenBack = async (told: object) =>
    together(
      (
        await provoked({
          otherwise: ({ number, admitted }) => {
            if (admitted) return undefined;
            return number === 16 ? { status: 200, reset: 100, remaining: 4, ...told } : { reset: 60 };
          },
        })
      ).run,
      13,
    ).slice(0, 6);
  t.strictSame(await givenBack({}), [1, 1, 1, 1, 4, 1]);
  t.strictSame(await givenBack({ limit: 1000 }), [1, 1, 1, 1, 1, 1], 'the day’s figures');
  t.strictSame(
    await givenBack({ reset: 60 }),
    [1, 1, 1, 1, 1, 1],
    'its Reset stands still: it is over the limit',
  );
});

t.test('a refusal that showed no Reset is followed by one that does', async (t) => {
  const { own } = await provoked({
    otherwise: ({ number, admitted }) => {
      if (admitted) return undefined;
      return number === 16 ? { status: 200, reset: 100 } : { reset: undefined };
    },
  });
  t.equal(own[16]?.path, '/pets?limit=1', 'nobody knows what was given back');
});

t.test('where no animal is served, lists alone go over the limit', async (t) => {
  const test = limitedRun({ keys: [banKeyForTests], options: { permissions: new Set(['ban'] as const) } });
  await played(test.run, 'store-sample', undefined);
  await played(test.run, 'retrievals', NOTHING_TRIED);
  await test.run.play(banScene());
  const paths = test.sent.map(({ path }) => path);
  t.strictSame(new Set(paths.slice(0, 12)), new Set(['/pets?limit=1']), 'short ones reach it');
  t.strictSame(paths.slice(12, 16), [
    '/pets?limit=100&status=sold',
    '/pets',
    '/pets?limit=100',
    '/pets?status=pending',
  ]);
});

t.test('a target that does not ban costs what is declared', async (t) => {
  const keys = [banKeyForTests, proKey, testKey({ name: 'free-2' })];
  const { sent } = await provoked({}, { keys });
  t.ok(sent.length <= (banScene().requests ?? 0));
  const others = sent.filter((request) => payer(request) !== banKeyForTests.name);
  t.strictSame(
    others.map(({ path }) => path),
    ['/pets?limit=1', '/pets?limit=1'],
  );
});

t.test('an edge of the window is no matter where something was refused after it', async (t) => {
  const { own, provocation } = await provoked({ after: 10 }, { takes: slow((number) => number === 3, 60) });
  t.equal(own.length, 12 + 6, 'the limit is not reached once more');
  t.match(provocation, { ban: { after: 10 }, first: { id: 'ban:free-ban#9' } });
});

t.test('where a connection breaks, what was not sent yet is not', async (t) => {
  const large = { ...banKeyForTests, limits: { perMinute: 100, perDay: 1000 } };
  const { run, provocation } = await provoked(
    { after: 5, otherwise: ({ number }) => (number === 1 ? reset : undefined) },
    { keys: [large, proKey] },
  );
  t.strictSame(
    together(run, 1).slice(0, 3),
    [49, 26, 1],
    'of eighty, and the last twenty and six more; the rest one by one',
  );
  t.match(provocation, { ban: { after: 5 }, first: { outcome: { status: 429 } } });
});

/** Four requests go together from the fourteenth on, since the one before them was slow. */
const FOUR: LimitedTarget = { takes: slow((number) => number === 13, 0.3) };

/** What was served over the limit, and how many went together at first. */
async function servedOf(rules: BanRules, target = FOUR) {
  const { provocation, run } = await provoked(rules, target);
  const served = provocation.served.map(({ id }) => id);
  return { served, pace: together(run, 13).slice(0, 2) };
}

t.test('of requests that were in flight together nobody knows which came first', async (t) => {
  const pace = [1, 4];
  const servedAs = (number: number): BanRules => ({
    otherwise: (arrival) => (arrival.number === number ? { status: 200 } : undefined),
  });
  t.strictSame(
    await servedOf(servedAs(15)),
    { served: ['ban:free-ban#15'], pace },
    'a refusal was before, and one after them',
  );
  t.strictSame(
    await servedOf(servedAs(17), { ...FOUR, admits: 15 }),
    { served: [], pace },
    'the first refusal of all was in flight with it',
  );
  t.strictSame(
    await servedOf({
      otherwise: ({ number }) =>
        number === 14 ? { status: 200 } : number > 14 && number < 18 ? forbidden(20) : undefined,
    }),
    { served: [], pace },
    'so was the last one, by which the key is banned',
  );
});

t.test('without a Reset nobody knows what was given back', async (t) => {
  const { provocation } = await provoked({
    otherwise: ({ number }) => ({ reset: undefined, ...(number === 16 ? { status: 200 } : {}) }),
  });
  t.strictSame(provocation.served, []);
});

t.test('what was served before a refusal is not counted from that refusal on', async (t) => {
  const { provocation } = await provoked(
    {
      otherwise: ({ number, admitted }) =>
        !admitted && (number === 14 || number === 20) ? { status: 200 } : undefined,
    },
    // A slow burst leaves time before the window ends; ten seconds give one request back.
    { takes: (number) => (number === 1 ? 3 * SECOND : number === 17 ? MINUTE / 6 : 0) },
  );
  t.equal(provocation.served.length, 2);
  t.strictSame(provocation.servedBeyondRefill, []);
});
