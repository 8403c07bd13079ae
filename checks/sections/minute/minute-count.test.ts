/** Section 8: what is said of the number that a measured minute admitted. */
import t from 'tap';
import type { PlanName } from '../../profile/target-profile.ts';
import { scene } from '../../run/scene.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { Unsettled } from '../../run/unsettled.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import type { BanMeasurement } from '../ban/reading.ts';
import { judged, played } from '../testing/judged.ts';
import { concurrent, minuteRow } from './minute-count.ts';
import type { MinuteMeasurement } from './scenes.ts';
import { limitedRun } from './testing/limited-target.ts';
import {
  admittedReadings,
  banMeasured,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  more,
  retryOf,
  windowOf,
} from './testing/measured.ts';

const free = exhaustKey();
const banned = exhaustKey({ name: 'free-ban', roles: ['ban'] });
const rows = [minuteRow('free'), concurrent];

/** What a check says where the minute of the Free key was measured so, and the ban of another one, where there is one. */
async function said(id: string, measurement: Measured, ban?: BanMeasurement) {
  const { run } = testRun(() => ({}), {
    keys: ban === undefined ? [free] : [free, banned],
    permissions: new Set(ban === undefined ? (['exhaust'] as const) : (['exhaust', 'ban'] as const)),
  });
  await played(run, `minute:${free.name}`, minuteMeasured(free, measurement));
  await played(run, `ban:${banned.name}`, ban);
  return judged(run, rows, id);
}
const minute = (measurement: Measured) => said('rate-minute-free', measurement);

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
    reason: '37 were admitted, and none was refused',
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
    reason: /has no daily quota left/,
    evidence: /^day$/,
  });
  t.match(await minute({ windows: [windowOf(exact, 6, refused(1))] }), { verdict: 'pass' });
});

t.test('a window that is shorter than a minute, or gives back too much, admits more', async (t) => {
  const half = [windowOf(exact, 6, { refusal: exchangeAt('refusal', 1, { retryAfter: 29, reset: 30 }) })];
  const again = retryOf('again', 30, { reset: 59.6 });
  t.match(await minute({ windows: half, afterRetryAfter: again }), {
    verdict: 'fail',
    reason: '6 were admitted, and as many again after 30 seconds',
    evidence: /^again,refusal$/,
  });
  t.match(await minute({ windows: half, afterRetryAfter: undefined, afterReset: again }), {
    evidence: /^again,refusal$/,
  });
  const given = (remaining: number) => retryOf('given', 10.7, { remaining, reset: 61 });
  t.match(await minute({ afterRetryAfter: given(3) }), {
    verdict: 'fail',
    reason: /and 3 more after 10 seconds, .* at most 2$/,
    evidence: /^given,refusal$/,
  });
  t.match(await minute({ afterRetryAfter: given(2) }), { verdict: 'pass' });
  const windows = [windowOf(fewer(1), 5), windowOf(exact)];
  t.match(
    await minute({ afterRetryAfter: given(3), windows }),
    { verdict: 'pass' },
    'only of a window that was filled is known how much may come back',
  );
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
    reason: '5 were admitted in each of two windows',
  });
  t.match(await minute({ windows: [short(0, 0, 5)] }), { reason: /^5 of 6 .* another client/ });
});

t.test('each plan is judged by a key of its own', async (t) => {
  const enterprise = testKey({ name: 'enterprise-1', plan: 'enterprise', roles: ['functional'] });
  const { run } = testRun(() => ({}), {
    keys: [free, enterprise],
    permissions: new Set(['exhaust'] as const),
  });
  const row = (plan: PlanName) => judged(run, [minuteRow(plan)], `rate-minute-${plan}`);
  t.match(await row('pro'), {
    verdict: 'skipped',
    reason: 'the profile has no pro key with the role exhaust',
  });
  t.match(
    await row('enterprise'),
    { verdict: 'skipped', reason: /no enterprise key with the role exhaust/ },
    'its numbers are known, and nobody may drive it there',
  );
  t.match(minuteRow('enterprise').notApplicable?.([free]), /no Enterprise key/, 'whatever is permitted');
  t.equal(minuteRow('enterprise').notApplicable?.([free, enterprise]), undefined);
  t.equal(minuteRow('business').notApplicable?.([free]), undefined);
});

t.test('of several keys only the plan’s own is driven to its limit for its row', async (t) => {
  const pro = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run } = limitedRun({ keys: [free, pro] });
  t.match(await judged(run, [minuteRow('pro')], 'rate-minute-pro'), { verdict: 'pass' });
  t.strictSame([...run.trace.requestsByKey.keys()], ['pro-1']);
});

t.test('the limit holds for requests in flight together', async (t) => {
  const concurrent = (window: MinuteMeasurement['windows'][number] | undefined) =>
    said('rate-concurrent', { windows: window === undefined ? [] : [window] });
  t.match(await concurrent(windowOf(exact)), { verdict: 'pass', evidence: /^refusal$/ });
  t.match(await concurrent(windowOf(fewer(), 5)), { verdict: 'inconclusive', reason: /rate-minute-free/ });
  t.match(
    await concurrent(windowOf(more, 7)),
    { verdict: 'inconclusive', reason: /could not be counted exactly/ },
    'no race',
  );
  const raced = [...admittedReadings(2), ...admittedReadings(3)];
  t.match(await concurrent(windowOf(fewer(), raced)), { verdict: 'inconclusive' }, 'within the limit');
  t.match(await concurrent(undefined), { verdict: 'inconclusive', reason: /no exchange/ });
});

t.test('the key that may be banned is sent more than its limit at once', async (t) => {
  const ban = (admitted: number, given: Partial<RateReading> = {}) =>
    banMeasured(banned, {
      admitted: admittedReadings(admitted, given),
      refused: [exchangeAt('over-1', 1), exchangeAt('over-2', 1)],
    });
  const windows = [windowOf(exact)];
  t.match(await said('rate-concurrent', { windows: [] }, ban(6)), { verdict: 'pass', evidence: /^over-1$/ });
  t.match(await said('rate-concurrent', { windows }, ban(8)), {
    verdict: 'fail',
    reason: '8 were',
    evidence: /^over-1$/,
  });
  t.match(await said('rate-concurrent', { windows: [] }, ban(5)), { verdict: 'inconclusive' });
  const hidden = ban(8, { limit: 1000 });
  t.match(await said('rate-concurrent', { windows }, hidden), {
    verdict: 'inconclusive',
    reason: /headers do not show/,
  });
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust', 'ban'] as const) });
  await played(run, 'minute:free-1', minuteMeasured(free));
  t.match(await judged(run, rows, 'rate-concurrent'), { verdict: 'pass' }, 'no key may be banned');
});

t.test('a measurement that could not be made is none of the others’', async (t) => {
  const pro = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run } = testRun(() => ({}), { keys: [free, pro], permissions: new Set(['exhaust'] as const) });
  await played(run, 'minute:pro-1', minuteMeasured(pro, { windows: [windowOf(more, 7)] }));
  await run.play(scene('minute:free-1', {}, () => Promise.reject(new Unsettled('broken'))));
  t.match(await judged(run, rows, 'rate-concurrent'), { reason: /key pro-1 could not be counted/ });
  t.match(await judged(run, rows, 'rate-minute-free'), { verdict: 'inconclusive', reason: 'broken' });
});

t.test('without a key that may be exhausted nothing is asked', async (t) => {
  const { run } = testRun(() => ({}), { keys: [testKey()], permissions: new Set(['exhaust'] as const) });
  t.match(await judged(run, rows, 'rate-concurrent'), {
    verdict: 'skipped',
    reason: 'the profile has no key with the role exhaust',
  });
});
