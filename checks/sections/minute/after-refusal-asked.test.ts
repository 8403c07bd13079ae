/** When a key that was refused is used again, and what the answers show of the window. */
import t from 'tap';
import { cameBackAtOnce, isRefilling } from '../../limits/refill.ts';
import { SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import type { AnsweredExchange, FailureOutcome } from '../../wire/exchange.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted } from './admitted.ts';
import { afterRefusal } from './after-refusal.ts';
import { exhaustKey, type Told, telling } from './testing/measured.ts';
import { toldWait } from './told-time.ts';

const free = exhaustKey();

/** Most of a fresh window that ends two minutes after noon. */
const FRESH = { status: 200, remaining: 5, reset: 120 };

/**
 * Asks again after refusals at noon; the answers from then on come by number, from 1, the last one for all that follow.
 * The target shows no clock: ours stands in.
 */
const asked = (first: Told | readonly Told[], ...answers: readonly (Told | FailureOutcome)[]) =>
  askedWith(free, first, ...answers);

async function askedWith(
  key: Key,
  first: Told | readonly Told[],
  ...answers: readonly (Told | FailureOutcome)[]
) {
  const refusals = [first].flat();
  const times: number[] = [];
  const test = testRun(
    (_request, number) => {
      if (number <= refusals.length) return telling({ limit: key.limits.perMinute, ...refusals[number - 1] });
      times.push(Math.round((test.clock.now() - NOON) / SECOND));
      const answer = answers[number - 1 - refusals.length] ?? answers.at(-1) ?? FRESH;
      return 'kind' in answer ? answer : telling({ limit: key.limits.perMinute, ...answer });
    },
    { keys: [key], permissions: new Set(['exhaust'] as const) },
  );
  const probe = test.run.probe('minute:free-1');
  const sent: AnsweredExchange[] = [];
  for (const _refusal of refusals) {
    const exchange = await probe.attempt(listPets({ limit: 1 }), key);
    if (isAnswered(exchange)) sent.push(exchange);
  }
  const [refusal] = sent;
  if (refusal === undefined) throw new Error('nothing was refused');
  const after = await afterRefusal(probe, key, refusal, sent);
  return {
    ...test,
    after: {
      ...after,
      told: toldWait(after.obeyed, key.limits),
      admitted: after.asked.filter(isAdmitted),
      atOnce: cameBackAtOnce(after.refill),
      refilling: isRefilling(after.refill),
    },
    times,
    waits: test.waits(),
  };
}
const minute = { retryAfter: 60, reset: 60 };
const admitted = { outcome: { status: 200 } };
const refused = { outcome: { status: 429 } };

t.test('a request at the time that both headers told is one request', async (t) => {
  const { after, times, waits, sent } = await asked(minute);
  t.strictSame(times, [60]);
  t.strictSame(waits, ['60.01: Retry-After of key free-1']);
  t.equal(
    sent.at(-1)?.path,
    '/pets?limit=100&status=sold',
    'the list in which a refused addition would show',
  );
  t.match(after, {
    told: { kind: 'delay', milliseconds: 60_000 },
    afterRetryAfter: { ...admitted, id: 'minute:free-1#2' },
    afterReset: { ...admitted, id: 'minute:free-1#2' },
    admitted: { length: 1 },
    atOnce: true,
    refilling: false,
  });
});

t.test('each header is waited for where they told different times', async (t) => {
  t.strictSame((await asked({ retryAfter: 59, reset: 60 })).times, [59]);
  t.strictSame((await asked({ retryAfter: 58, reset: 60 })).times, [58, 61], 'a second for its rounding');
  const { after, waits } = await asked({ retryAfter: 30, reset: 60 });
  t.strictSame(waits, ['30.01: Retry-After of key free-1', '61: X-RateLimit-Reset of key free-1']);
  t.match(after, {
    afterRetryAfter: { id: 'minute:free-1#2' },
    afterReset: { id: 'minute:free-1#3' },
  });
  const resetFirst = await asked({ retryAfter: 60, reset: 30 }, { ...FRESH, reset: 90 });
  t.strictSame(resetFirst.waits, ['31: X-RateLimit-Reset of key free-1', '60.01: Retry-After of key free-1']);
  t.match(resetFirst.after, {
    afterReset: { id: 'minute:free-1#2' },
    afterRetryAfter: { id: 'minute:free-1#3' },
  });
});

t.test('Reset two seconds before Retry-After is no other time', async (t) => {
  t.strictSame((await asked({ retryAfter: 60, reset: 57 })).times, [58, 60]);
  t.strictSame((await asked({ retryAfter: 60, reset: 58 })).times, [60]);
});

t.test('a refusal that tells no time to wait, or none that makes sense', async (t) => {
  for (const retryAfter of [undefined, 0, -1, 'soon']) {
    const { after, times } = await asked({ retryAfter, reset: 60 });
    t.strictSame(times, [61], `Retry-After: ${retryAfter}`);
    t.match(after, { afterRetryAfter: undefined, afterReset: admitted });
  }
  t.match((await asked({ reset: 60 })).after.told, { kind: 'absent' });
  t.match((await asked({ retryAfter: 'soon' })).after.told, { kind: 'unreadable', text: 'soon' });
});

t.test('a date that is over when it arrives is asked for at once', async (t) => {
  const told = (milliseconds: number) => new Date(NOON + milliseconds).toISOString();
  const { after, times } = await asked({ retryAfter: told(5), reset: 60 });
  t.strictSame(times, [0, 61], 'an exchange takes ten milliseconds');
  t.match(after, { afterRetryAfter: { ...admitted, id: 'minute:free-1#2' } });
  const atOnce = await asked({ retryAfter: told(5), reset: 60 }, {}, FRESH);
  t.match(atOnce.after, { afterRetryAfter: refused }, 'and judged by the answer');
  const past = await asked({ retryAfter: told(0), reset: 60 });
  t.strictSame([past.times, past.after.afterRetryAfter], [[61], undefined], 'over before it was asked');
});

t.test('two minutes are waited for, and no more', async (t) => {
  t.strictSame((await asked({ retryAfter: 120, reset: undefined })).times, [120]);
  const tooLong = await asked({ retryAfter: 121, reset: undefined });
  t.strictSame(tooLong.times, []);
  t.match(tooLong.after, { told: { text: '121' }, afterRetryAfter: undefined, atOnce: undefined });
  t.strictSame((await asked({ retryAfter: 10, reset: 119 }, { ...FRESH, reset: 70 })).times, [10, 120]);
  t.strictSame((await asked({ retryAfter: 10, reset: 120 }, { ...FRESH, reset: 70 })).times, [10]);
  t.strictSame((await asked({ reset: 120 })).times, []);
});

t.test('a Reset that is past is asked for at once, once', async (t) => {
  t.strictSame((await asked({ reset: -5 })).times, [0]);
  t.strictSame((await asked({ retryAfter: 20, reset: -5 }, { ...FRESH, reset: 80 })).times, [20]);
});

t.test('headers of the day do not tell of the minute', async (t) => {
  const { after, times } = await asked({ ...minute, limit: 1000 }, { ...FRESH, limit: 1000 });
  t.strictSame(times, [60]);
  t.match(after, { afterReset: undefined, atOnce: undefined, refilling: undefined });
  const either = await asked(minute, { ...FRESH, limit: 1000 });
  t.match(either.after, { atOnce: undefined, refilling: undefined });
  const other = await asked({ ...minute, limit: 1000 }, FRESH);
  t.match(other.after, { atOnce: undefined, refilling: undefined });
  const silent = await asked(minute, { ...FRESH, remaining: undefined });
  t.match(silent.after, { atOnce: undefined, refilling: undefined });
});

t.test('of several refusals the latest time of each header', async (t) => {
  const { times, after } = await asked([
    { retryAfter: 20, reset: 60 },
    { retryAfter: 40, reset: 90 },
    { retryAfter: 30, reset: 70 },
  ]);
  t.strictSame(times, [40, 91]);
  t.match(after.told, { text: '40' });
  const day = await asked([
    { retryAfter: 20, reset: 21 },
    { retryAfter: 20, reset: 90, limit: 1000 },
  ]);
  t.strictSame(day.times, [20], 'the day’s Reset is another');
});

t.test('a wait that was prolonged may be a ban’s, which outlasts the limit', async (t) => {
  const prolonged = (seconds: number) =>
    asked([
      { retryAfter: 60, reset: 30 },
      { retryAfter: seconds, reset: 30 },
    ]);
  t.strictSame((await prolonged(61)).times, [31, 61]);
  t.strictSame((await prolonged(62)).times, [62]);
});

t.test('a refusal after the wait is the target’s own word', async (t) => {
  const { after, times } = await asked(minute, { retryAfter: 60, reset: 60 }, FRESH);
  t.match(after.afterRetryAfter, { ...refused, id: 'minute:free-1#2' });
  t.match(after.afterReset, { ...admitted, id: 'minute:free-1#3' }, 'asked for on its own');
  t.strictSame(times, [60, 61]);
  t.match(after, { admitted: { length: 1 }, atOnce: true });
  const never = await asked(minute, { retryAfter: 60, reset: 60 });
  t.match(never.after, { admitted: { length: 0 }, atOnce: undefined, refilling: undefined });
});

t.test(
  'a refusal that names a later reset is waited out: somebody took what came back bit by bit',
  async (t) => {
    const taken = { retryAfter: 10, reset: 65 };
    const bit = { status: 200, remaining: 1, reset: 66 };
    const { after, times } = await asked(minute, taken, bit);
    t.strictSame(times.slice(0, 2), [60, 70]);
    t.match(after, { afterRetryAfter: { ...admitted, id: 'minute:free-1#3' } });
    const thrice = await asked(minute, taken, taken, taken, bit);
    t.strictSame(thrice.times.slice(0, 4), [60, 70, 80, 90]);
    t.match(thrice.after.afterRetryAfter, admitted);
    const fourTimes = await asked(minute, taken, taken, taken, taken, bit);
    t.match(fourTimes.after.afterRetryAfter, { ...refused, id: 'minute:free-1#2' });
  },
);

t.test('a whole window that was found later does not excuse the refusal', async (t) => {
  const later = { retryAfter: 10, reset: 70 };
  const first = { ...refused, id: 'minute:free-1#2' };
  t.match((await asked(minute, later, FRESH)).after.afterRetryAfter, first);
  t.match((await asked(minute, later, { ...FRESH, remaining: 4 })).after.afterRetryAfter, first);
  t.match((await asked(minute, later, { ...FRESH, remaining: 3 })).after.afterRetryAfter, admitted);
  const ofDay = { ...FRESH, limit: 1000, remaining: 999 };
  t.match((await asked(minute, later, ofDay)).after.afterRetryAfter, admitted);
  t.match(
    (await asked({ retryAfter: 60, reset: 30 }, FRESH, later, FRESH)).after.afterRetryAfter,
    admitted,
    'a request of ours had taken from it in between',
  );
});

t.test('what is no bad luck is not waited out', async (t) => {
  const bit = { status: 200, remaining: 1, reset: 66 };
  for (const [name, first, again] of [
    ['a ban', minute, { status: 403, retryAfter: 10, reset: 70 }],
    ['the same reset', minute, { retryAfter: 10, reset: 60 }],
    ['no reset', minute, { retryAfter: 10, reset: undefined }],
    ['no wait', minute, { reset: 70 }],
    ['no time to wait', minute, { retryAfter: 0, reset: 70 }],
    ['more than a minute', minute, { retryAfter: 61, reset: 70 }],
    ['the day', { ...minute, limit: 1000 }, { retryAfter: 10, reset: 70 }],
    ['no reset to compare with', { ...minute, reset: undefined }, { retryAfter: 10, reset: 70 }],
  ] as const) {
    const { after, times } = await asked(first, again, bit);
    t.match(after.afterRetryAfter, { id: 'minute:free-1#2' }, name);
    t.ok((times[1] ?? 61) <= 61, name);
  }
  const { after } = await asked(minute, { retryAfter: 60, reset: 70 }, bit);
  t.match(after.afterRetryAfter, admitted, 'a whole minute is a window’s');
});

t.test('little quota with a reset that hardly moved is given back bit by bit', async (t) => {
  const kind = async (first: Told, ...later: readonly Told[]) => {
    const { after, times } = await asked(minute, { status: 200, ...first }, ...later);
    return [after.refilling, times];
  };
  t.strictSame(await kind({ remaining: 1, reset: 70 }), [true, [60]]);
  t.strictSame(await kind({ remaining: 1, reset: 74 }), [true, [60]]);
  t.strictSame(await kind({ remaining: 1, reset: undefined }), [true, [60]]);
  t.strictSame(
    await kind({ remaining: 1, reset: 75 }, { status: 200, remaining: 2, reset: 100 }),
    [true, [60, 100]],
    'Remaining rose without a request, in the time of four tokens',
  );
  t.strictSame(await kind({ remaining: 1, reset: 75 }, { status: 200, remaining: 1, reset: 100 }), [
    false,
    [60, 100],
  ]);
  t.strictSame(await kind({ remaining: 1, reset: 75 }, { status: 429, remaining: 2, reset: 100 }), [
    false,
    [60, 100],
  ]);
  t.strictSame(await kind({ remaining: 1, reset: 75 }, { status: 200, remaining: undefined, reset: 100 }), [
    false,
    [60, 100],
  ]);
});

t.test('much less than a bucket would hold, and early: it is asked for once more', async (t) => {
  const early = async (seconds: number, remaining: number) => {
    const refused = { retryAfter: seconds, reset: seconds };
    const { times } = await asked(refused, { status: 200, remaining, reset: seconds });
    return times;
  };
  t.strictSame(await early(45, 1), [45, 50], 'four and a half tokens less two, where two were there');
  t.strictSame(await early(45, 2), [45]);
  t.strictSame(await early(49, 1), [49, 54]);
  t.strictSame(await early(50, 1), [50], 'the minute is about to end');
  t.strictSame(await early(20, 0), [20]);
  const large = exhaustKey({ limits: { perMinute: 60, perDay: 1000 } });
  const soon = async (seconds: number) =>
    (
      await askedWith(
        large,
        { retryAfter: seconds, reset: seconds },
        { status: 200, remaining: 0, reset: seconds },
      )
    ).times;
  t.strictSame(await soon(4), [4], 'too soon to tell');
  t.strictSame(await soon(6), [6, 11]);
});

t.test('two seconds are waited for at least, however fast a bucket gives back', async (t) => {
  const large = exhaustKey({ limits: { perMinute: 600, perDay: 1000 } });
  const { times } = await askedWith(large, minute, { status: 200, remaining: 1, reset: 75 });
  t.strictSame(times, [60, 62]);
});

t.test('no answer is no measurement', async (t) => {
  const broken = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
  await t.rejects(asked(minute, broken), { name: 'Unsettled', message: /connection reset/ });
});
