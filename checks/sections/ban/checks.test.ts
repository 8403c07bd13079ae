/** Sections 5 and 8: what is said of a ban that was provoked, and of one that nobody earned. */
import t from 'tap';
import { SECOND } from '../../run/key-pool.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import type { MinuteMeasurement } from '../minute/scenes.ts';
import {
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  minuteMeasured,
  more,
  retryOf,
  telling,
  windowOf,
} from '../minute/testing/measured.ts';
import { judged, observed, played } from '../testing/judged.ts';
import { banChecks, banGaps } from './checks.ts';
import type { Ban, BanMeasurement } from './measurement.ts';

const banned = testKey({ name: 'free-ban', roles: ['ban'] });
const other = testKey({ name: 'pro-1', plan: 'pro', roles: ['functional'] });
const forbidden = { status: 403, code: 'banned', retryAfter: 20 };
const answer = exchangeAt('ban', 60, forbidden);
const served = exchangeAt('served', 81, { status: 200 });

/** A ban that told its end and kept to it. */
const ban: Ban = {
  answer,
  after: 3,
  toldEnd: answer.receivedAt + 20 * SECOND,
  answers: [answer],
  atEnd: served,
  servedAgain: served,
  notWaited: undefined,
};

async function banRun(measurement: Partial<BanMeasurement>, keys = [banned, other]) {
  const { run } = testRun(() => ({}), { keys, permissions: new Set(['ban'] as const) });
  const whole: BanMeasurement = {
    key: banned,
    count: windowOf(exact).count,
    refusals: [exchangeAt('over-1', 1), exchangeAt('over-2', 2), exchangeAt('over-3', 3)],
    served: [],
    servedBeyondRefill: [],
    ban,
    enough: true,
    others: [],
    ...measurement,
  };
  await played(run, `ban:${banned.name}:end`, whole);
  return run;
}
const said = async (id: string, measurement: Partial<BanMeasurement> = {}, keys = [banned, other]) =>
  judged(await banRun(measurement, keys), banChecks, id);

t.test('whether going on after a 429 led to a ban', async (t) => {
  t.match(await said('ban-provoked'), { verdict: 'pass', evidence: /^ban$/ });
  t.match(await said('ban-provoked', { ban: undefined }), {
    verdict: 'not-applicable',
    reason: /after 3 requests over the limit/,
  });
  t.match(await said('ban-provoked', { ban: undefined, count: windowOf(more, 7).count }), {
    verdict: 'not-applicable',
    reason: /not held to its limit/,
  });
});

t.test('where no ban was seen there is nothing to say of one', async (t) => {
  const ids = ['ban-error-body', 'ban-rate-headers', 'ban-ends', 'ban-ends-as-told', 'ban-other-keys'];
  for (const id of ids)
    t.match(await said(id, { ban: undefined }), { verdict: 'not-applicable', reason: 'no ban was seen' }, id);
});

t.test('each answer to a banned key is an Error', async (t) => {
  t.match(await said('ban-error-body'), { verdict: 'pass', evidence: /^ban$/ });
  for (const body of ['{"code":"banned"}', 'banned', ''])
    t.match(
      await said('ban-error-body', {
        ban: { ...ban, answers: [answer, exchangeAt('later', 70, { ...forbidden, body })] },
      }),
      { verdict: 'fail', evidence: /^later$/ },
      body,
    );
});

t.test('each answer to a banned key carries the three rate headers', async (t) => {
  t.match(await said('ban-rate-headers'), { verdict: 'pass', evidence: /^ban$/ });
  for (const missing of ['limit', 'remaining', 'reset'])
    t.match(
      await said('ban-rate-headers', {
        ban: { ...ban, answers: [answer, exchangeAt('later', 70, { ...forbidden, [missing]: undefined })] },
      }),
      { verdict: 'fail', evidence: /^later$/, reason: `no X-RateLimit-${named(missing)}` },
      missing,
    );
  const unreadable = { ...forbidden, limit: Number.NaN };
  t.match(
    await said('ban-rate-headers', {
      ban: { ...ban, answers: [exchangeAt('unreadable', 70, unreadable)] },
    }),
    { verdict: 'pass' },
    'present it is; that it can be read is rate-limit-value’s subject',
  );
});

const named = (header: string) => header.charAt(0).toUpperCase() + header.slice(1);

t.test('a temporary ban ends', async (t) => {
  const still = exchangeAt('still', 90, forbidden);
  const endless = {
    ...ban,
    atEnd: still,
    servedAgain: undefined,
    answers: [answer, exchangeAt('in between', 75, forbidden), still],
  };
  t.match(await said('ban-ends'), { verdict: 'pass', evidence: /^served,ban$/ });
  t.match(await said('ban-ends', { ban: endless }), {
    verdict: 'fail',
    reason: /^still 403 .* after 30 seconds$/,
    evidence: /^still,ban$/,
  });
  t.match(await said('ban-ends', { ban: { ...endless, answers: [] } }), {
    verdict: 'fail',
    reason: /after 0 seconds/,
    evidence: /^ban$/,
  });
  t.match(await said('ban-ends', { ban: endless, count: windowOf(fewer(), 5).count }), {
    verdict: 'inconclusive',
    reason: /prolongs its ban/,
    evidence: /^ban$/,
  });
  t.match(await said('ban-ends', { ban: { ...endless, notWaited: 'an hour' } }), {
    verdict: 'inconclusive',
    reason: 'an hour',
  });
});

t.test('a ban ends when it said', async (t) => {
  const still = exchangeAt('still', 90, forbidden);
  t.match(await said('ban-ends-as-told'), { verdict: 'pass', evidence: /^served,ban$/ });
  t.match(await said('ban-ends-as-told', { ban: { ...ban, toldEnd: undefined } }), {
    verdict: 'not-applicable',
  });
  t.match(
    await said('ban-ends-as-told', { ban: { ...ban, atEnd: still } }),
    { verdict: 'fail', reason: /^403/, evidence: /^still,ban$/ },
    'though it was served later',
  );
  t.match(
    await said('ban-ends-as-told', { ban: { ...ban, atEnd: still }, count: windowOf(fewer(), 5).count }),
    { verdict: 'inconclusive', reason: /prolongs its ban/, evidence: /^still$/ },
  );
  const unseen = { ...ban, atEnd: undefined };
  t.match(await said('ban-ends-as-told', { ban: unseen }), {
    verdict: 'inconclusive',
    reason: /was not waited for/,
  });
  t.match(await said('ban-ends-as-told', { ban: { ...unseen, notWaited: 'an hour' } }), {
    verdict: 'inconclusive',
    reason: 'an hour',
  });
});

t.test('a ban on one key is a ban on no other', async (t) => {
  const got = (isBanned: boolean) => ({
    key: other,
    exchange: exchangeAt(isBanned ? 'other-banned' : 'other-served', 61, { status: isBanned ? 403 : 200 }),
    banned: isBanned,
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
    await said('ban-other-keys', { others: [got(true)], ban: undefined }),
    { verdict: 'fail', evidence: /^other-banned$/ },
    'the wrong key was banned',
  );
  t.match(await said('ban-other-keys'), {
    verdict: 'inconclusive',
    reason: /every other key was over its own limit/,
  });
  t.match(await said('ban-other-keys', {}, [banned]), {
    verdict: 'inconclusive',
    reason: /needs a second key/,
  });
  const loaded = testKey({ name: 'load-1', roles: ['load'] });
  t.match(await said('ban-other-keys', {}, [banned, loaded]), { reason: /needs a second key/ });
});

t.test('how a ban is answered, when it comes and how long it lasts', async (t) => {
  const gap = async (id: string, given: Partial<BanMeasurement> = {}) =>
    observed(await banRun(given), banGaps, id);
  t.match(await gap('ban-answer'), { answer: 'banned-403', detail: /^403/, evidence: /^ban$/ });
  t.match(await gap('ban-threshold'), { answer: '3', detail: /the 3th request/, evidence: /^ban$/ });
  t.match(await gap('ban-duration'), { answer: '20-seconds', detail: /20 seconds/, evidence: /^ban$/ });
  t.match(await gap('ban-duration', { ban: { ...ban, toldEnd: undefined } }), {
    answer: 'not-told',
    evidence: /^ban$/,
  });
  for (const id of ['ban-answer', 'ban-threshold', 'ban-duration'])
    t.match(
      await gap(id, { ban: undefined }),
      { answer: 'no-ban-seen', detail: /none after 3 requests/, evidence: /^over-3$/ },
      id,
    );
});

const free = exhaustKey();
const banAfter = { afterRetryAfter: retryOf('again', 60, forbidden) };

/** What is said of a client that waited as told, where earlier requests on its key left these values of Remaining. */
async function polite(measurement: Partial<MinuteMeasurement>, ...remaining: readonly number[]) {
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
    verdict: 'inconclusive',
    reason: /role exhaust/,
  });
});

t.test('what may have earned the ban otherwise', async (t) => {
  t.match(await polite({ ...banAfter, windows: [windowOf(exact), windowOf(fewer(), 5)] }), {
    verdict: 'inconclusive',
    reason: /somebody else seems to spend key free-1/,
    evidence: /^again$/,
  });
  t.match(await polite(banAfter, 5, 4, 1, 0), { verdict: 'inconclusive', reason: /somebody else/ });
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
    t.match(await polite(first(status, exact)), never);
    t.match(await polite(first(status, fewer())), never);
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
