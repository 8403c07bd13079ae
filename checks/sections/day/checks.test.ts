/** Section 8: requests per day, and what is said of them. */
import t from 'tap';
import { reading } from '../../limits/testing/simulated-limits.ts';
import { DAY, type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import type { Exchange } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { exchangeAt, type Told } from '../minute/testing/measured.ts';
import { judged, played } from '../testing/judged.ts';
import { dailyQuotaChecks } from './checks.ts';
import { END, free, HOURS, PER_DAY } from './testing/day-spending.ts';

/** The refusal of a day that ends twelve hours from noon; sent a minute after noon. */
const refused = (told: Told = {}) =>
  exchangeAt('refusal', 60, { limit: PER_DAY, reset: 12 * HOURS, retryAfter: 12 * HOURS - 60, ...told });

const spent = (count: number, given: Partial<RateReading> = {}) =>
  Array.from({ length: count }, (_, index) => reading({ sentAt: NOON + index * 100, limit: 6, ...given }));

interface Day {
  readonly key: Key;
  readonly admitted: readonly RateReading[];
  readonly refusal: Exchange | undefined;
  readonly isDays: boolean;
  readonly toldEnd: number | undefined;
  readonly refusedAgain: Exchange | undefined;
}

async function said(id: string, given: Partial<Day>, lost = 0) {
  const key = given.key ?? free;
  const { run } = testRun(() => ({}), {
    keys: [key],
    permissions: new Set(['day'] as const),
    lost: new Map([[key.name, lost]]),
  });
  const day: Day = {
    key,
    admitted: spent(PER_DAY),
    refusal: refused(),
    isDays: true,
    toldEnd: END,
    refusedAgain: undefined,
    ...given,
  };
  await played(run, `day:${key.name}`, day);
  return judged(run, dailyQuotaChecks, id);
}
const day = (given: Partial<Day>, lost = 0) => said('rate-day-free', given, lost);

t.test('the plan’s requests a day, no fewer, no more', async (t) => {
  t.match(await day({}), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await day({ admitted: spent(21) }), {
    verdict: 'fail',
    expected: /^20 requests admitted in a day with a key of plan free$/,
    reason: '21 were admitted',
    evidence: /^refusal$/,
  });
  t.match(await day({ admitted: spent(41), refusal: undefined }), {
    verdict: 'fail',
    reason: '41 were, and none was refused for the day',
    evidence: /^$/,
  });
  const days = [...spent(41), reading({ sentAt: NOON + DAY })];
  t.match(
    await day({ admitted: days, refusal: undefined }),
    { verdict: 'inconclusive' },
    'more days than two have quota of their own',
  );
});

t.test('what was admitted around the moment at which the day began may belong to either day', async (t) => {
  const begun = END - DAY;
  const before = [
    reading({ sentAt: begun - 60 * MINUTE, limit: 6 }),
    reading({ sentAt: begun - 1500, limit: 6 }),
  ];
  t.match(await day({ admitted: [...before, ...spent(PER_DAY)] }), { verdict: 'pass' });
  const atOnce = reading({ sentAt: begun, limit: 6 });
  t.match(await day({ admitted: [...before, atOnce, ...spent(PER_DAY)] }), {
    verdict: 'fail',
    reason: '21 were admitted',
  });
  t.match(await day({ admitted: [...before, ...spent(PER_DAY + 1)] }), {
    verdict: 'fail',
    reason: '21 were admitted',
  });
});

t.test('fewer are a fault only where nobody can have spent the rest', async (t) => {
  t.match(await day({ admitted: spent(19) }), {
    verdict: 'inconclusive',
    reason: /^19 of 20 requests were admitted; 1 earlier .* unusedToday: true for key free-1/,
    evidence: /^refusal$/,
  });
  t.match(await day({ admitted: [] }), { verdict: 'inconclusive', reason: /^0 of 20/ });
  t.match(await day({ admitted: spent(19), key: { ...free, unusedToday: true } }), {
    verdict: 'fail',
    reason: '19 were admitted',
  });
  const shown = { limit: PER_DAY, remaining: PER_DAY - 1 };
  t.match(
    await day({ admitted: spent(19, shown) }),
    { verdict: 'fail' },
    'the first one found the day whole',
  );
  t.match(await day({ admitted: spent(19, { ...shown, remaining: 18 }) }), { verdict: 'inconclusive' });
  t.match(await day({ admitted: spent(19, { ...shown, limit: 6 }) }), { verdict: 'inconclusive' });
});

t.test('a day that began with our first request is ours alone', async (t) => {
  for (const [seconds, verdict] of [
    [0, 'fail'],
    [4, 'fail'],
    [-4, 'fail'],
    [6, 'inconclusive'],
    [-6, 'inconclusive'],
  ] as const)
    t.match(
      await day({ admitted: spent(19), toldEnd: NOON + DAY + seconds * SECOND }),
      { verdict },
      `${seconds} seconds off`,
    );
  t.match(await day({ admitted: spent(19), toldEnd: undefined }), { verdict: 'inconclusive' });
  t.match(await day({ admitted: [], toldEnd: NOON + DAY }), { verdict: 'inconclusive' });
});

t.test('requests that a crash cut off may have been counted', async (t) => {
  t.match(await day({ admitted: spent(18) }, 2), { verdict: 'pass' });
  t.match(await day({ admitted: spent(18) }, 1), { verdict: 'inconclusive' });
  t.match(await day({ admitted: spent(20) }, 1), { verdict: 'pass' });
});

t.test('what was admitted before the day that was spent belongs to another', async (t) => {
  const begun = END - DAY;
  const early = (before: number) => reading({ sentAt: begun - before, receivedAt: begun - before, limit: 6 });
  t.match(await day({ admitted: [early(5 * SECOND), ...spent(PER_DAY)] }), { verdict: 'pass' });
  t.match(await day({ admitted: [early(0), ...spent(PER_DAY)] }), { verdict: 'fail' });
  t.match(await day({ admitted: [early(2 * SECOND), ...spent(PER_DAY)] }), { verdict: 'fail' }, 'rounding');
  t.match(
    await day({ admitted: [early(2 * SECOND + 100), ...spent(PER_DAY)] }),
    { verdict: 'fail' },
    'the refusal took as long to come',
  );
  t.match(await day({ admitted: [early(2 * SECOND + 101), ...spent(PER_DAY)] }), { verdict: 'pass' });
  t.match(
    await day({ admitted: [early(5 * SECOND), ...spent(PER_DAY)], toldEnd: undefined }),
    { verdict: 'fail' },
    'nobody told of another day',
  );
});

t.test('a bucket gives back while it is spent, and says so', async (t) => {
  // A token every 72 minutes: it says that the next one is not further than two of them.
  const bucket = (admitted: number, wait: number, hours = 2) => {
    const refusal = exchangeAt('refusal', hours * HOURS, { retryAfter: wait });
    return day({
      admitted: spent(admitted),
      refusal,
      toldEnd: refusal.receivedAt + wait * SECOND,
    });
  };
  t.match(await bucket(23, 72 * 60), { verdict: 'pass' }, 'two hours give two back, rounded up');
  t.match(await bucket(24, 72 * 60), { verdict: 'fail' });
  t.match(await bucket(20, 72 * 60), { verdict: 'pass' });
  t.match(await bucket(21, 2 * 72 * 60 + 60), { verdict: 'pass' });
  t.match(await bucket(21, 2 * 72 * 60 + 61), { verdict: 'fail' }, 'too far away for a bucket');
  t.match(await bucket(19, 72 * 60), { verdict: 'inconclusive' });
});

t.test('each plan has a key of its own', async (t) => {
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['day'] as const) });
  t.match(await judged(run, dailyQuotaChecks, 'rate-day-pro'), {
    verdict: 'inconclusive',
    reason: /no pro key with the role exhaust/,
  });
  t.match(await judged(run, dailyQuotaChecks, 'rate-day-business'), { verdict: 'inconclusive' });
  const enterprise = testKey({ name: 'enterprise-1', plan: 'enterprise' });
  const row = dailyQuotaChecks.find(({ id }) => id === 'rate-day-enterprise');
  t.match(row?.notApplicable?.([free]), /no Enterprise key/, 'whatever is permitted');
  t.equal(row?.notApplicable?.([free, enterprise]), undefined);
  const { run: other } = testRun(() => ({}), { keys: [enterprise] });
  t.match(await judged(other, dailyQuotaChecks, 'rate-day-enterprise'), {
    verdict: 'inconclusive',
    reason: /no enterprise key with the role exhaust/,
  });
  const { run: both } = testRun(() => ({}), { keys: [free, enterprise] });
  t.match(await judged(both, dailyQuotaChecks, 'rate-day-enterprise'), { verdict: 'inconclusive' });
  t.match(await judged(other, dailyQuotaChecks, 'rate-day-refusal'), {
    verdict: 'inconclusive',
    reason: /no usable key has the role exhaust/,
  });
});

t.test('the refusal of the day is a 429 that asks to wait for its end', async (t) => {
  const refusal = (given: Partial<Day>) => said('rate-day-refusal', given);
  t.match(await refusal({}), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await refusal({ refusal: undefined }), { verdict: 'inconclusive', reason: /not refused/ });
  t.match(await refusal({ refusal: refused({ status: 403 }) }), {
    verdict: 'fail',
    expected: /^429/,
    reason: /^403/,
    evidence: /^refusal$/,
  });
  t.match(await refusal({ refusedAgain: exchangeAt('again', 121) }), {
    verdict: 'fail',
    reason: /^after it, still 429/,
    evidence: /^refusal,again$/,
  });
  t.match(await refusal({ toldEnd: undefined }), { verdict: 'fail', reason: /none that can be read/ });
});

t.test('a day’s wait is at most a day, and a bucket’s as long as it says', async (t) => {
  const told = (seconds: number) => {
    const refusal = refused({ reset: undefined });
    return said('rate-day-refusal', { refusal, toldEnd: refusal.receivedAt + seconds * SECOND });
  };
  t.match(await told(24 * HOURS), { verdict: 'pass' });
  t.match(await told(24 * HOURS + 2), { verdict: 'pass' }, 'rounded');
  t.match(await told(24 * HOURS + 3), {
    verdict: 'fail',
    expected: /at most a day/,
    reason: '86,403 seconds',
    evidence: /^refusal$/,
  });
  t.match(await told(1), { verdict: 'pass' });
});

t.test('X-RateLimit-Reset and Retry-After name the same end of the day', async (t) => {
  /** Seconds from the refusal's receipt: of Reset, and of the told end. */
  const named = (reset: number, end: number, given: Partial<Day> = {}, limit = PER_DAY) => {
    const refusal = refused({ limit, reset: Math.round(60.1 + reset) });
    return said('rate-day-refusal', { refusal, toldEnd: refusal.receivedAt + end * SECOND, ...given });
  };
  const far = 10 * HOURS;
  t.match(await named(far, far), { verdict: 'pass' });
  t.match(await named(far - 59, far), { verdict: 'pass' });
  t.match(await named(far - 65, far), {
    verdict: 'fail',
    expected: /as Retry-After says/,
    reason: `X-RateLimit-Reset: ${NOON / SECOND + far - 5}`,
    evidence: /^refusal$/,
  });
  t.match(await named(far + 110, far), { verdict: 'pass' }, 'a minute, and as long as the day was spent');
  t.match(await named(far + 130, far), { verdict: 'fail' });
  t.match(await named(far + 130, far, { admitted: [] }), { verdict: 'fail' });
  t.match(await named(far + 55, far, { admitted: [] }), { verdict: 'pass' });
  t.match(await named(far + 65, far, { admitted: [] }), { verdict: 'fail' });
  t.match(
    await named(far - 65, far, {}, 6),
    { verdict: 'pass' },
    'the minute’s figures say nothing of the day',
  );
  t.match(await named(20 * HOURS, HOURS), { verdict: 'pass' }, 'when the bucket is full');
  t.match(await named(24 * HOURS + 50, HOURS), { verdict: 'pass' });
  t.match(await named(24 * HOURS + 70, HOURS), { verdict: 'fail' }, 'a bucket is full within a day');
  t.match(await named(HOURS - 65, HOURS), { verdict: 'fail' });
  const without = refused({ reset: undefined });
  t.match(await said('rate-day-refusal', { refusal: without }), { verdict: 'pass' });
});
