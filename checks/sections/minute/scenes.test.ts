/** A key's minute as a whole: its first window, what comes after the refusal, the next window and a second count. */
import t from 'tap';
import {
  alignedWindow,
  fixedWindow,
  type SimulatedLimit,
  slidingLog,
  tokenBucketByNextToken,
} from '../../limits/testing/simulated-limits.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, testKey } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { judged, outcomeOf } from '../testing/judged.ts';
import { givesBackGradually } from './measurements.ts';
import { minuteRow, nextWindow } from './minute-count.ts';
import { exhaustKeys, minute } from './scenes.ts';
import { type Arrival, type LimitedTarget, limitedRun } from './testing/limited-target.ts';
import { exhaustKey, type Told } from './testing/measured.ts';

const free = exhaustKey();

/** Of one animal: what is sent at the limit, where most likely nothing comes of it. */
const LEAST = '/pets?limit=1';

/** Measures the minute of a key of six, the first of these. */
async function measured(target: LimitedTarget = {}) {
  const keys = target.keys ?? [free];
  const test = limitedRun({ keys, ...target });
  const scene = minute.on(free, keys);
  const measurement = await outcomeOf(test.run, scene);
  const kinds = (windows: typeof measurement.windows) => windows.map(({ count }) => count.verdict.kind);
  return {
    ...test,
    scene,
    measurement,
    isGradual: givesBackGradually(measurement),
    windows: kinds(measurement.windows),
    next: kinds(measurement.next),
    /** With what the limit was met in each later window that was counted exactly; in the first it takes turns. */
    atLimit: [...measurement.windows.slice(1), ...measurement.next].flatMap(({ count, refusal }) =>
      count.verdict.kind === 'exact' ? [refusal?.request.path] : [],
    ),
    waits: test.waits(),
    minuteSaid: () => judged(test.run, [minuteRow('free')], 'rate-minute-free'),
    nextSaid: () => judged(test.run, [nextWindow], 'rate-next-window'),
  };
}

const admittedAgain = { outcome: { status: 200 } };

/** Minutes that open with a request and admit so many each, the last number from then on. */
const minutesOf =
  (...admits: readonly number[]): SimulatedLimit =>
  () => {
    let window = -1;
    let endsAt = 0;
    let used = 0;
    return (now) => {
      if (now >= endsAt) [window, endsAt, used] = [window + 1, now + MINUTE, 0];
      const most = admits[Math.min(window, admits.length - 1)] ?? 0;
      const admitted = used < most;
      if (admitted) used += 1;
      return { admitted, remaining: most - used, reset: endsAt };
    };
  };

t.test('a fixed window is counted, waited out and counted once more', async (t) => {
  const { measurement, windows, next, atLimit, sent, scene, waits, ...said } = await measured();
  t.strictSame(windows, ['exact']);
  t.strictSame(next, ['exact']);
  t.strictSame(atLimit, [LEAST]);
  t.match(measurement, {
    key: free,
    after: { afterRetryAfter: admittedAgain, afterReset: admittedAgain },
  });
  t.equal(said.isGradual, false);
  t.match(await said.minuteSaid(), { verdict: 'pass' });
  t.match(await said.nextSaid(), { verdict: 'pass' });
  t.match(measurement.next, [{ count: { admitted: { length: 6 } } }], 'with the request that found it whole');
  t.ok(sent.length <= (scene.requests ?? 0), 'and the bill said so');
  t.match(waits, [/^61\.\d+: Retry-After of key free-1$/]);
  t.equal(waits.length, 1, 'what was found whole is counted at once');
});

t.test('a larger plan’s next window is not paid for', async (t) => {
  const smaller = exhaustKey({ name: 'pro-1', plan: 'pro', limits: { perMinute: 5, perDay: 1000 } });
  const { windows, next, sent, scene } = await measured({ keys: [free, smaller] });
  t.strictSame([windows, next], [['exact'], []]);
  t.ok(sent.length <= (scene.requests ?? 0));
});

t.test('a window that is aligned to the clock', async (t) => {
  const { windows, next } = await measured({
    limit: alignedWindow,
    takes: (number) => (number === 1 ? 30 * SECOND : 0),
  });
  t.strictSame([windows, next], [['exact'], ['exact']]);
});

t.test('a target that refuses nothing has no next window', async (t) => {
  const { measurement, windows, isGradual } = await measured({ admits: 1000 });
  t.strictSame(windows, ['more']);
  t.match(measurement, { after: undefined, next: [] });
  t.equal(isGradual, undefined);
});

t.test('another number than the plan’s is counted twice, from rest', async (t) => {
  for (const [admits, kind] of [
    [7, 'more'],
    [5, 'fewer'],
  ] as const) {
    const { windows, next, measurement } = await measured({ admits });
    t.strictSame([windows, next], [[kind, kind], []]);
    const [first, second] = measurement.windows;
    const rested = (second?.count.admitted[0]?.sentAt ?? 0) - (first?.last?.receivedAt ?? 0);
    t.ok(rested >= MINUTE + SECOND, 'no window of the first count goes on');
  }
});

t.test(
  'a next window that falls short is counted again, and once more where every other one is whole',
  async (t) => {
    const next = async (...admits: readonly number[]) => {
      const { next, atLimit, waits } = await measured({ limit: minutesOf(6, ...admits) });
      t.ok(atLimit.every((path) => path === LEAST));
      t.notOk(waits.some((wait) => wait.includes('whole window')));
      return next;
    };
    t.strictSame(await next(6), ['exact']);
    t.strictSame(await next(4), ['fewer', 'fewer']);
    t.strictSame(await next(4, 6), ['fewer', 'exact', 'exact']);
    t.strictSame(await next(4, 6, 4), ['fewer', 'exact', 'fewer']);
    t.strictSame(await next(7), ['more']);
    const untold = await measured({
      limit: minutesOf(6, 4),
      tells: ({ number, admitted, remaining }) =>
        number > 7 && admitted ? { remaining: remaining + 2 } : undefined,
    });
    t.strictSame(untold.next, ['fewer', 'fewer'], 'though nothing that was held explains it');
    t.match(untold.waits.at(-1), /: key free-1 to be at rest for a minute$/);
  },
);

t.test(
  'a window that looks back and falls short is counted a third time, after a whole window at rest',
  async (t) => {
    // Spread out, so that the window gives back bit by bit.
    const takes = (number: number) => (number <= 6 ? 4 * SECOND : 0);
    const short = await measured({ limit: slidingLog, admits: 5, takes });
    t.strictSame(short.windows, ['fewer', 'fewer', 'fewer']);
    t.match(short.waits.at(-1), /: key free-1 to be at rest for a whole window$/);

    let spent = 0;
    const spentBefore = await measured({
      limit: (capacity) => {
        const says = slidingLog(capacity);
        return (now) => {
          if (spent === 0) says(now);
          spent += 1;
          return says(now);
        };
      },
      takes,
    });
    t.strictSame(
      spentBefore.windows,
      ['fewer', 'exact'],
      'what somebody else spent once is not missed twice',
    );
    t.strictSame(spentBefore.atLimit, [LEAST]);
  },
);

/** Answers to the requests after the first seven, which fill the window. */
const later = (told: (arrival: Arrival) => Told | undefined) => (arrival: Arrival) =>
  arrival.number > 7 ? told(arrival) : undefined;

t.test('without an admission at the reset there is no next window', async (t) => {
  const { next, measurement } = await measured({ tells: later(() => ({ status: 429, reset: 60 })) });
  t.strictSame(next, []);
  t.match(measurement.after, { afterReset: { outcome: { status: 429 } } });
});

t.test('a refusal that names no moment leaves none to ask at', async (t) => {
  const { windows, next, measurement, waits } = await measured({
    tells: ({ admitted }) => (admitted ? undefined : { reset: undefined, retryAfter: undefined }),
  });
  t.strictSame([windows, next, waits], [['exact'], [], []]);
  t.match(measurement.after, { asked: [], afterRetryAfter: undefined, afterReset: undefined });
});

t.test('headers that no longer describe the minute: the key rests before the next window', async (t) => {
  const { next, isGradual, waits } = await measured({
    tells: later(() => ({ limit: 1000, remaining: 900 })),
  });
  t.equal(isGradual, undefined);
  t.strictSame(next, ['exact']);
  t.ok(waits.some((wait) => wait.endsWith('key free-1 to be at rest for a minute')));
});

t.test('a sliding window gives back bit by bit, and is whole after a minute', async (t) => {
  const { windows, next, isGradual, waits, ...said } = await measured({
    limit: slidingLog,
    takes: (number) => (number <= 6 ? 4 * SECOND : 0),
  });
  t.strictSame(windows, ['exact']);
  t.equal(isGradual, true);
  t.match(await said.minuteSaid(), { verdict: 'pass' });
  t.ok(waits.some((wait) => wait.endsWith('key free-1 to have its whole quota')));
  t.equal(next.length, 1);
  t.match(await said.nextSaid(), { verdict: 'pass' }, 'what is missing is what this run has spent');
});

t.test('a bucket gives back bit by bit, and is whole after a minute', async (t) => {
  const { windows, next, isGradual, minuteSaid } = await measured({ limit: tokenBucketByNextToken });
  t.strictSame([windows, next, isGradual], [['exact'], ['exact'], true]);
  t.match(await minuteSaid(), { verdict: 'pass' });
});

t.test('a request after the refusal belongs to the burst, or the key rests after it', async (t) => {
  const rests = async (seconds: number, reset = seconds) => {
    const { waits } = await measured({
      limit: tokenBucketByNextToken,
      tells: ({ number, remaining }) =>
        number === 7
          ? { retryAfter: seconds, reset }
          : { remaining: Math.min(1, remaining), reset: reset + 5 },
    });
    return waits.slice(1).map((wait) => wait.replace(/\.\d+:/, ':'));
  };
  const whole = (seconds: number) => `${seconds}: key free-1 to have its whole quota`;
  const rest = (seconds: number) => `${seconds}: key free-1 to be at rest for a minute`;
  t.strictSame(await rests(10), [whole(71)]);
  t.strictSame(await rests(19), [whole(80)]);
  t.strictSame(await rests(21), [whole(61), rest(82)], 'a bucket gave it back in part');
  t.strictSame(await rests(30), [whole(61), rest(91)]);
  t.strictSame(
    await rests(55),
    [whole(61), rest(122)],
    'so late it counts as the first of the next window, which is counted again where it falls short',
  );
  t.strictSame(
    (await rests(10, 65)).slice(1),
    [whole(71), rest(132)],
    'so it does after one that belonged to the burst',
  );
});

t.test('a bucket that gives back more than its plan’s', async (t) => {
  const { isGradual, minuteSaid } = await measured({
    limit: tokenBucketByNextToken,
    tells: later(({ admitted }) => (admitted ? { remaining: 3, reset: 12 } : undefined)),
  });
  t.equal(isGradual, true);
  t.match(await minuteSaid(), { verdict: 'fail', reason: /and 4 more after .* gives back at most 3$/ });
  const low = await measured({
    limit: tokenBucketByNextToken,
    admits: 5,
    tells: ({ number, admitted }) => (number > 6 && admitted ? { remaining: 3, reset: 12 } : undefined),
  });
  t.equal(low.isGradual, true);
  t.notMatch(
    await low.minuteSaid(),
    { reason: /given back/ },
    'a count that is not exact is judged as it is',
  );
});

t.test('a window that is whole again too soon', async (t) => {
  const { isGradual, windows, waits, minuteSaid } = await measured({
    limit: (capacity) => {
      let endsAt = 0;
      let used = 0;
      return (now) => {
        if (now >= endsAt) [endsAt, used] = [now + 30 * SECOND, 0];
        const admitted = used < capacity;
        if (admitted) used += 1;
        return { admitted, remaining: capacity - used, reset: endsAt };
      };
    },
  });
  t.strictSame([windows, isGradual], [['exact'], false]);
  t.match(await minuteSaid(), { verdict: 'fail', reason: /as many again after (28|29|30|31|32) seconds$/ });
  t.equal(waits.length, 1, 'and is counted at once, before it ends');
});

t.test('what this run has sent in the minute belongs to the count', async (t) => {
  const test = limitedRun({ keys: [free] });
  const probe = test.run.probe('earlier');
  for (let sent = 0; sent < 4; sent += 1) await probe.attempt(listPets(), free);
  const { windows } = await outcomeOf(test.run, minute.on(free, [free]));
  t.match(windows, [{ count: { verdict: { kind: 'exact' }, admitted: { length: 6 } } }]);
  t.match(windows[0]?.count.admitted[0], { id: 'earlier#1', sentAt: NOON });
});

/** Measures the minute of a key of which somebody spent so many requests, and this run one, right before. */
async function usedBefore(spent: number, tells: LimitedTarget['tells'] = () => undefined) {
  const test = limitedRun({
    keys: [free],
    tells,
    limit: (capacity) => {
      const says = fixedWindow(capacity);
      for (let others = 0; others < spent; others += 1) says(NOON);
      return says;
    },
  });
  await test.run.probe('earlier').attempt(listPets(), free);
  const { windows, next } = await outcomeOf(test.run, minute.on(free, [free]));
  return { counts: [...windows, ...next].map(({ count }) => count.verdict.kind), waits: test.waits() };
}

const NEXT_WINDOW = /^61.*: the next window of key free-1$/;

t.test('of a key that an earlier run has used, the next window is counted, and the one after', async (t) => {
  const { counts, waits } = await usedBefore(2);
  t.strictSame(counts, ['exact', 'exact']);
  t.match(waits.slice(0, 2), [NEXT_WINDOW, /^65.*: .* under way for a while$/]);
});

t.test('a window is not waited out for nothing', async (t) => {
  const first = async (...given: Parameters<typeof usedBefore>) => (await usedBefore(...given)).waits[0];
  t.notMatch(await first(0), NEXT_WINDOW);
  t.notMatch(
    await first(0, ({ number }) => (number === 1 ? { remaining: 0 } : undefined)),
    NEXT_WINDOW,
    'one is wrong',
  );
  t.notMatch(await first(2, () => ({ limit: 1000 })), NEXT_WINDOW, 'headers of the day');
  t.notMatch(await first(2, () => ({ reset: 600 })), NEXT_WINDOW, 'longer than a minute');
  t.match(await first(5), NEXT_WINDOW, 'nothing is left');
});

t.test('one key a plan may be driven to its limit, the smallest plan first', async (t) => {
  const key = (
    name: string,
    plan: 'free' | 'pro' | 'business',
    perMinute: number,
    ...more: readonly 'ban'[]
  ) => exhaustKey({ name, plan, roles: ['exhaust', ...more], limits: { perMinute, perDay: 100_000 } });
  const names = (...keys: Parameters<typeof exhaustKeys>[0]) => exhaustKeys(keys).map(({ name }) => name);
  const pro = key('pro-1', 'pro', 300);
  t.strictSame(names(pro, key('free-1', 'free', 60)), ['free-1', 'pro-1']);
  t.strictSame(names(pro, key('pro-2', 'pro', 300)), ['pro-1']);
  t.strictSame(names(key('pro-ban', 'pro', 300, 'ban'), pro), ['pro-1'], 'one that may be banned is spared');
  t.strictSame(names(pro, key('pro-ban', 'pro', 300, 'ban')), ['pro-1']);
  t.strictSame(names(key('ban-1', 'pro', 300, 'ban'), key('ban-2', 'pro', 300, 'ban')), ['ban-1']);
  t.strictSame(names(testKey({ roles: ['functional', 'ban'] })), []);
});

t.test('only the smallest plan’s minute goes on into the next one', async (t) => {
  const key = (name: string, plan: 'free' | 'pro' | 'business', perMinute: number) =>
    exhaustKey({ name, plan, limits: { perMinute, perDay: 100_000 } });
  const requests = (...keys: Parameters<typeof exhaustKeys>[0]) =>
    minute
      .keys(keys)
      .map((one) => minute.on(one, keys))
      .map((scene) => `${scene.id} ${scene.requests}`);
  t.strictSame(requests(key('pro-1', 'pro', 300), key('free-1', 'free', 60)), [
    'minute:free-1 125',
    'minute:pro-1 305',
  ]);
  t.strictSame(requests(key('pro-1', 'pro', 300)), ['minute:pro-1 605']);
  t.strictSame(requests(key('business-1', 'business', 1000)), ['minute:business-1 1005']);
});

t.test(
  'a window is under way for a while when the key is refused, so that a new one would show',
  async (t) => {
    const test = limitedRun({ keys: [free] });
    await test.run.probe('earlier').send(listPets(), { key: free });
    const { windows } = await outcomeOf(test.run, minute.on(free, [free]));
    const refusedAt = windows[0]?.refusal?.sentAt ?? 0;
    t.ok(refusedAt > NOON + 3 * SECOND && refusedAt < NOON + 6 * SECOND, `${refusedAt - NOON} ms`);
  },
);
