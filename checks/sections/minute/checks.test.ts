/** Section 8: what is said of a minute that was measured. */
import t from 'tap';
import type { Key } from '../../run/key-pool.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { judged, observed, played } from '../testing/judged.ts';
import { rateLimitChecks, rateLimitGaps } from './checks.ts';
import type { MinuteMeasurement } from './scenes.ts';
import {
  admittedReadings,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  minuteMeasured,
  more,
  retryOf,
  telling,
  windowOf,
} from './testing/measured.ts';

const free = exhaustKey();

/** What a check says where the minute of the Free key was measured so, and the ban of another one, where there is one. */
async function said(id: string, measurement: Partial<MinuteMeasurement>, ban?: unknown) {
  const banned = testKey({ name: 'free-ban', roles: ['ban'] });
  const { run } = testRun(() => ({}), {
    keys: ban === undefined ? [free] : [free, banned],
    permissions: new Set(ban === undefined ? (['exhaust'] as const) : (['exhaust', 'ban'] as const)),
  });
  await played(run, `minute:${free.name}`, minuteMeasured(free, measurement));
  await played(run, `ban:${banned.name}:end`, ban);
  return judged(run, rateLimitChecks, id);
}
const minute = (measurement: Partial<MinuteMeasurement>) => said('rate-minute-free', measurement);

t.test('the plan’s number in one window, and then a refusal', async (t) => {
  t.match(await minute({}), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await minute({ windows: [] }), { verdict: 'inconclusive', reason: /no window/ });
});

t.test('a window that is exact speaks for the key, whatever another one fell short by', async (t) => {
  const otherwise = windowOf(exact, 6, { refusal: exchangeAt('second', 70) });
  t.match(await minute({ windows: [windowOf(fewer(1), 5), otherwise] }), {
    verdict: 'pass',
    evidence: /^second$/,
  });
  t.match(await minute({ windows: [windowOf(fewer(1), 5), windowOf(more, 7)] }), { verdict: 'fail' });
});

t.test('more than the plan’s number', async (t) => {
  t.match(await minute({ windows: [windowOf(more, 7)] }), {
    verdict: 'fail',
    reason: '7 were admitted',
    expected: /^6 requests .* plan free$/,
  });
  const hidden = (count: number) => admittedReadings(count, { limit: 1000 });
  t.match(
    await minute({ windows: [windowOf(more, hidden(7)), windowOf(exact, hidden(6))] }),
    { verdict: 'inconclusive' },
    'the other of two windows was exact',
  );
  t.match(
    await minute({ windows: [windowOf(more, hidden(7)), windowOf(fewer(), hidden(5))] }),
    { verdict: 'inconclusive', reason: /in one of two windows/ },
    'headers of the day hide where a window ends',
  );
  t.match(await minute({ windows: [windowOf(more, hidden(7)), windowOf(more, hidden(8))] }), {
    verdict: 'fail',
  });
  const mixed = [...admittedReadings(6), ...admittedReadings(1, { limit: 1000 })];
  t.match(await minute({ windows: [windowOf(more, mixed), windowOf(fewer())] }), { verdict: 'inconclusive' });
  t.match(await minute({ windows: [windowOf(more, 7), windowOf(fewer(), 5)] }), { verdict: 'fail' });
});

t.test('more than the plan’s number where requests raced is another requirement’s', async (t) => {
  const raced = windowOf(more, [...admittedReadings(6), ...admittedReadings(3)]);
  t.match(await minute({ windows: [raced] }), { verdict: 'inconclusive', reason: /rate-concurrent/ });
  t.match(await said('rate-concurrent', { windows: [raced] }), {
    verdict: 'fail',
    reason: /^9 were/,
    evidence: /^refusal$/,
  });
});

t.test('nothing was refused', async (t) => {
  const unrefused = { refusal: undefined, last: exchangeAt('last', 30, { status: 200 }) };
  for (const verdict of [exact, fewer()])
    t.match(await minute({ windows: [windowOf(verdict, 6, unrefused)] }), {
      verdict: 'inconclusive',
      reason: /too slow/,
      evidence: /^last$/,
    });
  t.match(await minute({ windows: [windowOf(more, 37, unrefused)] }), {
    verdict: 'fail',
    reason: '37 were, and none was refused',
  });
  const closed = exchangeAt('closed', 2);
  t.match(
    await minute({ windows: [windowOf(exact, 6, { ...unrefused, closed })] }),
    { verdict: 'pass' },
    'closed connections are refusals as well, though none as they should be',
  );
});

t.test('a refusal for the day tells nothing of the minute', async (t) => {
  const refused = (remaining: number) => ({ refusal: exchangeAt('day', 1, { limit: 1000, remaining }) });
  t.match(await minute({ windows: [windowOf(fewer(), 4, refused(0))] }), {
    verdict: 'inconclusive',
    reason: /nothing is left of the day/,
    evidence: /^day$/,
  });
  t.match(await minute({ windows: [windowOf(exact, 6, refused(1))] }), { verdict: 'pass' });
});

t.test('a window that is shorter than a minute, or gives back too much, admits more', async (t) => {
  t.match(await minute({ shortWindow: 29_600 }), {
    verdict: 'fail',
    reason: '6 were, and as many again after 30 seconds',
    evidence: /^after-retry-after,refusal$/,
  });
  t.match(await minute({ shortWindow: 30_000, afterRetryAfter: undefined }), {
    evidence: /^after-reset,refusal$/,
  });
  t.match(await minute({ shortWindow: 30_000, afterRetryAfter: undefined, afterReset: undefined }), {
    evidence: /^refusal$/,
  });
  const overGiven = { exchange: exchangeAt('given', 20), seconds: 19.6, given: 5, most: 3 };
  t.match(await minute({ overGiven }), {
    verdict: 'fail',
    reason: /5 more were given back after 20 seconds, .* at most 3$/,
    evidence: /^given,refusal$/,
  });
});

t.test('fewer than the plan’s number are a fault only where two windows fell short alike', async (t) => {
  const short = (before: number, between: number, admitted: number) =>
    windowOf(fewer(before, between), admitted);
  const cases = [
    ['once', 'inconclusive', [short(0, 0, 5)]],
    ['twice as many', 'fail', [short(0, 0, 5), short(0, 0, 5)]],
    ['twice as many, and as much gone before', 'fail', [short(1, 0, 5), short(1, 0, 5)]],
    ['not as many', 'inconclusive', [short(0, 0, 5), short(0, 0, 4)]],
    ['not as much gone before', 'inconclusive', [short(1, 0, 5), short(0, 0, 5)]],
    ['somebody between the first', 'inconclusive', [short(0, 1, 5), short(0, 0, 5)]],
    ['somebody between the second', 'inconclusive', [short(0, 0, 5), short(0, 1, 5)]],
  ] as const;
  for (const [name, verdict, windows] of cases) t.match(await minute({ windows }), { verdict }, name);
  t.match(await minute({ windows: [short(0, 0, 5), short(0, 0, 5)] }), {
    reason: '5 were, in each of two windows',
  });
  t.match(await minute({ windows: [short(0, 0, 5)] }), { reason: /^5 of 6 .* somebody else/ });
});

t.test('each plan is judged by a key of its own', async (t) => {
  const enterprise = testKey({ name: 'enterprise-1', plan: 'enterprise', roles: ['functional'] });
  const { run } = testRun(() => ({}), {
    keys: [free, enterprise],
    permissions: new Set(['exhaust'] as const),
  });
  t.match(await judged(run, rateLimitChecks, 'rate-minute-pro'), {
    verdict: 'inconclusive',
    reason: /no pro key with the role exhaust/,
  });
  t.match(
    await judged(run, rateLimitChecks, 'rate-minute-enterprise'),
    { verdict: 'inconclusive', reason: /no enterprise key with the role exhaust/ },
    'its numbers are known, and nobody may drive it there',
  );
  const row = rateLimitChecks.find(({ id }) => id === 'rate-minute-enterprise');
  t.match(row?.notApplicable?.([free]), /no Enterprise key/, 'whatever is permitted');
  t.equal(row?.notApplicable?.([free, enterprise]), undefined);
  const { run: without } = testRun(() => ({}), { keys: [free] });
  t.match(await judged(without, rateLimitChecks, 'rate-minute-business'), { verdict: 'inconclusive' });
  t.equal(
    rateLimitChecks.find(({ id }) => id === 'rate-minute-business')?.notApplicable?.([free]),
    undefined,
  );
});

t.test('the limit holds for requests in flight together', async (t) => {
  const concurrent = (window: MinuteMeasurement['windows'][number] | undefined) =>
    said('rate-concurrent', { windows: window === undefined ? [] : [window] });
  t.match(await concurrent(windowOf(exact)), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await concurrent(windowOf(fewer(), 5)), { verdict: 'inconclusive', reason: /rate-minute-free/ });
  t.match(
    await concurrent(windowOf(more, 7)),
    { verdict: 'inconclusive', reason: /no exact count/ },
    'no race',
  );
  const raced = [...admittedReadings(2), ...admittedReadings(3)];
  t.match(await concurrent(windowOf(fewer(), raced)), { verdict: 'inconclusive' }, 'within the limit');
  t.match(await concurrent(undefined), { verdict: 'inconclusive', reason: /no exchange/ });
});

t.test('the key that may be banned is sent more than its limit at once', async (t) => {
  const ban = (verdict: typeof exact, admitted = 6) => ({
    key: free,
    count: windowOf(verdict, admitted).count,
    refusals: [exchangeAt('over-1', 1), exchangeAt('over-2', 1)],
  });
  const windows = [windowOf(exact)];
  t.match(await said('rate-concurrent', { windows: [] }, ban(exact)), {
    verdict: 'pass',
    evidence: /^over-1$/,
  });
  t.match(await said('rate-concurrent', { windows }, ban(more, 8)), {
    verdict: 'fail',
    reason: '8 were',
    evidence: /^over-1$/,
  });
  t.match(await said('rate-concurrent', { windows: [] }, ban(fewer(), 5)), { verdict: 'inconclusive' });
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust', 'ban'] as const) });
  await played(run, 'minute:free-1', minuteMeasured(free));
  t.match(await judged(run, rateLimitChecks, 'rate-concurrent'), { verdict: 'pass' }, 'no key may be banned');
});

t.test('after the reset the whole quota is there again', async (t) => {
  const next = (windows: MinuteMeasurement['next'], given: Partial<MinuteMeasurement> = {}) =>
    said('rate-next-window', { next: windows, ...given });
  t.match(await next([windowOf(exact)]), { verdict: 'pass', evidence: /^refusal$/ });
  for (const [reason, given] of [
    [/key free-1 was refused nothing/, { windows: [windowOf(more, 7, { refusal: undefined })] }],
    [/5 of 6 .* first minute of key free-1 .*rate-minute-free/, { windows: [windowOf(fewer(1), 5)] }],
    [/headers of key free-1 do not tell/, { afterReset: undefined }],
    [/key free-1 was not admitted again/, { afterReset: retryOf('again', 61, { status: 429 }) }],
  ] as const)
    t.match(await next([], given), { verdict: 'inconclusive', reason });
  const fromRest = [windowOf(fewer(1), 5), windowOf(exact, 6, { refusal: exchangeAt('again', 130) })];
  t.match(
    await next([], { refilling: true, windows: fromRest }),
    { verdict: 'pass', evidence: /^again$/ },
    'what comes back bit by bit was whole after a minute at rest',
  );
  t.match(
    await next([], { refilling: false, windows: fromRest }),
    { verdict: 'inconclusive' },
    'a window that was left out lay in between',
  );
  const neverFull = [windowOf(fewer(1), 5), windowOf(fewer(1), 5)];
  t.match(await next([], { refilling: true, windows: neverFull }), { verdict: 'inconclusive' });
  const large = exhaustKey({ limits: { perMinute: 301, perDay: 10_000 } });
  const { run } = testRun(() => ({}), { keys: [large], permissions: new Set(['exhaust'] as const) });
  await played(run, `minute:${large.name}`, minuteMeasured(large, { next: [] }));
  t.match(await judged(run, rateLimitChecks, 'rate-next-window'), {
    verdict: 'inconclusive',
    reason: /no key’s plan is small enough/,
  });
  t.match(await next([windowOf(more, 7)]), { verdict: 'fail', reason: '7 were', expected: /^6 .* free-1$/ });
  t.match(await next([windowOf(fewer(), 4)]), { verdict: 'inconclusive', reason: /somebody else/ });
  t.match(await next([windowOf(fewer(), 4), windowOf(fewer(), 4)]), { verdict: 'fail', reason: '4 were' });
  t.match(await next([windowOf(fewer(), 4), windowOf(fewer(), 5)]), { verdict: 'inconclusive' });
  t.match(
    await next([windowOf(fewer(), 4), windowOf(exact), windowOf(fewer(), 4)]),
    { verdict: 'fail' },
    'every other window is short',
  );
  const slow = { refusal: undefined, last: exchangeAt('last', 130, { status: 200 }) };
  t.match(await next([windowOf(fewer(), 4, slow)]), {
    verdict: 'inconclusive',
    reason: /too slow/,
    evidence: /^last$/,
  });
  t.match(await next([windowOf(fewer(), 4)], { refilling: true }), {
    verdict: 'inconclusive',
    reason: /after a minute at rest: quota comes back too slowly/,
  });
});

t.test('where quota comes back bit by bit, requests of this run may still be held', async (t) => {
  const held = (before: number, between: number, admitted: number, heldBefore: number, refilling = true) =>
    said('rate-next-window', {
      next: [windowOf(fewer(before, between), admitted)],
      heldBefore,
      refilling,
    });
  t.match(await held(2, 0, 4, 2), { verdict: 'pass' });
  t.match(await held(2, 0, 4, 3), { verdict: 'pass' }, 'not all of them');
  t.match(await held(2, 0, 4, 1), { verdict: 'inconclusive' }, 'more than this run spent');
  t.match(await held(2, 1, 4, 2), { verdict: 'inconclusive' }, 'somebody else between');
  t.match(await held(2, 0, 3, 2), { verdict: 'inconclusive' }, 'one is missing');
  t.match(await held(2, 0, 4, 2, false), { verdict: 'inconclusive' }, 'a fixed window holds nothing');
});

/** The window that X-RateLimit-Limit speaks of, where the key got these answers. */
async function windowShown(keys: readonly Key[], ...answers: readonly AnswerParts[]) {
  const { run } = testRun((_request, number) => answers[number - 1] ?? {}, { keys });
  const probe = run.probe('shown');
  const [key] = keys;
  for (const _answer of answers) {
    if (key !== undefined) await probe.attempt(listPets(), key);
  }
  return observed(run, rateLimitGaps, 'rate-headers-window');
}

t.test('whether the headers describe the minute or the day', async (t) => {
  const minuteAnswer = telling({ status: 200, limit: 6 });
  const dayAnswer = telling({ status: 200, limit: 1000 });
  t.match(await windowShown([free], minuteAnswer, minuteAnswer), {
    answer: 'minute',
    detail: 'Minute figures in X-RateLimit-Limit',
    evidence: /^shown#1$/,
  });
  t.match(await windowShown([free], dayAnswer), { answer: 'day', evidence: /^shown#1$/ });
  t.match(await windowShown([free], dayAnswer, minuteAnswer), { answer: 'both', evidence: /^shown#1$/ });
  t.equal(await windowShown([free], telling({ status: 200, limit: 7 })), undefined);
  t.equal(await windowShown([free], telling({ status: 200, limit: undefined })), undefined);
  const { run } = testRun(() => dayAnswer, { keys: [free] });
  await run.probe('shown').sendWithoutKey(listPets(), 'none');
  t.equal(await observed(run, rateLimitGaps, 'rate-headers-window'), undefined, 'no caller, no plan');
});

t.test('whether quota comes back at once or bit by bit', async (t) => {
  const kind = async (...measured: readonly Partial<MinuteMeasurement>[]) => {
    const plans = ['free', 'pro', 'business'] as const;
    const keys = measured.map((_, index) =>
      exhaustKey({ name: `key-${index}`, plan: plans[index] ?? 'free' }),
    );
    const { run } = testRun(() => ({}), { keys });
    for (const [index, key] of keys.entries())
      await played(run, `minute:${key.name}`, minuteMeasured(key, measured[index]));
    return observed(run, rateLimitGaps, 'rate-window-kind');
  };
  t.match(await kind({ refilling: false }), {
    answer: 'fixed',
    detail: /whole quota/,
    evidence: /^after-retry-after$/,
  });
  t.match(await kind({ refilling: true, afterRetryAfter: undefined }), {
    answer: 'refilling',
    detail: /bit by bit/,
    evidence: /^after-reset$/,
  });
  t.match(await kind({ refilling: true, afterRetryAfter: undefined, afterReset: undefined }), {
    evidence: /^$/,
  });
  t.equal(await kind({ refilling: undefined }), undefined);
  t.match(await kind({ refilling: undefined }, { refilling: true }), { answer: 'refilling' });
});

t.test('a measurement that could not be made is none of the others’', async (t) => {
  const pro = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run } = testRun(() => ({}), { keys: [free, pro], permissions: new Set(['exhaust'] as const) });
  await played(run, 'minute:pro-1', minuteMeasured(pro, { windows: [windowOf(more, 7)] }));
  await run.play({ id: 'minute:free-1', play: () => Promise.reject(new Error('broken')) }).catch(() => {});
  t.match(await judged(run, rateLimitChecks, 'rate-concurrent'), { reason: /count of key pro-1/ });
});

t.test('without a key that may be exhausted nothing is known', async (t) => {
  const { run } = testRun(() => ({}), { keys: [testKey()] });
  t.match(await judged(run, rateLimitChecks, 'rate-concurrent'), {
    verdict: 'inconclusive',
    reason: /no usable key has the role exhaust/,
  });
});
