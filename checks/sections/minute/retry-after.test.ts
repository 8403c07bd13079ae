/** Sections 7 and 8: what is said of the time to wait that a refusal told. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { Findings } from '../../run/findings.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { judged, observed, played } from '../testing/judged.ts';
import { resetTrue, retryAfterChecks, retryAfterFormat } from './retry-after.ts';
import type { MinuteMeasurement } from './scenes.ts';
import {
  banMeasured,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  retryOf,
  type Told,
  telling,
  windowOf,
} from './testing/measured.ts';

const free = exhaustKey();
const banned = exhaustKey({ name: 'free-ban', roles: ['ban'] });
const checks = [resetTrue, ...retryAfterChecks];

async function runWith(measurement: Measured) {
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust'] as const) });
  await played(run, `minute:${free.name}`, minuteMeasured(free, measurement));
  return run;
}
const said = async (id: string, measurement: Measured = {}) => judged(await runWith(measurement), checks, id);

const refusedWith = (told: Told) => [windowOf(exact, 6, { refusal: exchangeAt('refusal', 1, told) })];
const none = windowOf(exact, 6, { refusal: undefined });

t.test('every 429 carries Retry-After, whatever it was refused for', async (t) => {
  const present = retryAfterChecks.find(({ id }) => id === 'retry-after-present');
  const of = (told: Told) => {
    const findings = new Findings();
    present?.observe?.(exchangeAt('x', 0, told), findings, testRun().run.trace);
    return findings.settle().verdict;
  };
  t.equal(of({ retryAfter: 60 }), 'pass');
  t.equal(of({ retryAfter: 'soon' }), 'pass', 'present, if not readable');
  t.equal(of({}), 'fail');
  t.equal(of({ status: 200 }), 'inconclusive', 'asked of refusals only');
});

/** What is said of a Retry-After where the target's clock is ours, to a second or so, and where it is unknown. */
async function readable(
  told: Told,
  clock: 'known' | 'unknown' = 'unknown',
  refusal = exchangeAt('refusal', 1, told),
) {
  const date = { status: 200, date: 0 };
  const { run } = testRun(() => telling(clock === 'known' ? date : { status: 200 }), {
    keys: [free],
    permissions: new Set(['exhaust'] as const),
  });
  await run.probe('clock').attempt(listPets(), free);
  await played(run, 'minute:free-1', minuteMeasured(free, { windows: [windowOf(exact, 6, { refusal })] }));
  return judged(run, checks, 'retry-after-readable');
}
const httpDate = (seconds: number) => new Date(NOON + seconds * SECOND).toUTCString();

t.test('a number is a time to wait, of the order of the window', async (t) => {
  const cases = [
    [1, 'pass'],
    [60, 'pass'],
    [600, 'pass'],
    [0.5, 'pass'],
    [0, 'fail'],
    [-1, 'fail'],
    ['soon', 'fail'],
    ['', 'fail'],
    [30_000, 'pass'],
    [63_000, 'pass'],
    [63_001, 'fail'],
  ] as const;
  for (const [retryAfter, verdict] of cases)
    t.match(await readable({ retryAfter }), { verdict, evidence: /^refusal$/ }, `Retry-After: ${retryAfter}`);
  t.match(await readable({ retryAfter: 0 }), { reason: /not a time to wait/, expected: /a minute$/ });
  t.match(await readable({ retryAfter: 0, reset: 60, date: 60 }), { verdict: 'pass' }, 'the limit has reset');
  t.match(await readable({ retryAfter: 0, reset: 60, date: 59 }), { verdict: 'fail' });
  t.match(await readable({ retryAfter: 'soon' }), { reason: 'Retry-After: soon' });
  t.match(await readable({ retryAfter: 63_001 }), { reason: /for a window of a minute$/ });
});

t.test('a refusal for the day may ask for hours', async (t) => {
  const day = { limit: 1000, remaining: 0 };
  t.match(await readable({ retryAfter: 43_200, ...day }), { verdict: 'pass' });
  t.match(await readable({ retryAfter: 10 * 86_400, ...day }), { verdict: 'pass' });
  t.match(await readable({ retryAfter: 10 ** 8, ...day }), {
    verdict: 'fail',
    reason: /for a window of a day$/,
    expected: /a day$/,
  });
  t.match(await readable({ retryAfter: 864_001, limit: 1000, remaining: 1 }), { verdict: 'fail' });
});

t.test('a date lies ahead by the target’s clock, and not far beyond the window', async (t) => {
  for (const [seconds, verdict] of [
    [30, 'pass'],
    [600, 'pass'],
    [1, 'pass'],
    [-3, 'fail'],
    [620, 'fail'],
  ] as const)
    t.match(await readable({ retryAfter: httpDate(seconds) }, 'known'), { verdict }, `${seconds} seconds`);
  t.match(await readable({ retryAfter: httpDate(-3) }, 'known'), { reason: /which is in the past$/ });
  t.match(await readable({ retryAfter: httpDate(620) }, 'known'), { reason: /window of a minute$/ });
  t.match(await readable({ retryAfter: httpDate(-300) }), { verdict: 'pass' }, 'no clock to compare it with');
  const slow = { ...exchangeAt('refusal', 1, { retryAfter: httpDate(5) }), receivedAt: NOON + 30 * SECOND };
  t.match(await readable({}, 'known', slow), { verdict: 'pass' }, 'it lay ahead when the answer was made');
});

t.test('only what is told by a 429 is read, and nothing told is another requirement’s', async (t) => {
  t.match(await readable({}), { verdict: 'inconclusive', reason: /no exchange/ });
  t.match(await readable({ status: 403, retryAfter: 'soon' }), { verdict: 'inconclusive' });
  t.match(await said('retry-after-readable', { windows: [none] }), { verdict: 'inconclusive' });
  const later = windowOf(exact, 6, { refusal: exchangeAt('later', 130, { retryAfter: 'soon' }) });
  t.match(await said('retry-after-readable', { next: [later] }), { verdict: 'fail', evidence: /^later$/ });
});

t.test('refusals of a key that goes on are read as well, where it may', async (t) => {
  const soon = exchangeAt('over', 2, { retryAfter: 'soon' });
  for (const [keys, permissions, verdict] of [
    [[free, banned], ['exhaust', 'ban'], 'fail'],
    [[free, banned], ['exhaust'], 'pass'],
    [[free], ['exhaust', 'ban'], 'pass'],
  ] as const) {
    const { run } = testRun(() => ({}), { keys, permissions: new Set(permissions) });
    await played(run, 'minute:free-1', minuteMeasured(free));
    await played(run, 'ban:free-ban', banMeasured(banned, { refused: [soon] }));
    t.match(await judged(run, checks, 'retry-after-readable'), { verdict });
  }
});

t.test('how long a ban may last is not shown: on a key that goes on no wait is too long', async (t) => {
  for (const [retryAfter, verdict] of [
    [86_400, 'pass'],
    [90_000, 'pass'],
    [httpDate(86_400), 'pass'],
    [0, 'fail'],
  ] as const) {
    const { run } = testRun(() => telling({ status: 200, date: 0 }), {
      keys: [free, banned],
      permissions: new Set(['exhaust', 'ban'] as const),
    });
    await run.probe('clock').attempt(listPets(), free);
    await played(run, 'minute:free-1', minuteMeasured(free));
    const refused = [exchangeAt('over', 2, { retryAfter })];
    await played(run, 'ban:free-ban', banMeasured(banned, { refused }));
    t.match(await judged(run, checks, 'retry-after-readable'), { verdict }, `Retry-After: ${retryAfter}`);
  }
});

t.test('after the time that Retry-After told a request is admitted', async (t) => {
  const honest = (measurement: Measured = {}) => said('retry-after-honest', measurement);
  const after = (status: number) => ({ afterRetryAfter: retryOf('again', 60, { status }) });
  t.match(await honest(), { verdict: 'pass', evidence: /^after-retry-after,refusal$/ });
  t.match(await honest({ afterRetryAfter: undefined }), {
    verdict: 'inconclusive',
    reason: /retry-after-readable/,
    evidence: /^refusal$/,
  });
  t.match(await honest({ afterRetryAfter: undefined, windows: [] }), {
    verdict: 'inconclusive',
    evidence: /^$/,
  });
  t.match(await honest({ windows: [none] }), { verdict: 'inconclusive', evidence: /^$/ });
  t.match(await honest(after(429)), {
    verdict: 'fail',
    expected: /Retry-After: 59$/,
    reason: /^429/,
    evidence: /^again,refusal$/,
  });
  t.match(await honest({ ...after(429), windows: refusedWith({}) }), { expected: /Retry-After: $/ });
  for (const status of [401, 403])
    t.match(await honest(after(status)), {
      verdict: 'inconclusive',
      reason: /ban-spares-polite/,
      evidence: /^again$/,
    });
});

t.test('at the time in X-RateLimit-Reset a request is admitted', async (t) => {
  const reset = (measurement: Measured = {}) => said('rate-reset-true', measurement);
  const after = (status: number) => ({ afterReset: retryOf('again', 60, { status }) });
  t.match(await reset(), { verdict: 'pass', evidence: /^after-reset,refusal$/ });
  t.match(await reset(after(429)), {
    verdict: 'fail',
    expected: /X-RateLimit-Reset has passed/,
    reason: /^429/,
    evidence: /^again,refusal$/,
  });
  for (const status of [401, 403])
    t.match(await reset(after(status)), { verdict: 'inconclusive', reason: /ban-spares-polite/ });
  t.match(await reset({ windows: [none] }), {
    verdict: 'inconclusive',
    reason: /no request of key .* was refused/,
  });
  t.match(await reset({ windows: [] }), { reason: /no request of key .* was refused/ });
  t.match(await reset({ afterReset: undefined }), {
    verdict: 'inconclusive',
    reason: /could not wait for/,
    evidence: /^refusal$/,
  });
  t.match(await reset({ afterReset: undefined, windows: refusedWith({ limit: 1000 }) }), {
    verdict: 'not-applicable',
  });
});

t.test('somebody else on the key explains a refusal after the wait', async (t) => {
  const refused = {
    afterRetryAfter: retryOf('again', 60, { status: 429 }),
    afterReset: retryOf('again', 60, { status: 429 }),
  };
  for (const id of ['retry-after-honest', 'rate-reset-true']) {
    const with_ = (windows: MinuteMeasurement['windows'], next: MinuteMeasurement['next'] = []) =>
      said(id, { ...refused, windows, next });
    t.match(await with_([windowOf(fewer(1), 5)]), { verdict: 'inconclusive', reason: /another client/ }, id);
    t.match(await with_([windowOf(fewer(0, 1), 5)]), { verdict: 'inconclusive', evidence: /^again$/ }, id);
    t.match(await with_([windowOf(exact)], [windowOf(fewer(1), 5)]), { verdict: 'inconclusive' }, id);
    t.match(
      await with_([windowOf(fewer(), 5)]),
      { verdict: 'inconclusive', reason: /daily quota of key/ },
      id,
    );
    t.match(await with_([windowOf(exact), windowOf(exact)]), { verdict: 'fail' }, id);
  }
});

t.test('Date and our clock must both have reached the time that was told', async (t) => {
  const refused = (told: Told) => ({ windows: refusedWith({ date: 1, ...told }) });
  const again = (date: number) => retryOf('again', 60, { status: 429, date });
  const reset = (date: number, told: Told) =>
    said('rate-reset-true', { ...refused(told), afterReset: again(date) });
  const honest = (date: number, told: Told) =>
    said('retry-after-honest', { ...refused(told), afterRetryAfter: again(date) });
  t.match(await reset(60, { reset: 59 }), { verdict: 'fail' });
  t.match(await honest(60, { retryAfter: httpDate(59) }), { verdict: 'fail' });
  const byDate = /^the time that the target told has come by Date but not by our clock/;
  t.match(await reset(160, { reset: 99 }), { verdict: 'inconclusive', reason: byDate });
  t.match(await honest(160, { retryAfter: httpDate(99) }), { verdict: 'inconclusive', reason: byDate });
  const back = /^the Date of the target went back while the run waited$/;
  t.match(await reset(30, { reset: 59 }), { verdict: 'inconclusive', reason: back });
  t.match(await honest(30, { retryAfter: 59 }), { verdict: 'inconclusive', reason: back });
});

t.test('a date in the past by Date alone leaves it open', async (t) => {
  const behind = exchangeAt('refusal', 0, { retryAfter: httpDate(20) });
  const late = { ...behind, sentAt: NOON, receivedAt: NOON + SECOND };
  const { run } = testRun(() => telling({ status: 200, date: 40 }), {
    keys: [free],
    permissions: new Set(['exhaust'] as const),
  });
  await run.probe('clock').attempt(listPets(), free);
  await played(
    run,
    'minute:free-1',
    minuteMeasured(free, { windows: [windowOf(exact, 6, { refusal: late })] }),
  );
  t.match(await judged(run, checks, 'retry-after-readable'), {
    verdict: 'inconclusive',
    reason: /in the past by Date but not by our clock: one of the two is wrong$/,
    evidence: /^refusal$/,
  });
});

t.test('the format of Retry-After, as the first key saw one', async (t) => {
  const format = async (told: Told) =>
    observed(await runWith({ windows: refusedWith(told) }), [retryAfterFormat], 'retry-after-format');
  t.match(await format({ retryAfter: 60 }), {
    answer: 'seconds',
    detail: 'Retry-After: 60',
    evidence: /^refusal$/,
  });
  t.match(await format({ retryAfter: '2026-11-22T00:00:00Z' }), { answer: 'iso-date' });
  t.equal(await format({}), undefined);
  t.equal(await format({ retryAfter: 'soon' }), undefined);
  t.equal(
    await observed(await runWith({ windows: [none] }), [retryAfterFormat], 'retry-after-format'),
    undefined,
  );
});
