/** Section 8: requests per day, and what is said of them. */
import t from 'tap';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, payer, testKey, testRun } from '../../run/testing/test-run.ts';
import { exchangeAt, exhaustKey, type Told, telling } from '../minute/testing/measured.ts';
import { judged, played } from '../testing/judged.ts';
import { dailyQuotaChecks } from './checks.ts';
import type { DayMeasurement, Tally } from './reading.ts';
import { END, free, HOURS, PER_DAY } from './testing/day-spending.ts';

/** The refusal of a day that ends twelve hours from noon, if nothing else is told; received a minute after noon. */
const refused = (told: Told = {}) =>
  exchangeAt('refusal', 59.9, { limit: PER_DAY, reset: 12 * HOURS, retryAfter: 12 * HOURS - 60, ...told });
const refusedUntil = (end: number, told: Told = {}) =>
  refused({ retryAfter: (end - NOON - MINUTE) / SECOND, ...told });

/** One request that was admitted. */
const at = (sentAt: number, receivedAt = sentAt): Tally => [sentAt, receivedAt, 1];
const spent = (count: number) => Array.from({ length: count }, (_, index) => at(NOON + index * 100));

async function said(id: string, given: Partial<DayMeasurement>) {
  const key = given.key ?? free;
  const { run } = testRun(() => ({}), { keys: [key], permissions: new Set(['day'] as const) });
  const day: DayMeasurement = {
    key,
    admitted: spent(PER_DAY),
    first: undefined,
    refusal: refused(),
    waitsInVain: 0,
    lost: 0,
    ...given,
  };
  await played(run, `day:${key.name}`, day);
  return judged(run, dailyQuotaChecks, id);
}
const day = (given: Partial<DayMeasurement>) => said('rate-day-free', given);

/** The end of a day that nothing refused. */
async function endless(admitted: readonly Tally[]) {
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['day'] as const) });
  await played(run, 'day:free-1', { key: free, admitted, waitsInVain: 0, lost: 0 });
  return (id: string) => judged(run, dailyQuotaChecks, id);
}

t.test('the plan’s requests a day, no fewer, no more', async (t) => {
  t.match(await day({}), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await day({ admitted: spent(21) }), {
    verdict: 'fail',
    expected: /^20 requests admitted in a day with a key of plan free$/,
    reason: '21 were admitted',
    evidence: /^refusal$/,
  });
  t.match(await (await endless(spent(41)))('rate-day-free'), {
    verdict: 'fail',
    reason: '41 were admitted, and none was refused for the day',
    evidence: /^$/,
  });
  const days = [...spent(41), at(NOON + DAY)];
  t.match(
    await (await endless(days))('rate-day-free'),
    { verdict: 'inconclusive' },
    'more days than two have quota of their own',
  );
});

t.test('what was admitted around the moment at which the day began may belong to either day', async (t) => {
  const begun = END - DAY;
  const before = [at(begun - 60 * MINUTE), at(begun - 1500)];
  t.match(await day({ admitted: [...before, ...spent(PER_DAY)] }), { verdict: 'pass' });
  const atOnce = at(begun);
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
    await day({ admitted: spent(19), first: shown }),
    { verdict: 'fail' },
    'the first one found the day whole',
  );
  t.match(await day({ admitted: spent(19), first: { ...shown, remaining: 18 } }), {
    verdict: 'inconclusive',
  });
  t.match(await day({ admitted: spent(19), first: { ...shown, limit: 6 } }), { verdict: 'inconclusive' });
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
      await day({ admitted: spent(19), refusal: refusedUntil(NOON + DAY + seconds * SECOND) }),
      { verdict },
      `${seconds} seconds off`,
    );
  t.match(await day({ admitted: spent(19), refusal: refused({ retryAfter: undefined }) }), {
    verdict: 'inconclusive',
  });
  t.match(await day({ admitted: [], refusal: refusedUntil(NOON + DAY) }), { verdict: 'inconclusive' });
});

t.test('requests that a crash cut off may have been counted', async (t) => {
  t.match(await day({ admitted: spent(18), lost: 2 }), { verdict: 'pass' });
  t.match(await day({ admitted: spent(18), lost: 1 }), { verdict: 'inconclusive' });
  t.match(await day({ admitted: spent(20), lost: 1 }), { verdict: 'pass' });
});

t.test('what was admitted before the day that was spent belongs to another', async (t) => {
  const begun = END - DAY;
  const early = (before: number) => at(begun - before);
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
    await day({
      admitted: [early(5 * SECOND), ...spent(PER_DAY)],
      refusal: refused({ retryAfter: undefined }),
    }),
    { verdict: 'fail' },
    'nobody told of another day',
  );
});

t.test('a bucket gives back while it is spent, and says so', async (t) => {
  // A token every 72 minutes: it says that the next one is not further than two of them.
  const bucket = (admitted: number, wait: number, hours = 2) => {
    const refusal = exchangeAt('refusal', hours * HOURS, { retryAfter: wait });
    return day({ admitted: spent(admitted), refusal });
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
    verdict: 'skipped',
    reason: /no pro key with the role exhaust/,
  });
  t.match(await judged(run, dailyQuotaChecks, 'rate-day-business'), { verdict: 'skipped' });
  t.match(await judged(run, dailyQuotaChecks, 'rate-day-enterprise'), {
    verdict: 'not-applicable',
    reason: /no Enterprise key/,
  });
  const enterprise = testKey({ name: 'enterprise-1', plan: 'enterprise' });
  for (const keys of [[enterprise], [free, enterprise]]) {
    const { run: other } = testRun(() => ({}), { keys, permissions: new Set(['day'] as const) });
    t.match(
      await judged(other, dailyQuotaChecks, 'rate-day-enterprise'),
      { verdict: 'skipped', reason: /no enterprise key with the role exhaust/ },
      `${keys.length} keys`,
    );
  }
  const { run: without } = testRun(() => ({}), {
    keys: [enterprise],
    permissions: new Set(['day'] as const),
  });
  t.match(await judged(without, dailyQuotaChecks, 'rate-day-refusal'), {
    verdict: 'skipped',
    reason: /no key with the role exhaust/,
  });
});

t.test('a check of one plan spends no other plan’s day', async (t) => {
  const pro = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run, sent } = testRun(() => telling({ retryAfter: 3600 }), {
    keys: [free, pro],
    permissions: new Set(['day'] as const),
  });
  await judged(run, dailyQuotaChecks, 'rate-day-pro');
  t.strictSame(new Set(sent.map(payer)), new Set(['pro-1']));
  await judged(run, dailyQuotaChecks, 'rate-day-refusal');
  t.strictSame(new Set(sent.map(payer)), new Set(['pro-1', 'free-1']));
});

t.test('the refusal of the day is a 429 that asks to wait for its end', async (t) => {
  const refusal = (given: Partial<DayMeasurement>) => said('rate-day-refusal', given);
  t.match(await refusal({}), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await (await endless(spent(41)))('rate-day-refusal'), {
    verdict: 'inconclusive',
    reason: /not refused/,
  });
  t.match(await refusal({ waitsInVain: 3 }), { verdict: 'inconclusive', reason: /another client/ });
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
  t.match(await refusal({ refusal: refused({ retryAfter: undefined }) }), {
    verdict: 'fail',
    reason: /none that can be read/,
  });
});

t.test('a day’s wait is at most a day, and a bucket’s as long as it says', async (t) => {
  const told = (seconds: number) => {
    const refusal = refused({ reset: undefined, retryAfter: seconds });
    return said('rate-day-refusal', { refusal });
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
  const named = (reset: number, end: number, given: Partial<DayMeasurement> = {}, limit = PER_DAY) =>
    said('rate-day-refusal', {
      refusal: refused({ limit, reset: 60 + reset, retryAfter: end }),
      ...given,
    });
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
