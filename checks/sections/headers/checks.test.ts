/** Section 8: the three rate limit headers, on every response, each with a value that it may have. */
import t from 'tap';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { seen } from '../testing/judged.ts';
import { rateHeaderChecks } from './checks.ts';

const key = testKey();

/** Seconds from noon on, as a Unix timestamp. */
const unix = (seconds: number) => `${NOON / 1000 + seconds}`;

interface Told {
  readonly limit?: string;
  readonly remaining?: string;
  readonly reset?: string;
  readonly date?: string;
}

/** A 200 that tells of a minute which ends in 50 seconds, but for what is given; an empty text leaves a header out. */
function answer(told: Told, parts: AnswerParts = {}) {
  const { limit = '60', remaining = '59', reset = unix(60), date = '' } = told;
  const headers = [
    ['X-RateLimit-Limit', limit],
    ['X-RateLimit-Remaining', remaining],
    ['X-RateLimit-Reset', reset],
    ['Date', date],
  ] as const;
  return answered({
    id: 'answer',
    sentAt: NOON + 10_000,
    receivedAt: NOON + 11_000,
    headers: headers.filter(([, value]) => value !== ''),
    ...parts,
  });
}

/** What a check says of one answer, of a target whose clock is ours and may be up to four seconds ahead. */
function judged(id: string, told: Told, parts: AnswerParts = {}, { clock = true, refusals = 0 } = {}) {
  const { run } = testRun(() => ({}), { keys: [key] });
  const date = new Date(NOON + 1000).toUTCString();
  if (clock)
    run.trace.targetClock.learn(
      rateReading(answered({ sentAt: NOON, receivedAt: NOON + 1000, headers: [['Date', date]] })),
    );
  return seen(run, rateHeaderChecks, id, [answer(told, parts)], {
    targetClock: run.trace.targetClock,
    keyOf: (exchange) => run.trace.keyOf(exchange),
    refusalsOf: () => refusals,
  });
}
const verdict = (...args: Parameters<typeof judged>) => judged(...args).verdict;

t.test('all three headers are on every response, whatever its status', async (t) => {
  for (const [status, id] of [
    [200, 'rate-headers-on-200'],
    [201, 'rate-headers-on-201'],
    [400, 'rate-headers-on-400'],
    [401, 'rate-headers-on-401'],
    [404, 'rate-headers-on-404'],
    [429, 'rate-headers-on-429'],
    [500, 'rate-headers-on-other'],
    [403, 'rate-headers-on-other'],
  ] as const) {
    t.match(judged(id, {}, { status }), { verdict: 'pass', evidence: 'answer' }, `${status}`);
    t.match(
      judged(id, { reset: '', limit: '' }, { status }),
      {
        verdict: 'fail',
        reason: 'no X-RateLimit-Limit, no X-RateLimit-Reset',
        expected: 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
        evidence: 'answer',
      },
      `${status} without two of them`,
    );
    t.equal(verdict(id, { remaining: 'many' }, { status }), 'pass', 'what they hold is for others to judge');
  }
  t.equal(verdict('rate-headers-on-404', {}, { status: 200 }), 'inconclusive', 'no 404 was seen');
  t.equal(verdict('rate-headers-on-other', {}, { status: 200 }), 'not-applicable', 'none has to occur');
});

t.test('X-RateLimit-Limit is a figure of the key’s plan', async (t) => {
  const id = 'rate-limit-value';
  for (const [limit, expected] of [
    ['60', 'pass'],
    ['1000', 'pass'],
    ['300', 'fail'],
    ['0', 'fail'],
    ['many', 'fail'],
    ['', 'inconclusive'],
  ] as const)
    t.equal(verdict(id, { limit }), expected, limit);
  t.match(judged(id, { limit: '300' }), {
    expected: 'X-RateLimit-Limit: 60 (a minute) or 1000 (a day) for a key of plan free',
    reason: 'X-RateLimit-Limit: 300, as in plan pro: is key free-1 really of plan free?',
    evidence: 'answer',
  });
  t.equal(
    judged(id, { limit: '100000' }).reason,
    'X-RateLimit-Limit: 100000, as in plan business: is key free-1 really of plan free?',
  );
  t.equal(judged(id, { limit: '59' }).reason, 'X-RateLimit-Limit: 59');
  t.match(judged(id, { limit: 'many' }), {
    expected: 'X-RateLimit-Limit: a whole number',
    reason: 'X-RateLimit-Limit: many',
  });
  for (const [limit, expected] of [
    ['0', 'pass'],
    ['7', 'pass'],
    ['-1', 'fail'],
    ['many', 'fail'],
  ] as const)
    t.equal(
      verdict(id, { limit }, { status: 401, key: null }),
      expected,
      `${limit} without a key, so of no plan`,
    );
  t.equal(
    verdict(id, { limit: '7' }, { status: 401 }),
    'pass',
    'whoever the target does not know has no plan',
  );
  t.match(judged(id, { limit: '-1' }, { key: null }), {
    expected: /0 or more/,
    reason: 'X-RateLimit-Limit: -1',
  });
});

t.test('X-RateLimit-Remaining is a count from 0 to the limit', async (t) => {
  const id = 'rate-remaining-value';
  for (const [remaining, limit, expected] of [
    ['0', '60', 'pass'],
    ['60', '60', 'pass'],
    ['61', '60', 'fail'],
    ['-1', '60', 'fail'],
    ['61', '', 'pass'],
    ['-1', '', 'fail'],
    ['many', '60', 'fail'],
    ['', '60', 'inconclusive'],
  ] as const)
    t.equal(verdict(id, { remaining, limit }), expected, `${remaining} of ${limit}`);
  t.match(judged(id, { remaining: '61' }), {
    expected: 'X-RateLimit-Remaining from 0 to X-RateLimit-Limit (60)',
    reason: 'X-RateLimit-Remaining: 61',
    evidence: 'answer',
  });
  t.match(judged(id, { remaining: 'many' }), { expected: 'X-RateLimit-Remaining: a whole number' });
});

const RESET = 'rate-reset-value';

t.test('X-RateLimit-Reset is a Unix time from now on, within the minute', async (t) => {
  // Sent 10 and answered 11 seconds past noon; the clocks differ by up to 4 seconds, rounding is one second more.
  for (const [reset, expected] of [
    [8, 'fail'],
    [9, 'pass'],
    [60, 'pass'],
    [76, 'pass'],
    [77, 'fail'],
  ] as const)
    t.equal(verdict(RESET, { reset: unix(reset) }), expected, `${reset} s`);
  t.match(judged(RESET, { reset: unix(77) }), {
    expected: 'X-RateLimit-Reset: a Unix time in seconds, from now on, at most a minute ahead',
    reason: /^X-RateLimit-Reset: \d+, which is 64 seconds ahead$/,
    evidence: 'answer',
  });
  t.match(judged(RESET, { reset: unix(-5000) }), { reason: /, which is 5,013 seconds ago$/ });
  t.match(judged(RESET, { reset: 'soon' }), {
    verdict: 'fail',
    expected: 'X-RateLimit-Reset: a Unix timestamp',
  });
  t.equal(verdict(RESET, { reset: '' }), 'inconclusive');
  // Behind one address there may be machines whose clocks differ a little.
  for (const [date, reset, expected] of [
    [6, 6, 'pass'],
    [6, 4, 'fail'],
    [16, 77, 'pass'],
    [16, 78, 'fail'],
    [3600, 3600, 'pass'],
    [3600, 3590, 'fail'],
  ] as const)
    t.equal(
      verdict(RESET, { reset: unix(reset), date: new Date(NOON + date * 1000).toUTCString() }),
      expected,
      `${reset} s, by a clock at ${date} s`,
    );
});

t.test('a Reset that Date contradicts and our clock does not is nobody’s fault for sure', async (t) => {
  const { run } = testRun(() => ({}), { keys: [key] });
  const { targetClock } = run.trace;
  /** What is said of a Reset, in an answer whose Date is so many seconds from noon. */
  const dated = (reset: number, date: number) => {
    const told = answer({ reset: unix(reset), date: new Date(NOON + date * 1000).toUTCString() });
    targetClock.learn(rateReading(told));
    return seen(run, rateHeaderChecks, RESET, [told]);
  };
  t.equal(dated(70, 10).verdict, 'pass');
  t.equal(dated(70, -32).verdict, 'pass', 'a stalled server sends an old Date');
  t.equal(dated(5, -32).verdict, 'pass', 'or its clock was set');
  t.equal(dated(77, -32).verdict, 'fail', 'no Date and no clock allow that');
  t.equal(dated(45, 30).verdict, 'pass', 'another machine is ahead');
  const ahead = testRun(() => ({}), { keys: [key] }).run;
  const told = answer({ reset: unix(12), date: new Date(NOON + 50_000).toUTCString() });
  ahead.trace.targetClock.learn(rateReading(told));
  t.match(seen(ahead, rateHeaderChecks, RESET, [told]), {
    verdict: 'inconclusive',
    reason: /^X-RateLimit-Reset: \d+, which is \d+ seconds ago by Date but not by our clock: /,
    evidence: 'answer',
  });
  const gone = answer({ reset: unix(3), date: new Date(NOON + 50_000).toUTCString() });
  t.equal(seen(ahead, rateHeaderChecks, RESET, [gone]).verdict, 'fail', 'both clocks contradict it');
  const never = answer({ reset: '60', date: 'Thu, 01 Jan 1970 00:00:10 GMT' });
  t.equal(
    seen(testRun().run, rateHeaderChecks, RESET, [never]).verdict,
    'pass',
    'a clock that was never set',
  );
});

t.test('without a clock of the target a day’s difference still tells units apart', async (t) => {
  const day = 86_400;
  for (const [reset, expected] of [
    [unix(9 - day), 'pass'],
    [unix(8 - day), 'fail'],
    [unix(72 + day), 'pass'],
    [unix(73 + day), 'fail'],
    [`${NOON + 60_000}`, 'fail'],
    ['50', 'fail'],
  ] as const)
    t.equal(verdict(RESET, { reset }, {}, { clock: false }), expected, reset);
  t.match(judged(RESET, { reset: unix(73 + day) }, {}, { clock: false }), {
    reason: /is 86,462 seconds ahead$/,
  });
});

t.test(
  'Reset lies within a day where the headers may be about the day, or a refusal may be a ban’s',
  async (t) => {
    const inADay = unix(86_400 + 16);
    const beyond = unix(86_400 + 17);
    const ofDay = (about: string, told: Told, parts: AnswerParts, refusals = 0) => {
      t.equal(verdict(RESET, { ...told, reset: inADay }, parts, { refusals }), 'pass', about);
      t.match(
        judged(RESET, { ...told, reset: beyond }, parts, { refusals }),
        { verdict: 'fail', expected: /at most a day ahead$/ },
        `${about}, but not for longer`,
      );
    };
    ofDay('the day’s figure', { limit: '1000' }, {});
    ofDay('no figure', { limit: '' }, {});
    ofDay('nobody’s plan', {}, { key: null, status: 401 });
    ofDay('a second refusal', {}, { status: 429 }, 2);
    ofDay('a valid key that is refused altogether', {}, { status: 401 });
    ofDay('or forbidden', {}, { status: 403 });
    ofDay('a refusal while a ban is provoked', {}, { status: 400, id: 'ban:free-1#3' });
    ofDay('or a day is spent', {}, { status: 429, id: 'day:free-1#3' });
    const ofMinute = (about: string, parts: AnswerParts, refusals = 0) =>
      t.equal(verdict(RESET, { reset: inADay }, parts, { refusals }), 'fail', about);
    ofMinute('an ordinary answer', {});
    ofMinute('an error', { status: 404 });
    ofMinute('the first refusal', { status: 429 }, 1);
    ofMinute('what is served after refusals', { status: 200 }, 2);
    ofMinute('what is served while a ban is provoked', { status: 200, id: 'ban:free-1#1' });
    ofMinute('another check’s error', { status: 404, id: 'today:1#1' });
  },
);
