/** Section 8: a ban from its first answer to its end. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { storedRun } from '../../run/testing/stored-run.ts';
import { testKey } from '../../run/testing/test-run.ts';
import { judged, observed, outcomeOf } from '../testing/judged.ts';
import { banChecks, bannedAnswers } from './checks.ts';
import { banGaps } from './gaps.ts';
import { ban } from './scenes.ts';
import {
  type BanRules,
  banKeyForTests,
  bannedFor,
  banningRun,
  banScene,
  forbidden,
  proKey,
} from './testing/banning-target.ts';

const left = (told: Parameters<typeof forbidden>[0]) => ({ ...forbidden(told), retryAfter: undefined });
const about = (actual: number | undefined, expected: number) =>
  actual !== undefined && Math.abs(actual - expected) <= 2 * SECOND;

t.test('a target that does not ban admits again when the window is over', async (t) => {
  const { measured, sent, waits, run } = await bannedFor({});
  t.match(measured, {
    key: banKeyForTests,
    ban: undefined,
    count: { verdict: { kind: 'exact' } },
    refusals: { length: 66 },
    served: { length: 0 },
    others: { length: 1 },
  });
  t.match(waits().at(-1), /^6[2-4](\.\d+)?: the window of key free-ban to end$/);
  t.equal(sent.filter(({ authorization }) => authorization.kind === 'key').length, 6 + 66 + 1 + 1);
  t.equal(bannedAnswers(run, run.trace).size, 0);
});

t.test('a ban that tells its end is waited out, and asked for once', async (t) => {
  const { measured, waits, run } = await bannedFor({ after: 10 });
  const { ban } = measured;
  t.match(ban, {
    answer: { outcome: { status: 403 } },
    after: 10,
    answers: { length: 1 },
    atEnd: { outcome: { status: 200 }, request: { path: '/pets?limit=100&status=sold' } },
    servedAgain: { outcome: { status: 200 } },
    notWaited: undefined,
  });
  t.equal(ban?.servedAgain, ban?.atEnd);
  t.ok(about(ban?.toldEnd, (ban?.answer.receivedAt ?? 0) + 20 * SECOND));
  t.ok((ban?.atEnd?.sentAt ?? 0) >= (ban?.toldEnd ?? Number.POSITIVE_INFINITY));
  t.match(waits().at(-1), /the ban of key free-ban to end$/);
  t.equal(measured.refusals.length, 9);
  t.strictSame([...bannedAnswers(run, run.trace)], [ban?.answer.id]);
});

t.test('a ban that is over before the window is: both are waited out', async (t) => {
  const { measured } = await bannedFor({ after: 10, seconds: 2 });
  const end = measured.refusals[0]?.receivedAt ?? 0;
  t.ok((measured.ban?.atEnd?.sentAt ?? 0) >= end + 59 * SECOND);
  t.match(measured.ban?.atEnd, { outcome: { status: 200 } });
});

t.test('the window is over when its refusals said, or after a minute where nobody is banned', async (t) => {
  const asked = async (retryAfter: number | undefined, rules: BanRules = {}) => {
    const { measured, run } = await bannedFor({
      otherwise: ({ admitted, seconds }) => (admitted || seconds > 25 ? undefined : { retryAfter }),
      ...rules,
    });
    const first = measured.refusals[0]?.receivedAt ?? 0;
    const end = run.trace.readings.find(
      ({ path, sentAt }) => path.endsWith('status=sold') && sentAt > first + 28_000,
    );
    return Math.round(((end?.sentAt ?? 0) - first) / SECOND);
  };
  t.equal(await asked(undefined), 62);
  t.equal(await asked(5), 62);
  t.equal(await asked(200), 62, 'no window of a minute ends then');
});

t.test('with a ban to wait for, what the refusals told is believed', async (t) => {
  const asked = async (retryAfter: number | undefined) => {
    const { measured } = await bannedFor({
      otherwise: ({ number }) =>
        number > 6 && number <= 12 ? { status: 429, retryAfter } : number === 13 ? forbidden(1) : undefined,
    });
    const { ban, refusals } = measured;
    return Math.round(((ban?.atEnd?.sentAt ?? 0) - (refusals[0]?.receivedAt ?? 0)) / SECOND);
  };
  t.equal(await asked(30), 32);
  t.equal(await asked(undefined), 62);
  t.equal(await asked(150), 62);
});

t.test('a ban that tells no end is asked for at longer and longer intervals', async (t) => {
  const { measured } = await bannedFor({ after: 10, seconds: 90, tells: left });
  const { ban } = measured;
  t.match(ban, { toldEnd: undefined, atEnd: { outcome: { status: 403 } }, answers: { length: 4 } });
  t.match(ban?.servedAgain, { outcome: { status: 200 } });
  const times = [...(ban?.answers.slice(1) ?? []), ban?.servedAgain].map((answer) => answer?.sentAt ?? 0);
  const pauses = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / SECOND));
  t.strictSame(pauses, [15, 30, 60]);
});

t.test('a ban without an end is given up', async (t) => {
  const { measured, sent } = await bannedFor({ after: 66, seconds: 1e6, tells: left });
  t.ok(sent.length <= (banScene().requests ?? 0), 'and the bill said so');
  t.match(measured.ban, {
    servedAgain: undefined,
    atEnd: { outcome: { status: 403 } },
    notWaited: undefined,
    answers: { length: 8 },
  });
  const quarter = await bannedFor({ after: 66, seconds: 900, tells: left });
  t.match(quarter.measured.ban?.servedAgain, { outcome: { status: 200 } });
});

t.test('a ban that lasts longer than it said', async (t) => {
  const { measured } = await bannedFor({
    after: 10,
    seconds: 100,
    tells: (remaining) => forbidden(remaining > 85 ? 20 : remaining),
  });
  const { ban } = measured;
  t.match(ban, { atEnd: { outcome: { status: 403 } }, servedAgain: { outcome: { status: 200 } } });
  t.equal(ban?.answers.length, 2, 'what it says then is believed');
});

t.test('a ban of an hour is not waited for', async (t) => {
  const { measured, waits } = await bannedFor({ after: 10, seconds: 3600 });
  t.match(measured.ban, {
    atEnd: undefined,
    servedAgain: undefined,
    notWaited: /lasts 60 minutes, but a run waits only 15$/,
    answers: { length: 1 },
  });
  t.ok(about(measured.ban?.toldEnd, (measured.ban?.answer.receivedAt ?? 0) + 3600 * SECOND));
  t.notOk(waits().some((wait) => wait.endsWith('the ban of key free-ban to end')));
  t.match((await bannedFor({ after: 10, seconds: 895 })).measured.ban, { notWaited: undefined });
});

t.test('a ban that looks like the limit shows by outlasting the window', async (t) => {
  const { measured, run } = await bannedFor({ after: 10, seconds: 30, tells: () => ({ status: 429 }) });
  const { ban, refusals, others } = measured;
  t.equal(ban?.answer, ban?.atEnd);
  t.equal(ban?.after, refusals.length);
  t.match(ban, { answers: { length: 2 }, servedAgain: { outcome: { status: 200 } } });
  t.strictSame(
    others.map(({ key, banned }) => [key.name, banned]),
    [
      ['pro-1', false],
      ['pro-1', false],
    ],
    'tried when the ban may have begun, and when it shows',
  );
  t.equal(bannedAnswers(run, run.trace).size, 2);
});

t.test('a ban that looks like the limit tells when it ends all the same', async (t) => {
  const told = async (tells: (left: number) => number, seconds: number) => {
    const { measured, run } = await bannedFor({
      after: 1,
      seconds,
      tells: (remaining) => ({ status: 429, retryAfter: tells(remaining) }),
    });
    t.equal(measured.ban?.answer.outcome.status, 429);
    t.match((await observed(run, banGaps, 'ban-duration'))?.answer, 'not-told');
    return judged(run, banChecks, 'ban-ends-as-told');
  };
  t.match(await told(() => 1, 87), { verdict: 'fail' }, 'it says one second all the time');
  t.match(await told(Math.ceil, 130), { verdict: 'pass' }, 'it began with the first refusal');
});

t.test('the key that may be banned: one that may do nothing else first', async (t) => {
  const key = (name: string, ...more: readonly ('exhaust' | 'functional')[]) =>
    testKey({ name, roles: ['ban', ...more] });
  const chosen = (...keys: readonly ReturnType<typeof testKey>[]) => ban.keys(keys)[0]?.name;
  t.equal(chosen(key('a', 'exhaust'), key('b')), 'b');
  t.equal(chosen(key('a', 'exhaust', 'functional'), key('b', 'exhaust')), 'b');
  t.equal(chosen({ ...proKey, roles: ['ban'] }, key('b')), 'b', 'the smaller plan');
  t.equal(chosen(proKey, key('b', 'functional', 'exhaust')), 'b');
  t.equal(chosen(proKey), undefined);
});

t.test('no answer while the end is waited for', async (t) => {
  const broken = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
  const test = await banningRun({
    after: 10,
    otherwise: ({ seconds }) => (seconds > 65 ? broken : undefined),
  });
  await t.rejects(outcomeOf(test.run, banScene()), { name: 'Unsettled', message: /connection reset/ });
});

t.test('a run that was cut off waits for a ban that it may have earned to end', async (t) => {
  const entries = [{ session: 1 }, { playing: 'ban:free-ban' }];
  let isForgiven = false;
  const resumed = async (seconds: number) =>
    bannedFor(
      {
        after: 10,
        otherwise: ({ seconds: now }) => {
          if (isForgiven || now >= seconds) isForgiven = true;
          return isForgiven ? undefined : forbidden(seconds - now);
        },
      },
      { options: { stored: storedRun(entries) } },
    );
  const { measured, waits } = await resumed(200);
  t.match(measured, { count: { verdict: { kind: 'exact' } }, ban: { after: 10 }, refusals: { length: 9 } });
  t.match(waits().slice(0, 3), [
    /^60: the window of key free-ban to end$/,
    /^200\.\d+: the ban of key free-ban to end after all$/,
    /: key free-ban to be at rest for a minute$/,
  ]);
  isForgiven = false;
  await t.rejects(resumed(10_000), { name: 'Unsettled', message: /still refused/ });
});
