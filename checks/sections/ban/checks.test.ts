/** Sections 5 and 8: what is said of a ban that was provoked, and of one that nobody earned. */
import t from 'tap';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
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
  PER_MINUTE,
  retryOf,
  telling,
  windowOf,
} from '../minute/testing/measured.ts';
import { judged, observed, played } from '../testing/judged.ts';
import { banChecks } from './checks.ts';
import { banGaps } from './gaps.ts';
import type { BanMeasurement } from './reading.ts';

const banned = testKey({
  name: 'free-ban',
  roles: ['ban'],
  limits: { perMinute: PER_MINUTE, perDay: 1000 },
});
const other = testKey({ name: 'pro-1', plan: 'pro', roles: ['functional'] });
const forbidden = { status: 403, code: 'banned', retryAfter: 20 };
const answer = exchangeAt('ban', 60, forbidden);
const served = exchangeAt('served', 81, { status: 200 });

/** A ban with the fourth request over the limit, which told its end and kept to it. */
const ban: Partial<BanMeasurement> = {
  admitted: admittedReadings(PER_MINUTE),
  refused: [exchangeAt('over-1', 1), exchangeAt('over-2', 2), exchangeAt('over-3', 3)],
  rounds: [[answer]],
  later: [served],
};
/** As many refusals as may be needed for a ban, and none. */
const noBan: Partial<BanMeasurement> = {
  rounds: Array.from({ length: 60 }, (_, index) => [exchangeAt(`over-${index + 4}`, 4)]),
};
const somebodyElse: Partial<BanMeasurement> = { admitted: admittedReadings(PER_MINUTE - 1) };

async function banRun(measurement: Partial<BanMeasurement>, keys = [banned, other]) {
  const { run } = testRun(() => ({}), { keys, permissions: new Set(['ban'] as const) });
  await played(run, `ban:${banned.name}`, banMeasured(banned, { ...ban, ...measurement }));
  return run;
}
const said = async (id: string, measurement: Partial<BanMeasurement> = {}, keys = [banned, other]) =>
  judged(await banRun(measurement, keys), banChecks, id);

t.test('whether going on after a 429 led to a ban', async (t) => {
  t.match(await said('ban-provoked'), { verdict: 'pass', evidence: /^ban$/ });
  t.match(await said('ban-provoked', noBan), {
    verdict: 'not-applicable',
    reason: /after 63 requests over the limit/,
  });
  t.match(await said('ban-provoked', { rounds: [] }), {
    verdict: 'inconclusive',
    reason: /was so slow that/,
  });
  t.match(await said('ban-provoked', { ...noBan, admitted: admittedReadings(PER_MINUTE + 1) }), {
    verdict: 'not-applicable',
    reason: /not held to its limit/,
  });
});

t.test('where no ban was seen there is nothing to say of one', async (t) => {
  const ids = ['ban-error-body', 'ban-rate-headers', 'ban-ends', 'ban-ends-as-told', 'ban-other-keys'];
  for (const id of ids)
    t.match(await said(id, noBan), { verdict: 'not-applicable', reason: 'no ban was seen' }, id);
});

t.test('without a key that may be banned there is nothing to see', async (t) => {
  for (const { id } of banChecks.filter(({ id }) => id !== 'ban-spares-polite'))
    t.match(await said(id, {}, [other]), { verdict: 'skipped', reason: /no key with the role ban/ }, id);
});

t.test('each answer to a banned key is an Error', async (t) => {
  t.match(await said('ban-error-body'), { verdict: 'pass', evidence: /^ban$/ });
  for (const body of ['{"code":"banned"}', 'banned', ''])
    t.match(
      await said('ban-error-body', {
        rounds: [[answer, exchangeAt('later', 70, { ...forbidden, body })]],
      }),
      { verdict: 'fail', evidence: /^later$/ },
      body,
    );
  const deep = exchangeAt('deep', 70, { ...forbidden, body: '['.repeat(501) + ']'.repeat(501) });
  t.match(await said('ban-error-body', { rounds: [[answer, deep]] }), {
    verdict: 'inconclusive',
    evidence: /^deep$/,
  });
  const wrong = exchangeAt('wrong', 71, { ...forbidden, body: '{}' });
  t.match(
    await said('ban-error-body', { rounds: [[answer, deep, wrong]] }),
    { verdict: 'fail', evidence: /^wrong$/ },
    'what can be read is judged',
  );
});

t.test('each answer to a banned key carries the three rate headers', async (t) => {
  t.match(await said('ban-rate-headers'), { verdict: 'pass', evidence: /^ban$/ });
  for (const missing of ['limit', 'remaining', 'reset'])
    t.match(
      await said('ban-rate-headers', {
        rounds: [[answer, exchangeAt('later', 70, { ...forbidden, [missing]: undefined })]],
      }),
      { verdict: 'fail', evidence: /^later$/, reason: `no X-RateLimit-${named(missing)}` },
      missing,
    );
  const unreadable = { ...forbidden, limit: Number.NaN };
  t.match(
    await said('ban-rate-headers', {
      rounds: [[exchangeAt('unreadable', 70, unreadable)]],
    }),
    { verdict: 'pass' },
    'present it is; that it can be read is rate-limit-value’s subject',
  );
});

const named = (header: string) => header.charAt(0).toUpperCase() + header.slice(1);

t.test('a temporary ban ends', async (t) => {
  const still = exchangeAt('still', 90, forbidden);
  const endless = { later: [exchangeAt('in between', 75, forbidden), still] };
  t.match(await said('ban-ends'), { verdict: 'pass', evidence: /^served,ban$/ });
  t.match(await said('ban-ends', { later: [still, served] }), { verdict: 'pass', evidence: /^served,ban$/ });
  t.match(await said('ban-ends', endless), {
    verdict: 'fail',
    reason: /^still 403 .* after 30 seconds$/,
    evidence: /^still,ban$/,
  });
  t.match(await said('ban-ends', { ...endless, ...somebodyElse }), {
    verdict: 'inconclusive',
    reason: /prolong its ban/,
    evidence: /^ban$/,
  });
  t.match(await said('ban-ends', anHour), { verdict: 'inconclusive', reason: /lasts 60 minutes/ });
});

/** A ban of an hour, which is not waited for. */
const anHour = { rounds: [[exchangeAt('ban', 60, { ...forbidden, retryAfter: 3600 })]], later: [] };

t.test('a ban ends when it said', async (t) => {
  const still = exchangeAt('still', 90, forbidden);
  const untold = exchangeAt('ban', 60, { ...forbidden, retryAfter: undefined });
  t.match(await said('ban-ends-as-told'), { verdict: 'pass', evidence: /^served,ban$/ });
  t.match(await said('ban-ends-as-told', { rounds: [[untold]] }), { verdict: 'not-applicable' });
  t.match(
    await said('ban-ends-as-told', { later: [still, served] }),
    { verdict: 'fail', reason: /^403/, evidence: /^still,ban$/ },
    'though it was served later',
  );
  t.match(await said('ban-ends-as-told', { later: [still], ...somebodyElse }), {
    verdict: 'inconclusive',
    reason: /prolong its ban/,
    evidence: /^still$/,
  });
  t.match(await said('ban-ends-as-told', { later: [] }), {
    verdict: 'inconclusive',
    reason: /did not wait for its end/,
  });
  t.match(await said('ban-ends-as-told', anHour), { verdict: 'inconclusive', reason: /lasts 60 minutes/ });
  const dated = (id: string, at: number, date: number) => exchangeAt(id, at, { ...forbidden, date });
  t.match(
    await said('ban-ends-as-told', { rounds: [[dated('ban', 60, 60)]], later: [dated('still', 90, 60)] }),
    { verdict: 'inconclusive', reason: /Date of the target went back/, evidence: /^still$/ },
  );
});

t.test('a ban on one key is a ban on no other', async (t) => {
  const got = (isBanned: boolean) => ({
    key: other,
    exchange: exchangeAt(isBanned ? 'other-banned' : 'other-served', 61, { status: isBanned ? 403 : 200 }),
  });
  t.match(await said('ban-other-keys', { others: [got(false)] }), {
    verdict: 'pass',
    reason: 'held in one observation',
    evidence: /^other-served,ban$/,
  });
  t.match(await said('ban-other-keys', { others: [got(false), got(true)] }), {
    verdict: 'fail',
    expected: /^key pro-1 served, whatever key free-ban did$/,
    reason: /^403/,
    evidence: /^other-banned,ban$/,
  });
  t.match(
    await said('ban-other-keys', { ...noBan, others: [got(true)] }),
    { verdict: 'fail', evidence: /^other-banned$/ },
    'the wrong key was banned',
  );
  t.match(await said('ban-other-keys'), {
    verdict: 'inconclusive',
    reason: /each was over its own limit/,
  });
  t.match(await said('ban-other-keys', {}, [banned]), { verdict: 'skipped', reason: /no second key/ });
  const loaded = testKey({ name: 'load-1', roles: ['load'] });
  t.match(await said('ban-other-keys', {}, [banned, loaded]), { reason: /no second key/ });
});

t.test('how a ban is answered, when it comes and how long it lasts', async (t) => {
  const gap = async (id: string, given: Partial<BanMeasurement> = {}) =>
    observed(await banRun(given), banGaps, id);
  t.match(await gap('ban-answer'), { answer: 'banned-403', detail: /^403/, evidence: /^ban$/ });
  t.match(await gap('ban-threshold'), { answer: '4', detail: /request 4 over the limit/, evidence: /^ban$/ });
  t.match(await gap('ban-duration'), { answer: '20-seconds', detail: /20 seconds/, evidence: /^ban$/ });
  t.match(
    await gap('ban-duration', { rounds: [[exchangeAt('ban', 60, { ...forbidden, retryAfter: undefined })]] }),
    {
      answer: 'not-told',
      evidence: /^ban$/,
    },
  );
  for (const id of ['ban-answer', 'ban-threshold', 'ban-duration'])
    t.match(
      await gap(id, noBan),
      { answer: 'no-ban-seen', detail: /none after 63 requests/, evidence: /^over-63$/ },
      id,
    );
});

const free = exhaustKey();
const banAfter = { afterRetryAfter: retryOf('again', 60, forbidden) };

/** What is said of a client that waited as told, where earlier requests on its key left these values of Remaining. */
async function polite(measurement: Measured, ...remaining: readonly number[]) {
  const { run } = testRun(
    (_request, number) => telling({ status: 200, remaining: remaining[number - 1] ?? 0 }),
    { keys: [free], permissions: new Set(['exhaust'] as const) },
  );
  for (const _value of remaining) await run.probe('earlier').attempt(listPets(), free);
  await played(run, 'minute:free-1', minuteMeasured(free, measurement));
  return judged(run, banChecks, 'ban-spares-polite');
}

t.test('a client that waited as told is not banned', async (t) => {
  t.match(await polite({}), { verdict: 'pass', evidence: /^after-retry-after,refusal$/ });
  t.match(await polite({ afterRetryAfter: undefined }), {
    verdict: 'pass',
    evidence: /^after-reset,refusal$/,
  });
  t.match(await polite(banAfter, 5, 4, 3), {
    verdict: 'fail',
    expected: /waited as told/,
    reason: /^403/,
    evidence: /^again,refusal$/,
  });
  const otherCode = retryOf('again', 60, { status: 429, code: 'banned' });
  t.match(await polite({ afterRetryAfter: otherCode }), { verdict: 'fail' }, 'a ban that is a 429');
  t.match(await polite({ afterRetryAfter: retryOf('again', 60, { status: 429 }) }), {
    verdict: 'inconclusive',
    reason: /retry-after-honest/,
    evidence: /^again$/,
  });
});

t.test('a key that was not refused, or could not wait, shows nothing', async (t) => {
  const unsettled = { verdict: 'inconclusive', reason: /not refused, or not told how long/ };
  t.match(await polite({ afterRetryAfter: undefined, afterReset: undefined }), unsettled);
  t.match(await polite({ windows: [windowOf(exact, 6, { refusal: undefined })] }), unsettled);
  t.match(await polite({ windows: [] }), unsettled);
  const { run } = testRun(() => ({}), { keys: [other], permissions: new Set(['exhaust'] as const) });
  t.match(await judged(run, banChecks, 'ban-spares-polite'), {
    verdict: 'skipped',
    reason: /role exhaust/,
  });
});

t.test('what may have earned the ban otherwise', async (t) => {
  t.match(await polite({ ...banAfter, windows: [windowOf(exact), windowOf(fewer(), 5)] }), {
    verdict: 'inconclusive',
    reason: /another client seems to be using key free-1/,
    evidence: /^again$/,
  });
  t.match(await polite(banAfter, 5, 4, 1, 0), { verdict: 'inconclusive', reason: /another client/ });
  const refusals = [exchangeAt('refusal', 1), exchangeAt('second', 1)];
  t.match(await polite({ ...banAfter, windows: [windowOf(exact), windowOf(exact, 6, { refusals })] }), {
    verdict: 'inconclusive',
    reason: /several requests in flight/,
    evidence: /^again$/,
  });
});

t.test('a key that is banned at its first refusal, below the limit', async (t) => {
  const first = (status: number, verdict: typeof exact) => ({
    windows: [windowOf(verdict, 6, { refusal: exchangeAt('first', 1, { status }) })],
  });
  const never = { verdict: 'fail', expected: /never refused before/, evidence: /^first$/ };
  for (const status of [401, 403]) {
    t.match(await polite(first(status, exact)), never, `${status}`);
    t.match(await polite(first(status, fewer())), never, `${status}`);
  }
  for (const [name, status, verdict] of [
    ['the limit’s refusal', 429, exact],
    ['somebody else before', 403, fewer(1, 0)],
    ['somebody else between', 403, fewer(0, 1)],
    ['over the limit', 403, more],
  ] as const)
    t.match(await polite(first(status, verdict)), { verdict: 'pass' }, name);
});

t.test('each key is judged, whatever another one got', async (t) => {
  const pro = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run } = testRun(() => ({}), { keys: [free, pro], permissions: new Set(['exhaust'] as const) });
  const refusal = exchangeAt('first', 1, { status: 403 });
  await played(run, 'minute:free-1', minuteMeasured(free, { windows: [windowOf(exact, 6, { refusal })] }));
  await played(run, 'minute:pro-1', minuteMeasured(pro, banAfter));
  t.match(await judged(run, banChecks, 'ban-spares-polite'), {
    verdict: 'fail',
    reason: /\(2 times\)$/,
    evidence: /^first,again,refusal$/,
  });
});
