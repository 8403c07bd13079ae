/** How a key's day is spent: within its minutes, to the refusal that is the day's. */
import t from 'tap';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { header } from '../../wire/exchange.ts';
import { type Told, telling } from '../minute/testing/measured.ts';
import { judged, outcomeOf } from '../testing/judged.ts';
import { dailyQuotaChecks } from './checks.ts';
import type { DayRefusal } from './reading.ts';
import { day } from './scenes.ts';
import { END, free, PER_DAY, spendDay } from './testing/day-spending.ts';

const LEAST = '/pets?limit=1';

/** What these refusals ask to wait. */
const waitsOf = ({ refusal, refusedAgain }: DayRefusal) =>
  [refusal, refusedAgain].flatMap((one) =>
    one === undefined ? [] : (header(one.outcome.headers, 'retry-after') ?? 'none'),
  );

t.test('a day that begins meanwhile, whenever that is, is spent as a whole', async (t) => {
  for (const [seconds, count] of [
    [30, 6 + PER_DAY],
    [90, 12 + PER_DAY],
    [170, 18 + PER_DAY],
    [230, PER_DAY + 1],
  ] as const) {
    const { measured, run } = await spendDay(PER_DAY, { dayEnds: NOON + seconds * SECOND });
    t.match(measured, { refusal: { outcome: { status: 429 } }, refusedAgain: undefined }, `${seconds}`);
    t.equal(measured.admitted, count, `${seconds}: some of them on the day before`);
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-free'), { verdict: 'pass' }, `${seconds}`);
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-refusal'), { verdict: 'pass' }, `${seconds}`);
  }
});

t.test('a day is spent within its minutes, to its first refusal', async (t) => {
  const { measured, sent, refused, waits, clock, events } = await spendDay(PER_DAY);
  t.equal(measured.admitted, PER_DAY);
  t.equal(sent.length, PER_DAY + 1);
  t.equal(refused, 1, 'no minute was overdrawn');
  t.ok(sent.every(({ path }) => path === LEAST));
  t.ok(sent.length <= (day.on(free, [free]).requests ?? 0), 'and the bill said so');
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
  t.equal(measured.admitted, PER_DAY);
  t.equal(sent.length, PER_DAY + 1);
});

t.test('a day that nothing stops is followed until no day that begins meanwhile explains it', async (t) => {
  const { measured, refused } = await spendDay(Number.POSITIVE_INFINITY);
  t.equal(measured.refusal, undefined);
  t.equal(measured.toldEnd, undefined);
  t.equal(refused, 0);
  t.equal(measured.admitted, 2 * PER_DAY + 20);
});

t.test('requests over the quota go one by one', async (t) => {
  const { measured, sent, refused } = await spendDay(PER_DAY + 3);
  t.equal(measured.admitted, PER_DAY + 3);
  t.equal(sent.length, PER_DAY + 4);
  t.equal(refused, 1);
});

t.test('a day that is refused early', async (t) => {
  const { measured, refused } = await spendDay(7);
  t.equal(measured.admitted, 7);
  t.match(measured, { refusal: { outcome: { status: 429 } }, refusedAgain: undefined });
  t.equal(refused, 4, 'those that were in flight with it, and no more');
});

t.test('a refusal of the minute is waited out', async (t) => {
  const { measured, waits, sent, refused } = await spendDay(PER_DAY, { perMinute: 5 });
  t.equal(measured.admitted, PER_DAY);
  t.equal(measured.refusedAgain, undefined);
  t.ok(waits().some((wait) => wait.endsWith('Retry-After of key free-1')));
  t.equal(sent.length, PER_DAY + refused);
});

t.test('the day’s refusal with a minute’s wait shows after that wait', async (t) => {
  for (const wait of [60, 62, undefined]) {
    const { measured, sent, clock } = await spendDay(PER_DAY, { wait: () => wait });
    const asked = `${wait ?? 'none'}`;
    t.strictSame(waitsOf(measured), [asked, asked], asked);
    t.equal(sent.length, PER_DAY + 2, asked);
    t.ok(clock.now() >= (measured.refusal?.receivedAt ?? 0) + MINUTE, asked);
    t.equal(measured.toldEnd === undefined, wait === undefined, asked);
  }
  const { measured } = await spendDay(PER_DAY, { wait: () => 63 });
  t.strictSame(waitsOf(measured), ['63']);
});

t.test('the first refusal is the day’s where the next one is refused for long', async (t) => {
  let refusals = 0;
  const { measured } = await spendDay(PER_DAY, {
    wait: () => {
      refusals += 1;
      return refusals === 1 ? 30 : 600;
    },
  });
  t.strictSame(waitsOf(measured), ['30', '600']);
});

t.test('minutes that somebody else empties are not the day’s', async (t) => {
  const emptied = (from: number, to: number) => (number: number) =>
    number >= from && number < to ? telling({ retryAfter: 30 }) : undefined;
  for (const [from, to] of [
    [8, 13],
    [20, 22],
    [22, 24],
    [21, 22],
  ] as const) {
    const { measured, run } = await spendDay(PER_DAY, { others: emptied(from, to) });
    t.equal(measured.admitted, PER_DAY, `${from} to ${to}`);
    t.match(measured, { isDays: true, refusedAgain: undefined }, `${from} to ${to}`);
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-free'), { verdict: 'pass' }, `${from} to ${to}`);
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-refusal'), { verdict: 'pass' }, `${from} to ${to}`);
  }
  const { measured, run, waits } = await spendDay(PER_DAY, {
    key: { ...free, unusedToday: true },
    others: emptied(8, 1000),
  });
  t.match(measured, { isDays: false });
  t.equal(
    waits().filter((wait) => wait.endsWith('Retry-After of key free-1')).length,
    3,
    'they are not waited for for ever',
  );
  for (const id of ['rate-day-free', 'rate-day-refusal'])
    t.match(
      await judged(run, dailyQuotaChecks, id),
      { verdict: 'inconclusive', reason: /another client/ },
      id,
    );
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
    await test.run.play(day.on(key, [key]));
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
  await t.rejects(outcomeOf(test.run, day.on(free, [free])), {
    name: 'Unsettled',
    message: /connection reset/,
  });
  t.equal(test.sent.length, 4, 'those that were in flight, and no more');
  const later = testRun((_request, number) => (number <= 4 ? telling({ retryAfter: 30 }) : broken), {
    keys: [free],
    permissions: new Set(['day'] as const),
  });
  await t.rejects(outcomeOf(later.run, day.on(free, [free])), {
    name: 'Unsettled',
    message: /connection reset/,
  });
  t.equal(later.sent.length, 5);
});

/** Answers to requests by their numbers; the others are the target's own. */
const answering = (answers: Readonly<Record<number, Told>>) => (number: number) => {
  const told = answers[number];
  return told === undefined ? undefined : telling(told);
};
const ofMinute: Told = { retryAfter: 30 };
const ofDay: Told = { limit: PER_DAY, reset: 90, retryAfter: 30 };

t.test('one request that the minute refused counts once it was asked for again', async (t) => {
  const { measured, refused, sent } = await spendDay(PER_DAY, { others: answering({ 8: ofMinute }) });
  t.ok(sent.every(({ path }) => path === LEAST));
  t.equal(measured.admitted, PER_DAY);
  t.equal(refused, 2, 'the minute’s and the day’s, and none that was in flight with it');
});

t.test('a wait is in vain only while nothing is admitted', async (t) => {
  const others = (number: number) => (number > 6 && number % 7 < 5 ? telling(ofMinute) : undefined);
  const { measured } = await spendDay(PER_DAY, { others });
  t.match(measured, { isDays: true, admitted: PER_DAY });
});

t.test('a refusal that tells of the day is the day’s where it stands', async (t) => {
  const early = await spendDay(PER_DAY, { others: answering({ 8: ofDay }) });
  t.equal(early.measured.admitted, PER_DAY, 'it does not where requests are left after its wait');
  const once = await spendDay(PER_DAY, { others: answering({ 21: ofDay, 22: { ...ofMinute, reset: 90 } }) });
  t.equal(once.sent.length, 23, 'nor where the next one tells of the minute');
  t.match(once.measured, { isDays: true, refusedAgain: undefined });
  const over = await spendDay(PER_DAY + 3, { others: answering({ 21: ofMinute }) });
  t.equal(over.measured.admitted, PER_DAY + 3, 'the minute’s never is');
});

t.test('a refusal for long after one for a minute', async (t) => {
  const after = async (told: Told) =>
    (
      await spendDay(PER_DAY, {
        others: answering({ 8: ofMinute, 9: ofMinute, 10: ofMinute, 11: ofMinute, 12: told }),
      })
    ).measured;
  const long = await after({ retryAfter: 3600 });
  t.ok(long.isDays);
  t.strictSame(waitsOf(long), ['3600']);
  t.match(await after({ ...ofDay, status: 403, retryAfter: 3600 }), {
    refusal: { outcome: { status: 403 } },
    isDays: true,
  });
  t.match(
    await after({ status: 403, retryAfter: 3600 }),
    { refusal: { outcome: { status: 403 } }, isDays: false },
    'a ban tells of no day',
  );
  const first = async (told: Told) => (await spendDay(PER_DAY, { others: answering({ 8: told }) })).measured;
  const atOnce = await first({ retryAfter: 3600 });
  t.ok(atOnce.isDays);
  t.strictSame(waitsOf(atOnce), ['3600']);
});
