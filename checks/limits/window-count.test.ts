import { deepEqual, equal, notEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { RateReading } from '../wire/rate-headers.ts';
import {
  alignedWindow,
  type Burst,
  burstInto,
  fixedWindow,
  reading,
  type Shown,
  type SimulatedLimit,
  slidingCounter,
  slidingLog,
  tokenBucket,
  tokenBucketByNextToken,
  tokenBucketBySecond,
} from './testing/simulated-limits.ts';
import { MINUTE } from './time.ts';
import {
  countWindow,
  fellShortAlike,
  heldExplains,
  quotaLeft,
  racingRemaining,
  showsEdges,
  sinceEdge,
} from './window-count.ts';

const KINDS: Readonly<Record<string, SimulatedLimit>> = {
  'a fixed window': fixedWindow,
  'a window aligned to the clock': alignedWindow,
  'a sliding log': slidingLog,
  'a token bucket': tokenBucket,
  'a token bucket whose Reset is the next token': tokenBucketByNextToken,
};
const PLANS = [60, 300, 1000];
/** A full minute, so that bursts begin at a known place in an aligned window. */
const EPOCH = 29_500_000 * MINUTE;

const admittedOf = (readings: readonly RateReading[]) => readings.filter(({ status }) => status === 200);

/** Any plan and any way to send: up to fifty at once, answers after 2 to 250 ms, in any order. */
const anyBurst = fc.record({
  perMinute: fc.constantFrom(...PLANS),
  burst: fc.record({
    startsAt: fc.integer({ min: EPOCH, max: EPOCH + 30_000 }),
    inFlight: fc.integer({ min: 1, max: 50 }),
    latencies: fc.array(fc.tuple(fc.integer({ min: 1, max: 125 }), fc.integer({ min: 1, max: 125 })), {
      minLength: 1,
      maxLength: 60,
    }),
    pause: fc.integer({ min: 0, max: 20 }),
    clockAhead: fc.integer({ min: -300_000, max: 300_000 }),
    most: fc.constant(4000),
  }),
});
/** The burst is over before the minute is, as one that the harness sends: it starts none that will not be. */
const isShort = (readings: readonly RateReading[], { startsAt }: Burst) =>
  readings.every(({ receivedAt }) => receivedAt < startsAt + 25_000);

const NUM_RUNS = 25;
/** The first counterexample, minimal, is the failure's message. */
function always<T>(t: Test, arbitrary: fc.Arbitrary<T>, property: (value: T) => void): void {
  t.doesNotThrow(() => fc.assert(fc.property(arbitrary, property), { numRuns: NUM_RUNS }));
}

/** Headers of a limit of `actual` that claims to be one of `claimed`. */
const claiming =
  (claimed: number, actual: number): Shown =>
  (said) => ({ ...said, remaining: Math.max(0, Math.min(claimed - 1, said.remaining - (actual - claimed))) });

t.test('a sliding counter admits the plan’s number from rest, and never more', (t) => {
  always(t, fc.tuple(anyBurst, fc.nat(20)), ([{ perMinute, burst }, earlier]) => {
    const limit = slidingCounter(perMinute);
    // Requests in the minute before: a part of them still counts.
    for (let index = 0; index < earlier; index += 1) limit(EPOCH - 1000 * (earlier - index));
    const readings = burstInto(limit, perMinute, burst);
    fc.pre(isShort(readings, burst));
    const { kind } = countWindow(admittedOf(readings), perMinute).verdict;
    if (earlier === 0) equal(kind, 'exact');
    else notEqual(kind, 'more');
  });
  t.end();
});

t.test('a burst that takes longer than a minute finds a sliding log emptier than it left it', (t) => {
  // Forty of a second and a half, and then sixty quick ones.
  const latencies = Array.from({ length: 100 }, (_, index) => {
    const half = index < 40 ? 750 : 50;
    return [half, half] as const;
  });
  const burst = { startsAt: EPOCH, inFlight: 1, latencies, pause: 0, most: 200 };
  const readings = admittedOf(burstInto(slidingLog(60), 60, burst));
  equal(readings.length > 60, true, 'the first ones had left the minute');
  equal(countWindow(readings, 60).verdict.kind, 'exact');
  t.end();
});

for (const [name, kind] of [
  ...Object.entries(KINDS),
  ['a bucket by the second', tokenBucketBySecond] as const,
]) {
  t.test(`${name} of exactly the plan's number is exact`, (t) => {
    always(t, anyBurst, ({ perMinute, burst }) => {
      const readings = burstInto(kind(perMinute), perMinute, burst);
      fc.pre(isShort(readings, burst));
      deepEqual(countWindow(admittedOf(readings), perMinute).verdict, { kind: 'exact' });
    });
    t.end();
  });

  t.test(`${name} of exactly the plan's number is exact where the headers describe the day`, (t) => {
    always(t, anyBurst, ({ perMinute, burst }) => {
      const readings = burstInto(kind(perMinute), perMinute, burst);
      fc.pre(isShort(readings, burst));
      const ofDay = admittedOf(readings).map((of, index) => ({
        ...of,
        limit: 10_000,
        remaining: 9_999 - index,
        reset: EPOCH + 86_400_000,
      }));
      deepEqual(countWindow(ofDay, perMinute).verdict, { kind: 'exact' });
    });
    t.end();
  });

  // What a bucket may be given in a second is more than ten.
  if (kind === tokenBucketBySecond) continue;
  t.test(`${name} that admits ten more is found`, (t) => {
    always(t, anyBurst, ({ perMinute, burst }) => {
      const readings = burstInto(kind(perMinute + 10), perMinute, burst, claiming(perMinute, perMinute + 10));
      fc.pre(isShort(readings, burst));
      equal(countWindow(admittedOf(readings), perMinute).verdict.kind, 'more');
    });
    t.end();
  });
}

/** Windows that give nothing back in a short burst. */
const WINDOWS = Object.entries(KINDS).filter(([name]) => !name.includes('bucket'));

for (const [name, kind] of WINDOWS) {
  t.test(`${name} of one less is fewer`, (t) => {
    always(t, anyBurst, ({ perMinute, burst }) => {
      const readings = burstInto(kind(perMinute - 1), perMinute, burst);
      fc.pre(isShort(readings, burst));
      const { verdict } = countWindow(admittedOf(readings), perMinute);
      deepEqual(verdict, { kind: 'fewer', before: 1, between: 0 });
    });
    t.end();
  });

  t.test(`${name} of one less whose headers claim the whole is fewer, and nobody else is to blame`, (t) => {
    always(t, anyBurst, ({ perMinute, burst }) => {
      const readings = burstInto(kind(perMinute - 1), perMinute, burst, (said) => ({
        ...said,
        remaining: said.remaining + 1,
      }));
      fc.pre(isShort(readings, burst));
      deepEqual(countWindow(admittedOf(readings), perMinute).verdict, {
        kind: 'fewer',
        before: 0,
        between: 0,
      });
    });
    t.end();
  });

  t.test(`${name} that somebody else spent before: fewer, and how many`, (t) => {
    always(t, fc.tuple(anyBurst, fc.integer({ min: 1, max: 59 })), ([{ perMinute, burst }, others]) => {
      const limit = kind(perMinute);
      for (let index = 0; index < others; index += 1) limit(burst.startsAt);
      const readings = burstInto(limit, perMinute, burst);
      fc.pre(isShort(readings, burst));
      deepEqual(countWindow(admittedOf(readings), perMinute).verdict, {
        kind: 'fewer',
        before: others,
        between: 0,
      });
    });
    t.end();
  });

  t.test(`${name} that somebody else spends meanwhile: fewer, and how many`, (t) => {
    always(t, fc.tuple(anyBurst, fc.integer({ min: 2, max: 40 })), ([{ perMinute, burst }, every]) => {
      let others = 0;
      // Not the last requests: of what is spent after our last answer no answer tells.
      const neighbour = (arrival: number) => {
        const now = arrival > 0 && arrival % every === 0 && arrival < perMinute / 3;
        if (now) others += 1;
        return now;
      };
      const readings = burstInto(kind(perMinute), perMinute, { ...burst, neighbour });
      fc.pre(isShort(readings, burst) && others > 0);
      deepEqual(countWindow(admittedOf(readings), perMinute).verdict, {
        kind: 'fewer',
        before: 0,
        between: others,
      });
    });
    t.end();
  });
}

for (const [name, kind] of Object.entries(KINDS)) {
  t.test(`${name} is never more than its number because of somebody else`, (t) => {
    const anyNeighbour = fc.tuple(anyBurst, fc.integer({ min: 0, max: 70 }), fc.integer({ min: 1, max: 20 }));
    always(t, anyNeighbour, ([{ perMinute, burst }, before, every]) => {
      const limit = kind(perMinute);
      for (let index = 0; index < before; index += 1) limit(burst.startsAt);
      const readings = burstInto(limit, perMinute, {
        ...burst,
        neighbour: (arrival) => arrival % every === every - 1,
      });
      fc.pre(isShort(readings, burst));
      notEqual(countWindow(admittedOf(readings), perMinute).verdict.kind, 'more');
    });
    t.end();
  });

  t.test(`${name} with requests of ours before the burst is exact`, (t) => {
    const anyPrior = fc.tuple(
      anyBurst,
      fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 40 }),
    );
    always(t, anyPrior, ([{ perMinute, burst }, ago]) => {
      const limit = kind(perMinute);
      const prior = [...ago]
        .sort((a, b) => b - a)
        .flatMap((before) =>
          burstInto(limit, perMinute, {
            ...burst,
            startsAt: burst.startsAt - before,
            latencies: [[0, 0]],
            most: 1,
          }),
        );
      const readings = burstInto(limit, perMinute, burst);
      fc.pre(isShort(readings, burst));
      deepEqual(countWindow(admittedOf([...prior, ...readings]), perMinute).verdict, { kind: 'exact' });
    });
    t.end();
  });
}

t.test(
  'the next token of a bucket is no end of a window, though its Reset stands still for a second',
  (t) => {
    const burst: Burst = { startsAt: EPOCH, inFlight: 1, latencies: [[1, 1]], pause: 0, most: 4000 };
    const readings = admittedOf(burstInto(tokenBucketByNextToken(300), 300, burst));
    t.ok(readings.length > 300 && new Set(readings.map(({ reset }) => reset)).size === 1);
    t.same(countWindow(readings, 300).verdict, { kind: 'exact' });
    t.end();
  },
);

t.test('what a bucket gives back is not hidden by somebody else who takes as much', (t) => {
  const limit = tokenBucket(300);
  for (let index = 0; index < 5; index += 1) limit(EPOCH);
  const neighbour = (arrival: number) => arrival % 16 === 15;
  const burst: Burst = {
    startsAt: EPOCH,
    inFlight: 5,
    latencies: [[40, 40]],
    pause: 0,
    most: 4000,
    neighbour,
  };
  const readings = admittedOf(burstInto(limit, 300, burst));
  t.ok(readings.length > 300);
  t.same(countWindow(readings, 300).verdict, { kind: 'exact' });
  t.end();
});

t.test('requests before the edge of an aligned window belong to another one', (t) => {
  const burst: Burst = { startsAt: EPOCH - 300, inFlight: 10, latencies: [[20, 20]], pause: 0, most: 200 };
  const readings = admittedOf(burstInto(alignedWindow(60), 60, burst));
  t.ok(readings.length === 60, 'the first minute ends before it is used up, or not at all');
  const slow = admittedOf(burstInto(alignedWindow(60), 60, { ...burst, inFlight: 1, pause: 20 }));
  const { verdict, admitted, all } = countWindow(slow, 60);
  t.ok(all.length > 60, 'both windows together hold more than one may');
  t.equal(admitted.length, 60);
  t.same(verdict, { kind: 'exact' });
  t.end();
});

t.test('ten more after an edge are found', (t) => {
  const burst: Burst = { startsAt: EPOCH - 300, inFlight: 1, latencies: [[20, 20]], pause: 20, most: 200 };
  const { verdict } = countWindow(admittedOf(burstInto(alignedWindow(70), 60, burst, claiming(60, 70))), 60);
  t.same(verdict, { kind: 'more', allowed: 60 });
  t.end();
});

t.test('an edge is where resets lie a minute apart, less what rounding takes of two of them', (t) => {
  const kept = (...resets: readonly number[]) =>
    sinceEdge(
      resets.map((reset, index) => {
        const sentAt = (index * MINUTE) / 2;
        return reading({ sentAt, receivedAt: sentAt + 1, reset: EPOCH + reset });
      }),
    ).map(({ sentAt }) => sentAt / (MINUTE / 2));
  t.strictSame(kept(0, 0, MINUTE), [2]);
  t.strictSame(kept(0, 58_000), [1]);
  t.strictSame(kept(0, 57_000), [0, 1]);
  t.strictSame(kept(0, MINUTE, 2 * MINUTE, 2 * MINUTE), [2, 3], 'after the last of several');
  t.strictSame(kept(MINUTE, 0, MINUTE), [0, 2], 'answers that overtook each other');
  t.strictSame(kept(0, MINUTE, 5 * MINUTE), [0, 1, 2], 'no minute and a half has three windows');
  t.end();
});

t.test('a reset that is missing once leaves everything in one window', (t) => {
  const readings = [
    reading({}),
    reading({ sentAt: 1, reset: EPOCH }),
    reading({ sentAt: 2, reset: EPOCH + MINUTE }),
  ];
  t.equal(sinceEdge(readings), readings);
  t.equal(sinceEdge([]).length, 0);
  t.end();
});

t.test('nothing admitted is fewer, with nobody to blame', (t) => {
  t.same(countWindow([], 60).verdict, { kind: 'fewer', before: 0, between: 0 });
  t.end();
});

/** A plan of six: a bucket of it gives back one in ten seconds. */
const SIX = 6;
/** Admitted requests of that plan so many milliseconds after noon; Remaining and Reset as told, the Date is right. */
const admittedAt = (
  times: readonly number[],
  remaining: readonly (number | undefined)[],
  given: (index: number) => Partial<RateReading> = () => ({}),
): RateReading[] =>
  times.map((time, index) =>
    reading({
      sentAt: EPOCH + time,
      limit: SIX,
      remaining: remaining[index],
      reset: EPOCH + MINUTE,
      date: EPOCH,
      ...given(index),
    }),
  );
const verdictOf = (...admitted: Parameters<typeof admittedAt>) =>
  countWindow(admittedAt(...admitted), SIX).verdict;

t.test('one more in a burst is one too many only where the window certainly gives nothing back', (t) => {
  const burst = [0, 20, 40, 60, 80, 100, 120];
  const seven = (given?: (index: number) => Partial<RateReading>) =>
    verdictOf(burst, [5, 4, 3, 2, 1, 0, 0], given).kind;
  t.equal(seven(), 'more', 'its Reset stands still');
  t.equal(
    seven(() => ({ reset: undefined })),
    'exact',
    'no Reset is told',
  );
  t.equal(
    seven(() => ({ date: undefined })),
    'exact',
    'how far ahead it lies is not known',
  );
  t.equal(
    seven((index) => (index < 6 ? {} : { reset: EPOCH + MINUTE + 1000 })),
    'exact',
    'it moves on',
  );
  t.equal(
    seven(() => ({ reset: EPOCH + 14_000 })),
    'exact',
    'it may be a bucket’s next token',
  );
  t.equal(
    seven(() => ({ reset: EPOCH + 14_001 })),
    'more',
  );
  t.equal(
    seven(() => ({ limit: 1000 })),
    'exact',
    'the headers are about the day',
  );
  t.equal(
    seven((index) => (index === 3 ? { limit: 1000 } : {})),
    'exact',
    'be it once',
  );
  t.same(
    verdictOf([...burst, 140], [5, 4, 3, 2, 1, 0, 0, 0], () => ({ date: undefined })),
    { kind: 'more', allowed: 7 },
    'two more no bucket gives back so soon',
  );
  t.end();
});

t.test(
  'over more than a minute, what a window that looks back has let go is free again, and no more',
  (t) => {
    const moving = (index: number) => ({ reset: EPOCH + MINUTE + index * 1000 });
    const values = [5, 4, 3, 2, 1, 0, 0, 0, 0];
    t.same(verdictOf([0, 10_000, 20_000, 30_000, 40_000, 50_000, 61_000, 71_000], values, moving), {
      kind: 'exact',
    });
    t.same(verdictOf([0, 10_000, 20_000, 30_000, 40_000, 50_000, 51_000, 61_000, 71_000], values, moving), {
      kind: 'more',
      allowed: 8,
    });
    const lastAt = (sentAt: number) =>
      verdictOf([0, 10_000, 20_000, 29_990, 30_000, 50_000, sentAt], values, moving).kind;
    t.equal(lastAt(59_990), 'exact', 'answered when the first one’s minute is over');
    t.equal(lastAt(59_989), 'more');
    t.end();
  },
);

t.test('a bucket shows what it gives back: more answers leave something than a window has places', (t) => {
  const moving = (index: number) => ({ reset: EPOCH + MINUTE + index * 1000 });
  const eightApart = Array.from({ length: 9 }, (_, index) => index * 8000);
  const nine = (...values: readonly number[]) => verdictOf(eightApart, values, moving).kind;
  t.equal(
    nine(5, 4, 3, 2, 1, 0, 0, 0, 0),
    'more',
    'nothing came back in a time in which a bucket gives four',
  );
  t.equal(nine(5, 4, 3, 2, 1, 1, 0, 0, 0), 'exact');
  t.equal(nine(5, 4, 2, 1, 1, 0, 0, 0, 0), 'exact', 'somebody else took one of them meanwhile');
  t.equal(nine(3, 2, 2, 1, 0, 0, 0, 0, 0), 'exact', 'or two before');
  // A bucket’s four tokens, less the fraction, take half a minute.
  const leavingSomeUntil = (sentAt: number) =>
    verdictOf([0, 100, 200, 300, sentAt, 31_000, 32_000], [5, 4, 3, 2, 1, 0, 0], moving).kind;
  t.equal(leavingSomeUntil(29_990), 'more');
  t.equal(leavingSomeUntil(29_989), 'exact', 'too soon to tell');
  t.end();
});

t.test('what is missing was spent before, or between, as far as Remaining of the minute tells', (t) => {
  const four = [0, 20, 40, 60];
  const nobody = { kind: 'fewer', before: 0, between: 0 };
  t.same(verdictOf(four, [3, 2, 1, 0]), { kind: 'fewer', before: 2, between: 0 });
  t.same(verdictOf(four, [4, 5, 3, 2]), nobody, 'of two in flight the later one was counted first');
  t.same(verdictOf(four, [5, 3, 2, 0]), { kind: 'fewer', before: 0, between: 2 });
  t.same(verdictOf(four, [5, undefined, 3, 2]), { kind: 'fewer', before: 0, between: 1 });
  t.same(verdictOf(four, []), nobody, 'no Remaining is told');
  t.same(verdictOf(four, [undefined, 2, 1, 0]), nobody);
  const once = (index: number) => (index === 2 ? { limit: 1000 } : {});
  t.same(verdictOf(four, [3, 2, 1, 0], once), nobody, 'the day’s headers in between');
  t.end();
});

t.test('racing: the same value of Remaining more than once, beyond a twentieth of the answers', (t) => {
  const races = (
    values: readonly (number | undefined)[],
    given: (index: number) => Partial<RateReading> = () => ({}),
  ) =>
    racingRemaining(
      countWindow(
        admittedAt(
          values.map((_, index) => index * 20),
          values,
          given,
        ),
        SIX,
      ),
    );
  t.equal(races([5, 5, 3, 3, 1, 0]), true);
  t.equal(races([5, 5, 3, 2, 1, 0]), false, 'once is an accident');
  t.equal(
    races([5, 5, 3, 3, 1, 0], (index) => ({ operation: index % 2 === 0 ? 'listPets' : 'getPet' })),
    false,
    'each operation counts on its own',
  );
  t.equal(
    races([5, 5, 3, 3, 1, 0], (index) => ({ reset: EPOCH + MINUTE + index })),
    false,
    'what is given back',
  );
  t.equal(races([5, 4, 3, 2, 1, 0, 0, 0]), false, 'nothing is left: that stays so');
  t.equal(races([undefined, undefined, undefined]), false);
  t.equal(races([]), false);
  const from = (count: number) => Array.from({ length: count }, (_, index) => 60 - index);
  t.equal(races([...from(57), 60, 59, 58]), false, 'three of sixty');
  t.equal(races([...from(56), 60, 59, 58, 57]), true, 'four of sixty');
  t.end();
});

t.test(
  'a limiter that answers several requests with one value is racing; a bucket that gives back is not',
  (t) => {
    const burst: Burst = { startsAt: EPOCH, inFlight: 50, latencies: [[40, 40]], pause: 0, most: 500 };
    const racing = admittedOf(
      burstInto(fixedWindow(300), 300, burst, (said) => ({
        ...said,
        remaining: said.remaining - (said.remaining % 2),
      })),
    );
    t.ok(racingRemaining(countWindow(racing, 300)));
    for (const [name, kind] of Object.entries(KINDS)) {
      t.notOk(racingRemaining(countWindow(admittedOf(burstInto(kind(300), 300, burst)), 300)), name);
    }
    t.end();
  },
);

t.test('answers of which one describes the day may hide an edge', async (t) => {
  t.equal(showsEdges(countWindow(admittedAt([0, 20], [5, 4]), SIX)), true);
  const once = admittedAt([0, 20], [5, 4], (index) => (index === 1 ? { limit: 1000 } : {}));
  t.equal(showsEdges(countWindow(once, SIX)), false);
  t.equal(showsEdges(countWindow([], SIX)), true);
});

t.test('what a window still admits: the lowest that the last answers told, or our own count', async (t) => {
  const left = (remaining: readonly (number | undefined)[], inFlight = 50, ...given: readonly number[]) =>
    quotaLeft(
      admittedAt(
        remaining.map((_, index) => index),
        remaining,
        (index) => (given.includes(index) ? { limit: 1000 } : {}),
      ),
      SIX,
      inFlight,
    );
  t.equal(left([]), 6);
  t.equal(left([5]), 5);
  t.equal(left([2]), 2, 'somebody else has spent the rest');
  t.equal(left([4, 1, 3, 2]), 1, 'answers that overtook each other');
  t.equal(left([0, 5, 5], 2), 3, 'of long ago');
  t.equal(left([undefined, undefined]), 4, 'nothing is told');
  t.equal(left([3, 1], 50, 0, 1), 4, 'the day’s figures');
  const edge = admittedAt([0, 1], [0, 5], (index) => ({ reset: EPOCH + (index + 1) * MINUTE }));
  t.equal(quotaLeft(edge, SIX, 50), 5, 'after an edge, what was told since');
});

t.test('two windows fall short alike where nobody else could have done it twice', async (t) => {
  const four = (...remaining: readonly number[]) => countWindow(admittedAt([0, 20, 40, 60], remaining), SIX);
  t.equal(fellShortAlike(four(5, 4, 3, 2), four(5, 4, 3, 2)), true);
  t.equal(fellShortAlike(four(3, 2, 1, 0), four(3, 2, 1, 0)), true, 'as much was gone before');
  t.equal(fellShortAlike(four(3, 2, 1, 0), four(5, 4, 3, 2)), false);
  t.equal(fellShortAlike(four(5, 3, 2, 1), four(5, 3, 2, 1)), false, 'somebody took one in between');
  t.equal(fellShortAlike(four(5, 4, 3, 2), four(5, 3, 2, 1)), false);
  const three = countWindow(admittedAt([0, 20, 40], [5, 4, 3]), SIX);
  t.equal(fellShortAlike(four(5, 4, 3, 2), three), false);
  const six = countWindow(admittedAt([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]), SIX);
  t.equal(fellShortAlike(six, six), false, 'neither fell short');
  const bucket = (...remaining: readonly number[]) =>
    countWindow(
      remaining.map((left, index) =>
        reading({
          sentAt: EPOCH,
          receivedAt: EPOCH,
          limit: SIX,
          remaining: left,
          reset: EPOCH + index * 10_000,
        }),
      ),
      SIX,
    );
  t.equal(fellShortAlike(bucket(3, 2, 1, 0), bucket(2, 1, 0)), true, 'a bucket hides fractions');
  t.equal(fellShortAlike(bucket(3, 2, 1, 0), bucket(0)), false);
  const slow = (...remaining: readonly number[]) =>
    countWindow(
      remaining.map((left, index) => {
        const sentAt = EPOCH + index * 5_000;
        return reading({
          sentAt,
          receivedAt: sentAt,
          limit: SIX,
          remaining: left,
          reset: EPOCH + index * 15_000,
        });
      }),
      SIX,
    );
  t.equal(fellShortAlike(slow(2, 1, 1, 0, 0), bucket(2, 1)), true, 'one gave back more while it was emptied');
  t.equal(fellShortAlike(slow(5, 4, 4, 3, 3), bucket(2, 1)), false, 'not as much was gone before');
});

t.test('a minute that looks back may still hold what is missing', async (t) => {
  const window = (...remaining: readonly number[]) =>
    countWindow(
      admittedAt(
        remaining.map((_, index) => 30_000 + index),
        remaining,
      ),
      SIX,
    );
  const held = (...sent: readonly number[]) => sent.map((at) => reading({ sentAt: EPOCH + at }));
  t.equal(heldExplains(window(3, 2, 1, 0), held(0, 1)), true);
  t.equal(heldExplains(window(3, 2, 1, 0), held(0, 1, 2)), true);
  t.equal(heldExplains(window(3, 2, 1, 0), held(0)), false, 'it held less than that');
  t.equal(heldExplains(window(3, 2, 1, 0), held(0, -30_001)), false, 'more than a minute ago');
  t.equal(heldExplains(window(3, 2, 1, 0), held(0, -30_000)), true);
  t.equal(heldExplains(window(3, 2, 1, 0), held(0, 30_001)), false, 'of the window itself');
  t.equal(heldExplains(window(3, 2, 1), held(0, 1)), false, 'more is missing than its headers told');
  t.equal(heldExplains(window(3, 2, 0), held(0, 1)), false, 'somebody else spent a part of it meanwhile');
  t.equal(heldExplains(window(5, 4, 3, 2, 1, 0), held(0, 1)), false, 'nothing is missing');
});
