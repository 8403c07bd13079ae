/** Section 8: requests per day, how they are spent and what is said of them. */
import t from 'tap';
import type { Exchange } from '../harness/exchange.ts';
import type { AnswerParts } from '../harness/exchange-for-tests.ts';
import { DAY, type Key, MINUTE, SECOND } from '../harness/key-pool.ts';
import type { RateReading } from '../harness/rate-headers.ts';
import { listPets } from '../harness/requests.ts';
import { NOON, testKey, testRun } from '../harness/run-for-tests.ts';
import { fixedWindow, reading } from '../harness/simulated-limits.ts';
import { dailyQuotaChecks, dayOf } from './daily-quota.ts';
import { judged, played } from './judged-for-tests.ts';
import { exchangeAt, exhaustKey, type Told, telling } from './measured-for-tests.ts';

/** A day of twenty requests, six a minute. */
const PER_DAY = 20;
const free = exhaustKey({ limits: { perMinute: 6, perDay: PER_DAY } });
const HOURS = 3600;

/** The refusal of a day that ends twelve hours from noon; sent a minute after noon. */
const refused = (told: Told = {}) =>
  exchangeAt('refusal', 60, { limit: PER_DAY, reset: 12 * HOURS, retryAfter: 12 * HOURS - 60, ...told });
const END = NOON + 12 * HOURS * SECOND;

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

/** A target with minutes of six and a day of so many requests, on the run's clock. */
async function spendDay(
  admits: number,
  given: {
    readonly key?: Key;
    /** What a refusal for the day asks to wait, in seconds. */
    readonly wait?: (now: number) => number | undefined;
    readonly others?: (number: number) => AnswerParts | undefined;
    readonly earlier?: number;
    readonly perMinute?: number;
    /** When a new day begins: by default at midnight. */
    readonly dayEnds?: number;
  } = {},
) {
  const key = given.key ?? free;
  const minute = fixedWindow(given.perMinute ?? 6);
  let count = 0;
  let dayEnds = given.dayEnds ?? END;
  const test = testRun(
    (_request, number) => {
      const now = test.clock.now();
      const otherwise = given.others?.(number);
      if (otherwise !== undefined) return otherwise;
      if (now >= dayEnds) [count, dayEnds] = [0, dayEnds + DAY];
      if (count >= admits) {
        const wait = given.wait === undefined ? (dayEnds - now) / SECOND : given.wait(now);
        return telling({
          limit: PER_DAY,
          reset: Math.ceil((dayEnds - NOON) / SECOND),
          retryAfter: wait === undefined ? undefined : Math.ceil(wait),
        });
      }
      const { admitted, remaining, reset } = minute(now);
      if (admitted) count += 1;
      const told = {
        remaining,
        reset: Math.ceil((reset - NOON) / SECOND),
        date: Math.floor((now - NOON) / SECOND),
      };
      return admitted
        ? telling({ status: 200, ...told })
        : telling({ ...told, retryAfter: Math.ceil((reset - now) / SECOND) });
    },
    { keys: [key], permissions: new Set(['day'] as const) },
  );
  const probe = test.run.probe('earlier');
  for (let sent = 0; sent < (given.earlier ?? 0); sent += 1) await probe.attempt(listPets(), key);
  const measured = await test.run.play(dayOf(key));
  return { ...test, measured, refused: test.run.readings.filter(({ status }) => status === 429) };
}

t.test('a day that begins meanwhile, whenever that is, is spent as a whole', async (t) => {
  for (const [seconds, count] of [
    [30, 6 + PER_DAY],
    [90, 12 + PER_DAY],
    [170, 18 + PER_DAY],
    [230, PER_DAY + 1],
  ] as const) {
    const { measured, run } = await spendDay(PER_DAY, { dayEnds: NOON + seconds * SECOND });
    t.match(measured, { refusal: { outcome: { status: 429 } }, refusedAgain: undefined }, `${seconds}`);
    t.equal(measured.admitted.length, count, 'some of them on the day before');
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-free'), { verdict: 'pass' });
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-refusal'), { verdict: 'pass' });
  }
});

t.test('a day is spent within its minutes, to its first refusal', async (t) => {
  const { measured, sent, refused, waits, clock, events } = await spendDay(PER_DAY);
  t.equal(measured.admitted.length, PER_DAY);
  t.equal(sent.length, PER_DAY + 1);
  t.equal(refused.length, 1, 'no minute was overdrawn');
  t.ok(sent.length <= (dayOf(free).spends?.requests ?? 0), 'and the bill said so');
  t.match(measured, { refusal: { outcome: { status: 429 } }, refusedAgain: undefined });
  const { toldEnd } = measured;
  t.ok(toldEnd !== undefined && Math.abs(toldEnd - END) < 2 * SECOND);
  t.ok(clock.now() > NOON + 3 * MINUTE && clock.now() < NOON + 4 * MINUTE, 'twenty requests in four minutes');
  t.equal(waits().length, 3);
  const progress = events.flatMap((event) =>
    event.kind === 'spending' ? [`${event.done}/${event.of}`] : [],
  );
  t.strictSame(progress, ['6/20', '12/20', '18/20', '20/20', '20/20']);
});

t.test('what the run has spent before counts', async (t) => {
  const { measured, sent } = await spendDay(PER_DAY, { earlier: 5 });
  t.equal(measured.admitted.length, PER_DAY);
  t.equal(sent.length, PER_DAY + 1);
});

t.test('a day that nothing stops is followed until no day that begins meanwhile explains it', async (t) => {
  const { measured, refused } = await spendDay(Number.POSITIVE_INFINITY);
  t.equal(measured.refusal, undefined);
  t.equal(measured.toldEnd, undefined);
  t.equal(refused.length, 0);
  t.equal(measured.admitted.length, 2 * PER_DAY + 20);
});

t.test('requests over the quota go one by one', async (t) => {
  const { measured, sent, refused } = await spendDay(PER_DAY + 3);
  t.equal(measured.admitted.length, PER_DAY + 3);
  t.equal(sent.length, PER_DAY + 4);
  t.equal(refused.length, 1);
});

t.test('a day that is refused early', async (t) => {
  const { measured, refused } = await spendDay(7);
  t.equal(measured.admitted.length, 7);
  t.match(measured, { refusal: { outcome: { status: 429 } }, refusedAgain: undefined });
  t.equal(refused.length, 4, 'those that were in flight with it, and no more');
});

t.test('a refusal of the minute is waited out', async (t) => {
  const { measured, waits, sent, refused } = await spendDay(PER_DAY, { perMinute: 5 });
  t.equal(measured.admitted.length, PER_DAY);
  t.equal(measured.refusedAgain, undefined);
  t.ok(waits().some((wait) => wait.endsWith('Retry-After of key free-1')));
  t.equal(sent.length, PER_DAY + refused.length);
});

t.test('the day’s refusal with a minute’s wait shows after that wait', async (t) => {
  for (const wait of [60, 62, undefined]) {
    const { measured, sent, clock } = await spendDay(PER_DAY, { wait: () => wait });
    t.match(measured, { refusal: { id: 'day:free-1#21' }, refusedAgain: { id: 'day:free-1#22' } }, `${wait}`);
    t.equal(sent.length, PER_DAY + 2);
    t.ok(clock.now() >= (measured.refusal?.receivedAt ?? 0) + MINUTE);
    t.equal(measured.toldEnd === undefined, wait === undefined);
  }
  const { measured } = await spendDay(PER_DAY, { wait: () => 63 });
  t.match(measured, { refusal: { id: 'day:free-1#21' }, refusedAgain: undefined });
});

t.test('the first refusal is the day’s where the next one is refused for long', async (t) => {
  let refusals = 0;
  const { measured } = await spendDay(PER_DAY, {
    wait: () => {
      refusals += 1;
      return refusals === 1 ? 30 : 600;
    },
  });
  t.match(measured, { refusal: { id: 'day:free-1#21' }, refusedAgain: { id: 'day:free-1#22' } });
});

t.test('minutes that somebody else empties are not the day’s', async (t) => {
  const emptied = (from: number, to: number) => (number: number) =>
    number >= from && number < to ? telling({ retryAfter: 30 }) : undefined;
  for (const [from, to] of [
    [8, 13],
    [20, 22],
    [22, 24],
  ] as const) {
    const { measured, run } = await spendDay(PER_DAY, { others: emptied(from, to) });
    t.equal(measured.admitted.length, PER_DAY, `${from} to ${to}`);
    t.match(measured, { isDays: true, refusedAgain: undefined });
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-free'), { verdict: 'pass' });
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-refusal'), { verdict: 'pass' });
  }
  const { measured, run, sent } = await spendDay(PER_DAY, {
    key: { ...free, unusedToday: true },
    others: emptied(8, 1000),
  });
  t.match(measured, { isDays: false });
  t.ok(sent.length < 30, 'they are not waited for for ever');
  for (const id of ['rate-day-free', 'rate-day-refusal'])
    t.match(await judged(run, dailyQuotaChecks, id), { verdict: 'inconclusive', reason: /somebody else/ });
});

t.test('a ban that somebody else earned is not the day’s refusal', async (t) => {
  const banned = telling({ status: 403, retryAfter: 3600 });
  const { run } = await spendDay(PER_DAY, { others: (number) => (number >= 8 ? banned : undefined) });
  t.match(await judged(run, dailyQuotaChecks, 'rate-day-refusal'), { verdict: 'inconclusive' });
});

t.test('a day’s bucket that gives back within a minute, which somebody else may take', async (t) => {
  const perDay = 1440;
  const key = { ...free, limits: { perMinute: 1000, perDay } };
  const spend = async (taken: (refusals: number) => boolean) => {
    let tokens = perDay;
    let at = NOON;
    let refusals = 0;
    const test = testRun(
      () => {
        const now = test.clock.now();
        tokens = Math.min(perDay, tokens + ((now - at) * perDay) / DAY);
        at = now;
        if (tokens >= 1 && taken(refusals)) tokens -= 1;
        const admitted = tokens >= 1;
        if (admitted) tokens -= 1;
        else refusals += 1;
        const told = {
          limit: perDay,
          remaining: Math.floor(tokens),
          reset: Math.ceil((now - NOON + ((perDay - tokens) * DAY) / perDay) / SECOND),
        };
        return admitted
          ? telling({ status: 200, ...told })
          : telling({ ...told, retryAfter: Math.ceil((1 - tokens) * 60) });
      },
      { keys: [key], permissions: new Set(['day'] as const) },
    );
    await test.run.play(dayOf(key));
    return test;
  };
  const alone = await spend(() => false);
  t.ok(alone.sent.length < perDay + 20);
  for (const id of ['rate-day-free', 'rate-day-refusal']) {
    t.match(await judged(alone.run, dailyQuotaChecks, id), { verdict: 'pass' }, id);
    const shared = await spend((refusals) => refusals > 0);
    t.match(await judged(shared.run, dailyQuotaChecks, id), { verdict: 'inconclusive' }, id);
  }
});

t.test('a day that is not answered is no day', async (t) => {
  const broken = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
  const test = testRun(() => broken, { keys: [free], permissions: new Set(['day'] as const) });
  await t.rejects(test.run.play(dayOf(free)), { name: 'Unsettled', message: /connection reset/ });
  t.equal(test.sent.length, 4, 'those that were in flight, and no more');
  const later = testRun((_request, number) => (number <= 4 ? telling({ retryAfter: 30 }) : broken), {
    keys: [free],
    permissions: new Set(['day'] as const),
  });
  await t.rejects(later.run.play(dayOf(free)), { name: 'Unsettled', message: /connection reset/ });
  t.equal(later.sent.length, 5);
});
