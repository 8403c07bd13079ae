/** What tells the answer to a banned key from one more refusal of the rate limit. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { exchangeAt, type Told } from '../minute/testing/measured.ts';
import { answersOtherwise, isBan, isSameLimit } from './answers.ts';

const { run } = testRun();
const probe = run.probe('test');

/** The rate limit's own refusal, at noon: come back in a minute. */
const LIMIT: Told = { retryAfter: 60 };
/** Another refusal, ten seconds later, and the one that it is compared with. */
const later = (told: Told, first: Told = LIMIT) =>
  [exchangeAt('later', 10, told), exchangeAt('first', 0, first)] as const;
const looksBanned = (told: Told, first?: Told) => isBan(probe.trace, ...later(told, first));

t.test('a refusal with another status is a ban’s', async (t) => {
  for (const [status, banned] of [
    [401, true],
    [403, true],
    [429, false],
    [200, false],
    [404, false],
    [500, false],
    [503, false],
  ] as const)
    t.equal(looksBanned({ status, retryAfter: 50 }), banned, `429, and then ${status}`);
  t.equal(looksBanned({ status: 403, code: 'rate_limited' }, { status: 403 }), false, '403, and then 403');
  t.equal(looksBanned({ status: 429, code: 'rate_limited' }, { status: 403 }), true, '403, and then 429');
});

t.test('a refusal with another code is a ban’s', async (t) => {
  t.equal(looksBanned({ code: 'banned', retryAfter: 50 }), true);
  t.equal(looksBanned({ body: '<html>', retryAfter: 50 }), true, 'none where there was one');
  t.equal(looksBanned({ status: 500, code: 'banned' }), false, 'a server error is none, whatever its code');
  for (const body of ['<html>', 'null', '[]', '{}', '{"code":7}', '{"code":null}'])
    t.equal(looksBanned({ body }, { body }), false, `both with ${body}`);
});

t.test('a wait that goes beyond the window is a ban’s, but for what rounding makes of it', async (t) => {
  for (const [retryAfter, banned] of [
    [50, false],
    [52, false],
    [53, true],
    [600, true],
  ] as const)
    t.equal(looksBanned({ retryAfter }), banned, `${retryAfter} s, 10 s after a refusal for 60 s`);
  t.equal(looksBanned({ retryAfter: 600 }, {}), false, 'the limit told no end to compare with');
  t.equal(looksBanned({}), false, 'no end is told any more');

  const slow = (seconds: number) => {
    const answer = exchangeAt('slow', 10, { retryAfter: 53 });
    return { ...answer, sentAt: answer.sentAt - seconds * SECOND };
  };
  const limit = exchangeAt('first', 0, LIMIT);
  t.equal(isBan(probe.trace, slow(0), limit), true);
  t.equal(isBan(probe.trace, slow(3), limit), false, 'the answer was on its way for three seconds');

  const first = exchangeAt('first', 0, { retryAfter: 0 });
  const second = (retryAfter: number) => exchangeAt('second', 1, { retryAfter });
  t.equal(
    isBan(probe.trace, second(2), first),
    false,
    'a window that is over at once ends within the second',
  );
  t.equal(isBan(probe.trace, second(3), first), true);
});

t.test('an answer that the rate limit does not give', async (t) => {
  for (const [told, otherwise] of [
    [{ status: 401 }, true],
    [{ status: 403 }, true],
    [{ status: 429 }, false],
    [{ status: 429, code: 'banned' }, true],
    [{ status: 200 }, false],
    [{ status: 500, code: 'internal' }, false],
  ] as const)
    t.equal(answersOtherwise(...later(told)), otherwise, JSON.stringify(told));
});

t.test('after quota was given back, the limit refuses again for a minute at most', async (t) => {
  for (const [told, same] of [
    [{ retryAfter: 5 }, true],
    [{ retryAfter: 62 }, true],
    [{ retryAfter: 63 }, false],
    [{}, true],
    [{ code: 'banned' }, false],
    [{ status: 403, retryAfter: 5 }, false],
  ] as const)
    t.equal(isSameLimit(probe.trace, ...later(told)), same, JSON.stringify(told));
});
