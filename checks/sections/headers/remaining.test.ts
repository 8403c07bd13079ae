/** Section 8: X-RateLimit-Remaining falls with every request, shows every value of a window, and is 0 when refused. */
import t from 'tap';
import { NOON, payer, testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import {
  admittedReadings,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  telling,
  windowOf,
} from '../minute/testing/measured.ts';
import { judged, played } from '../testing/judged.ts';
import { remainingExhausted, remainingFalls } from './remaining.ts';

const free = exhaustKey();
const other = testKey({ name: 'free-2', limits: { perMinute: 6, perDay: 1000 } });

const FALLS = 'rate-remaining-falls';
const EXHAUSTED = 'rate-remaining-exhausted';

/** What is said of a run whose answers told these values of Remaining, by key, each key's one after the other. */
async function falls(told: Readonly<Record<string, readonly number[]>>) {
  const asked = new Map<string, number>();
  const { run } = testRun(
    (request) => {
      const key = payer(request) ?? '';
      const index = asked.get(key) ?? 0;
      asked.set(key, index + 1);
      return telling({ status: 200, remaining: told[key]?.[index] });
    },
    { keys: [free, other] },
  );
  const probe = run.probe('list');
  const most = Math.max(...Object.values(told).map(({ length }) => length));
  for (let index = 0; index < most; index += 1)
    for (const key of [free, other])
      if (index < (told[key.name]?.length ?? 0)) await probe.attempt(listPets(), key);
  return judged(run, [remainingFalls], FALLS);
}

t.test('every request of a key leaves one fewer, whatever other keys are sent', async (t) => {
  t.match(await falls({ 'free-1': [5, 4, 3] }), { verdict: 'pass', evidence: 'list#1,list#2' });
  t.match(await falls({ 'free-1': [5, 4], 'free-2': [3, 2] }), {
    verdict: 'pass',
    evidence: 'list#1,list#3,list#2',
  });
  t.match(await falls({ 'free-1': [5] }), { verdict: 'inconclusive' }, 'one answer shows no fall');
  t.match(await falls({ 'free-1': [5, 5, 5, 5] }), {
    verdict: 'fail',
    expected: 'X-RateLimit-Remaining one lower after every request',
    reason: /^it did not fall/,
    evidence: 'list#2,list#1',
  });
  t.match(await falls({ 'free-1': [5, 4, 3], 'free-2': [5, 5, 5, 5] }), { verdict: 'fail' }, 'of any key');
});

t.test('where it falls by more, somebody else spends the key', async (t) => {
  t.match(await falls({ 'free-1': [5, 4, 1, 0] }), {
    verdict: 'inconclusive',
    reason: /^key free-1: .*another client/,
  });
});

/** What is said of a key's measured minute. */
async function measured(id: string, measurement: Measured, permit = true) {
  const { run } = testRun(() => ({}), {
    keys: [free],
    permissions: new Set(permit ? (['exhaust'] as const) : []),
  });
  await played(run, 'minute:free-1', minuteMeasured(free, measurement));
  return judged(run, [remainingFalls, remainingExhausted], id);
}
/** A window of the plan's number whose answers told these values of Remaining. */
const telling6 = (...values: readonly number[]) =>
  windowOf(
    exact,
    admittedReadings(values.length).map((reading, index) => ({ ...reading, remaining: values[index] })),
  );
const SHOWS_ALL = telling6(5, 4, 3, 2, 1, 0);

t.test('a window that was counted exactly showed every value once', async (t) => {
  const values = (...told: readonly number[]) => measured(FALLS, { windows: [telling6(...told)] });
  t.match(await values(5, 4, 3, 2, 1, 0), { verdict: 'pass', evidence: 'refusal' });
  const inFlight = windowOf(
    exact,
    telling6(3, 5, 4, 0, 2, 1).count.admitted.map((reading) => ({ ...reading, receivedAt: NOON + 1000 })),
  );
  t.match(await measured(FALLS, { windows: [inFlight] }), { verdict: 'pass' }, 'answers overtake each other');
  t.match(await values(5, 4, 3, 1, 1, 0), { verdict: 'pass' }, 'one twice is a race of two');
  t.match(await values(5, 4, 4, 1, 1, 0), {
    verdict: 'fail',
    expected: '6 requests that leave 5 down to 0',
    reason: 'they left 4 different values, from 5 down to 0',
    evidence: 'refusal',
  });
  t.match(await values(6, 5, 4, 3, 2, 1), {
    verdict: 'fail',
    reason: /6 different values, from 6 down to 1/,
  });
  t.match(await values(4, 3, 2, 1, 0, 0), { verdict: 'fail', reason: /from 4 down to 0/ }, 'one too few');
});

t.test('the first window and the next ones are looked at, where they tell', async (t) => {
  const shortOfValues = telling6(5, 5, 5, 5, 5, 0);
  const verdict = async (measurement: Measured, permit = true) =>
    (await measured(FALLS, measurement, permit)).verdict;
  t.equal(await verdict({ windows: [SHOWS_ALL], next: [shortOfValues] }), 'fail');
  t.equal(await verdict({ windows: [SHOWS_ALL, shortOfValues] }), 'pass', 'what is counted again is not');
  const untold = 'inconclusive';
  t.equal(await verdict({ windows: [shortOfValues], refilling: true }), untold, 'quota comes back meanwhile');
  t.equal(await verdict({ windows: [shortOfValues], refilling: undefined }), untold);
  const ofBefore = telling6(6, 5, 4, 3, 2, 1);
  t.equal(await verdict({ windows: [ofBefore], refilling: true }), 'fail', 'but never the whole limit');
  t.equal(
    await verdict({ windows: [shortOfValues] }, false),
    untold,
    'without the permission none was filled',
  );
  const { admitted } = shortOfValues.count;
  t.equal(await verdict({ windows: [windowOf(fewer(), admitted)] }), untold, 'it was not counted exactly');
  t.equal(await verdict({ windows: [windowOf(exact, admitted.slice(1))] }), untold);
  const butFor = (index: number, given: object) =>
    windowOf(
      exact,
      admitted.map((reading, at) => (at === index ? { ...reading, ...given } : reading)),
    );
  t.equal(await verdict({ windows: [butFor(3, { limit: 1000 })] }), untold, 'the day’s figures');
  t.equal(await verdict({ windows: [butFor(3, { reset: 0 })] }), untold, 'two windows');
});

t.test('nothing is left when a request is refused for the minute', async (t) => {
  const refused = (...told: readonly Parameters<typeof exchangeAt>[2][]) =>
    measured(EXHAUSTED, {
      windows: told.map((one, index) =>
        windowOf(exact, 6, {
          refusal: one === undefined ? undefined : exchangeAt(`refusal-${index}`, 1, one),
        }),
      ),
    });
  t.match(await refused({ remaining: 0 }), { verdict: 'pass', evidence: 'refusal-0' });
  t.match(await refused({ remaining: 0 }, { remaining: 2 }), {
    verdict: 'fail',
    expected: 'X-RateLimit-Remaining: 0 when refused',
    reason: 'X-RateLimit-Remaining: 2',
    evidence: 'refusal-1',
  });
  t.equal((await refused({ remaining: 2, limit: 1000 })).verdict, 'not-applicable', 'the day’s figures');
  t.equal((await refused({ remaining: undefined })).verdict, 'not-applicable');
  t.equal(
    (await refused({ status: 403, remaining: 2 })).verdict,
    'inconclusive',
    'no refusal for the minute',
  );
  t.equal((await refused(undefined)).verdict, 'inconclusive', 'nothing was refused');
});
