/** Section 8: a request over the limit receives 429, and has no effect. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import type { BanMeasurement } from '../ban/reading.ts';
import { judged, played } from '../testing/judged.ts';
import { overLimitChecks } from './over-limit.ts';
import { reset } from './testing/limited-target.ts';
import {
  admittedReadings,
  banMeasured,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  windowOf,
} from './testing/measured.ts';
import type { FilledWindow } from './window-filling.ts';

const free = exhaustKey();
const banned = exhaustKey({ name: 'free-ban', roles: ['ban'] });

/** What is said of requests over the limit, and of those of a key that went on, where one did. */
async function refused(measurement: Measured, goneOn?: Partial<BanMeasurement>) {
  const { run } = testRun(() => ({}), {
    keys: goneOn === undefined ? [free] : [free, banned],
    permissions: new Set(['exhaust', 'ban'] as const),
  });
  await played(run, 'minute:free-1', minuteMeasured(free, measurement));
  await played(run, 'ban:free-ban', banMeasured(banned, goneOn));
  return judged(run, overLimitChecks, 'rate-refused-429');
}
const first = (verdict: typeof exact, given: Partial<FilledWindow>) =>
  refused({ windows: [windowOf(verdict, 6, given)] });

t.test('a request over the limit is refused with 429', async (t) => {
  t.match(await refused({}), { verdict: 'pass', evidence: /^refusal$/ });
  for (const status of [403, 401, 503, 400])
    t.match(await first(exact, { refusal: exchangeAt('refusal', 1, { status }) }), {
      verdict: 'fail',
      expected: /^429/,
      reason: new RegExp(`^${status}`),
      evidence: /^refusal$/,
    });
  const next = [windowOf(exact, 6, { refusal: exchangeAt('next', 70, { status: 503 }) })];
  t.match(await refused({ next }), { verdict: 'fail', evidence: /^next$/ }, 'in each window');
  t.match(await first(exact, { refusal: undefined }), {
    verdict: 'inconclusive',
    reason: /no request of key .* was refused/,
  });
});

t.test('a key that was refused altogether before its limit may be banned', async (t) => {
  for (const status of [401, 403])
    t.match(await first(fewer(), { refusal: exchangeAt('refusal', 1, { status }) }), {
      verdict: 'inconclusive',
      reason: /before its limit/,
      evidence: /^refusal$/,
    });
  t.match(await first(fewer(), { refusal: exchangeAt('refusal', 1, { status: 503 }) }), { verdict: 'fail' });
  t.match(await first(fewer(), {}), { verdict: 'pass' }, 'a 429 is one');
});

t.test('a key that was refused at that moment for another check may be banned', async (t) => {
  const begun = (seconds: number) =>
    admittedReadings(6).map((one) => ({ ...one, sentAt: one.sentAt + seconds * SECOND }));
  const found = { verdict: 'fail', evidence: /^refusal$/ };
  for (const [what, expected, { sender = 'another-check', status = 429, at = 0, since = 0 }] of [
    ['it was refused', { verdict: 'pass', evidence: /^another-check#1$/ }, {}],
    ['its own count was', found, { sender: 'minute:free-1' }],
    ['it was served', found, { status: 200 }],
    ['it was refused after the key was', found, { at: 2 }],
    ['it was refused in the window before', found, { since: 0.5 }],
  ] as const) {
    const { run, clock } = testRun(() => ({ status }), {
      keys: [free],
      permissions: new Set(['exhaust'] as const),
    });
    clock.pass(at * SECOND);
    await run.probe(sender).attempt(listPets(), free);
    const refusal = exchangeAt('refusal', 1, { status: 403 });
    const windows = [windowOf(exact, begun(since), { refusal })];
    await played(run, 'minute:free-1', minuteMeasured(free, { windows }));
    t.match(await judged(run, overLimitChecks, 'rate-refused-429'), expected, what);
  }
});

t.test('an operation that is served over the limit, or not answered', async (t) => {
  const servedOver = exchangeAt('served', 1, { status: 201 });
  t.match(await first(exact, { servedOver }), { verdict: 'fail', reason: /^201/, evidence: /^served$/ });
  const closed = { ...exchangeAt('closed', 1), outcome: reset };
  const broken = windowOf(exact, 6, { closed, refusal: undefined });
  t.match(await refused({ windows: [broken, broken] }), {
    verdict: 'fail',
    reason: 'connection reset, at the end of each window',
    evidence: /^closed$/,
  });
  const once = { verdict: 'inconclusive', reason: /connection reset/, evidence: /^closed$/ };
  t.match(await refused({ windows: [broken] }), once);
  t.match(await refused({ windows: [broken, windowOf(exact)] }), once);
  t.match(await refused({ next: [broken] }), once);
});

/** Between two refusals of the same window, so many seconds after the first of them. */
const servedAfter = (seconds: number): Partial<BanMeasurement> => ({
  refused: [exchangeAt('over', 2)],
  rounds: [
    [exchangeAt('first', 3, { status: 200 })],
    [exchangeAt('served', 3 + seconds, { status: 200 })],
    [exchangeAt('over-again', 40)],
  ],
});

t.test('requests of a key that goes on', async (t) => {
  t.match(await refused({}, { refused: [exchangeAt('over', 2)] }), {
    verdict: 'pass',
    reason: /2 observations/,
  });
  const broken = [exchangeAt('over', 2, { status: 503 })];
  t.match(await refused({}, { refused: broken }), { verdict: 'fail', evidence: /^over$/ });
  t.match(await refused({ refilling: false }, servedAfter(20)), {
    verdict: 'fail',
    reason: /^200 .* between two refusals of the same window/,
    evidence: /^first,served$/,
  });
  for (const refilling of [true, undefined]) {
    t.match(
      await refused({ refilling }, servedAfter(20)),
      { verdict: 'pass' },
      'it may have been given back',
    );
    t.match(
      await refused({ refilling }, servedAfter(1)),
      { verdict: 'fail', evidence: /^served$/ },
      'not so soon',
    );
  }
});

t.test('where one of the keys is given back bit by bit, so may the one that went on', async (t) => {
  const other = exhaustKey({ name: 'pro-1', plan: 'pro' });
  const { run } = testRun(() => ({}), {
    keys: [free, other, banned],
    permissions: new Set(['exhaust', 'ban'] as const),
  });
  await played(run, 'minute:free-1', minuteMeasured(free, { refilling: false }));
  await played(run, 'minute:pro-1', minuteMeasured(other, { refilling: true }));
  await played(run, 'ban:free-ban', banMeasured(banned, servedAfter(20)));
  t.match(await judged(run, overLimitChecks, 'rate-refused-429'), { verdict: 'pass' });
});

t.test('no key is driven to its limit without the permission, nor one that is not for that', async (t) => {
  const { run, sent } = testRun(undefined, { keys: [free] });
  for (const { id } of overLimitChecks) {
    t.match(
      await judged(run, overLimitChecks, id),
      { verdict: 'skipped', reason: 'needs the permission exhaust' },
      id,
    );
    const { run: other } = testRun(undefined, { permissions: new Set(['exhaust'] as const) });
    t.match(
      await judged(other, overLimitChecks, id),
      { verdict: 'skipped', reason: 'the profile has no key with the role exhaust' },
      id,
    );
  }
  t.equal(sent.length, 0);
});

t.test('an addition that was refused adds nothing', async (t) => {
  const said = async (status: number, listed: boolean) => {
    const { run } = testRun(
      (_request, number) => {
        if (number === 1) return { status };
        return { body: listed ? '[{"id":1,"name":"harness-abcd2345 refused","categoryId":1}]' : '[]' };
      },
      { keys: [free], permissions: new Set(['exhaust'] as const) },
    );
    await played(run, 'minute:free-1', minuteMeasured(free));
    const addition = {
      operation: 'createPet' as const,
      method: 'POST',
      path: '/pets',
      body: '{"name":"harness-abcd2345 refused"}',
    };
    const probe = run.probe('minute:free-1');
    await probe.attempt(addition, free);
    await probe.attempt(listPets(), free);
    return judged(run, overLimitChecks, 'rate-refused-adds-nothing');
  };
  t.match(await said(429, false), { verdict: 'pass' });
  t.match(await said(429, true), { verdict: 'fail', evidence: /^minute:free-1#2,minute:free-1#1$/ });
  t.match(await said(201, true), { verdict: 'not-applicable' });
});
