import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { RateReading } from '../wire/rate-headers.ts';
import { judgeRemaining, type RemainingVerdict } from './remaining-arithmetic.ts';
import {
  alignedWindow,
  fixedWindow,
  reading,
  type SimulatedLimit,
  slidingCounter,
  slidingLog,
  tokenBucket,
  tokenBucketByNextToken,
  tokenBucketBySecond,
} from './testing/simulated-limits.ts';
import { DAY, MINUTE } from './time.ts';

const PER_DAY = 1000;
const judge = (readings: readonly RateReading[], perMinute = 60): RemainingVerdict =>
  judgeRemaining(readings, perMinute, PER_DAY);

/** One answer after another, a second apart, in a window whose Reset stands still. */
const RESET = MINUTE;
function answers(...values: readonly (number | Partial<RateReading>)[]): RateReading[] {
  return values.map((value, index) =>
    reading({
      sentAt: index * 1000,
      reset: RESET,
      ...(typeof value === 'number' ? { remaining: value } : value),
    }),
  );
}

/** The same with so many milliseconds from one request to the next, each answered in ten. */
const paced = (pace: number, ...values: readonly (number | Partial<RateReading>)[]): RateReading[] =>
  answers(...values).map((one, index) => ({ ...one, sentAt: index * pace, receivedAt: index * pace + 10 }));

/** The same too quick for anything to be given back in between. */
const quick = (...values: readonly (number | Partial<RateReading>)[]): RateReading[] => paced(20, ...values);

/** A Reset that moves on from answer to answer, as a bucket's does. */
const moving = (readings: readonly RateReading[]): RateReading[] =>
  readings.map((one, index) => ({ ...one, reset: RESET + index * 1000 }));

const FALLS = 'X-RateLimit-Remaining one lower after every request';
const OPERATIONS = ['listPets', 'getPet', 'createPet'];

t.test('one lower after every request', async (t) => {
  t.strictSame(judge(answers(59, 58, 57)), { kind: 'falls', steps: 2 });
  t.strictSame(judge(answers(...Array.from({ length: 60 }, (_, sent) => 59 - sent)).slice(0, 50)), {
    kind: 'falls',
    steps: 49,
  });
});

t.test('headers that describe the day are judged by the day', async (t) => {
  const day = (remaining: number, more: Partial<RateReading> = {}) => ({
    remaining,
    limit: PER_DAY,
    reset: DAY,
    ...more,
  });
  t.strictSame(judge(answers(day(999), day(998))), { kind: 'falls', steps: 1 });
  t.strictSame(
    judge(answers(day(999), day(998, { sentAt: DAY / 4 - 20 }))),
    { kind: 'falls', steps: 1 },
    'hours apart',
  );
});

t.test('what cannot be compared is not', async (t) => {
  const unseen = { kind: 'unseen' };
  t.strictSame(judge([]), unseen);
  t.strictSame(judge(answers(59)), unseen);
  t.strictSame(judge([reading({ sentAt: 0 }), reading({ sentAt: 1000, remaining: 58 })]), unseen);
  t.strictSame(judge([reading({ sentAt: 0, remaining: 59 }), reading({ sentAt: 1000 })]), unseen);
  const limits = (a: number | undefined, b: number | undefined) =>
    judge(answers({ remaining: 59, limit: a }, { remaining: 59, limit: b }));
  t.strictSame(limits(undefined, undefined), unseen, 'no Limit');
  t.strictSame(limits(60, PER_DAY), unseen, 'the minute, then the day');
  t.strictSame(limits(300, 300), unseen, 'the limit of another plan');
  t.match(limits(60, 60), { kind: 'falls' });
});

t.test('a refusal spends nothing that can be counted on', async (t) => {
  for (const status of [401, 403, 429, 500, 503]) {
    t.match(judge(answers({ remaining: 59, status }, 59)), { kind: 'unseen' }, `from ${status}`);
    t.match(judge(answers(59, { remaining: 59, status })), { kind: 'unseen' }, `to ${status}`);
  }
  for (const status of [200, 201, 400, 404, 499])
    t.match(judge(answers({ remaining: 59, status }, 58)), { kind: 'falls' }, `${status}`);
});

t.test('a ban of whatever status finds nothing left, and takes nothing', async (t) => {
  const banned = Array.from({ length: 20 }, () => ({ remaining: 0, status: 423 }));
  t.match(judge(quick(3, 2, 1, 0, ...banned)), { kind: 'falls' });
});

t.test('answers that were under way at the same time are not put in order', async (t) => {
  const pair = (from: Partial<RateReading>, to: Partial<RateReading>) =>
    judge([
      reading({ remaining: 59, reset: RESET, ...from }),
      reading({ remaining: 57, reset: RESET, ...to }),
    ]);
  const unseen = { kind: 'unseen' };
  t.match(pair({ sentAt: 0, receivedAt: 50 }, { sentAt: 49, receivedAt: 60 }), unseen);
  t.match(pair({ sentAt: 0, receivedAt: 50 }, { sentAt: 50, receivedAt: 60 }), { kind: 'disturbed' });
  const before = reading({ sentAt: 0, receivedAt: 2000, remaining: 59, reset: RESET });
  t.match(
    judge([before, ...answers({ remaining: 58, sentAt: 1999 }, { remaining: 56, sentAt: 2100 })]),
    unseen,
    'one that was sent before is still under way',
  );
  t.match(
    judge([before, ...answers({ remaining: 58, sentAt: 2000 }, { remaining: 57, sentAt: 2100 })]),
    { kind: 'falls', steps: 2 },
    'it was answered just in time',
  );
  t.match(
    judge([
      reading({ sentAt: 0, receivedAt: 2000, remaining: 57, reset: RESET }),
      ...answers(
        { remaining: 58, sentAt: 10 },
        { remaining: 56, sentAt: 100 },
        { remaining: 55, sentAt: 200 },
      ),
    ]),
    unseen,
    'also where several have come since',
  );
  const next = (sentAt: number) =>
    judge([...answers(59, 57), reading({ sentAt, remaining: 56, reset: RESET })]);
  t.match(next(1009), unseen, 'the next one was sent before the answer');
  t.match(next(1010), { kind: 'disturbed' });
});

t.test('requests that were under way together count between the two beside them', async (t) => {
  /** One alone, five together, and one alone that leaves so many. */
  const around = (left: number, five: Partial<RateReading> = {}) =>
    judge([
      ...answers(59),
      ...[54, 57, 55, 58, 56].map((remaining, index) =>
        reading({ sentAt: 100 + index, receivedAt: 200 - index, remaining, reset: RESET, ...five }),
      ),
      reading({ sentAt: 300, remaining: left, reset: RESET }),
    ]);
  t.match(around(53), { kind: 'falls', steps: 1 });
  t.match(around(52), { kind: 'disturbed' }, 'somebody else sent one');
  t.match(around(54), { kind: 'falls' }, 'one may hide in a fraction');
  t.match(around(58), { kind: 'broken', actual: /^from 59 it came to 58, 5 more than/ });
  t.match(around(58, { remaining: undefined }), { kind: 'unseen' }, 'what shows none may not count');
  t.match(
    judge([
      ...quick(59),
      ...[58, 57].map((remaining) => reading({ sentAt: 100, remaining, reset: RESET })),
      ...[59, 59].map((remaining, index) => reading({ sentAt: 200 + index * 20, remaining, reset: RESET })),
    ]),
    { kind: 'broken', actual: 'it came from 59 to 59 over 3 requests, 2 times of 2' },
  );
  t.match(around(58, { status: 429 }), { kind: 'unseen' });
  t.match(around(58, { afterLost: true }), { kind: 'unseen' });
  t.match(
    judge([
      reading({ sentAt: 0, remaining: 1, reset: RESET }),
      ...[0, 0].map((remaining) => reading({ sentAt: 100, remaining, reset: RESET })),
      reading({ sentAt: 300, remaining: 0, reset: RESET }),
    ]),
    { kind: 'unseen' },
    'below 0 nothing falls',
  );
});

t.test('where answers were lost, requests may have been counted', async (t) => {
  t.match(judge(answers(59, 58, { remaining: 55, afterLost: true }, 54)), { kind: 'falls', steps: 2 });
  t.match(judge(answers(59, 58, { remaining: 56, afterLost: true }, 55)), { kind: 'falls', steps: 2 });
  t.match(judge(answers(59, 58, 55, 54)), { kind: 'disturbed' });
});

t.test('a clock that was set back goes on in another window', async (t) => {
  const setBack = (reset: number) =>
    judge(quick(3, 2, 1, { remaining: 59, reset }, { remaining: 58, reset }));
  t.match(setBack(RESET - 5 * MINUTE), { kind: 'falls', steps: 3 });
  t.match(setBack(RESET - 20_000), { kind: 'broken' });
});

t.test('a reset that was passed gives everything back', async (t) => {
  const passed = (reset: number) => judge(answers(3, { remaining: 59, reset }));
  t.match(passed(RESET + MINUTE), { kind: 'unseen' });
  t.match(passed(RESET + MINUTE / 2 + 1), { kind: 'unseen' });
  t.match(passed(RESET + MINUTE / 2), { kind: 'broken' });
  t.match(passed(RESET), { kind: 'broken' });
});

t.test('a quarter of the window apart is too far to tell', async (t) => {
  t.match(judge(answers(59, { remaining: 59, sentAt: MINUTE / 4 - 10 })), { kind: 'unseen' });
  t.match(
    judge(answers(59, { remaining: 59, sentAt: MINUTE / 4 - 11 })),
    { kind: 'falls' },
    'one step alone',
  );
});

t.test('one that never falls', async (t) => {
  const never = (count: number) => judge(answers(...Array.from({ length: count }, () => 59)));
  t.match(never(13), {
    kind: 'broken',
    expected: FALLS,
    actual: 'it did not fall (59 to 59) with listPets answered 200, 12 times of 12',
    readings: [{ sentAt: 1000 }, { sentAt: 0 }],
  });
});

t.test(
  'one that never falls, told after twelve times: before that it may be the neighbour’s luck',
  async (t) => {
    const never = (count: number) => answers(...Array.from({ length: count }, () => 59));
    t.match(judge(never(5)), { kind: 'falls' });
    t.match(judge(never(12)), { kind: 'falls' });
    const byTurns = never(13).map((one, index) => ({
      ...one,
      operation: OPERATIONS[index % 3] ?? 'listPets',
      status: index % 2 === 0 ? 200 : 404,
    }));
    t.match(judge(byTurns), {
      kind: 'broken',
      actual: 'it did not fall (59 to 59) with every request, 12 times of 12',
    });
  },
);

t.test('an operation that does not count, told by those that do', async (t) => {
  const get = (remaining: number, status = 200) => ({ remaining, status, operation: 'getPet' });
  const four = [59, get(59), 58, get(58), 57, get(57), 56, get(56), 55] as const;
  t.match(judge(answers(...four)), {
    kind: 'broken',
    actual: 'it did not fall (59 to 59) with getPet answered 200, 4 times of 4',
  });
  const mixed = [59, get(59), 58, get(58), 57, get(57, 404), 56, get(56, 404), 55] as const;
  t.match(judge(answers(...mixed)), { actual: 'it did not fall (59 to 59) with getPet, 4 times of 4' });
});

t.test('a status that does not count, whatever the operation', async (t) => {
  const missing = (remaining: number, operation: string) => ({ remaining, status: 404, operation });
  t.match(
    judge(
      answers(
        59,
        missing(59, 'getPet'),
        58,
        missing(58, 'other'),
        57,
        missing(57, 'getPet'),
        56,
        missing(56, 'other'),
        55,
      ),
    ),
    { actual: 'it did not fall (59 to 59) with status 404, 4 times of 4' },
  );
});

t.test('an operation that costs two, and one that gives back', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' });
  t.match(judge(answers(59, add(57), 56, add(54), 53, add(51), 50, add(48), 47)), {
    kind: 'broken',
    actual: 'it fell by 2 (59 to 57) with createPet answered 201, 4 times of 4',
  });
  t.match(judge(answers(50, add(51), 50, add(51), 50, add(51), 50, add(51), 50)), {
    kind: 'broken',
    actual: 'it rose by 1 (50 to 51) with createPet answered 201, 4 times of 4',
  });
});

t.test('what costs two leaves nothing where one is left', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 400, operation: 'createPet' });
  t.match(judge(answers(14, 13, 12, 11, add(9), add(7), add(5), add(3), add(1), add(0))), {
    kind: 'broken',
    actual: 'it fell by 2 (11 to 9) with createPet answered 400, 5 times of 5',
  });
});

t.test('a list by status that costs two', async (t) => {
  const by = (status: string, remaining: number) => ({ remaining, path: `/pets?limit=3&status=${status}` });
  const lists = [by('sold', 55), by('pending', 53), by('sold', 51), 50, by('available', 48)];
  t.match(judge(answers(59, 58, 57, ...lists, 47, 46, 45)), {
    kind: 'broken',
    actual: 'it fell by 2 (57 to 55) with a list by status, 4 times of 4',
  });
  t.match(judge(answers(59, 58, 57, ...lists, by('sold', 47), 46)), { kind: 'disturbed' }, 'not each');
});

t.test('an operation that costs two costs two in a bucket as well', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' });
  t.match(judge(moving(quick(59, add(57), 56, add(54), 53, add(51), 50, add(48), 47))), {
    kind: 'broken',
    actual: 'it fell by 2 (59 to 57) with createPet answered 201, 4 times of 4',
  });
});

t.test('an operation that does not count, unless a bucket had the time to give it back', async (t) => {
  const get = (remaining: number) => ({ remaining, operation: 'getPet' });
  const four = [59, get(59), 58, get(58), 57, get(57), 56, get(56), 55] as const;
  // A token a second: four that are back need three and a fraction that a whole number hides.
  t.match(judge(moving(paced(730, ...four))), { kind: 'broken', actual: /getPet/ });
  t.not(judge(moving(paced(740, ...four))).kind, 'broken');
  const rising = [59, get(60), 59, get(60), 59, get(60), 59, get(60), 59] as const;
  t.match(judge(moving(paced(740, ...rising))), { kind: 'broken', actual: /rose by 1 .* with getPet/ });
});

t.test('of ten other requests nine that fall by one are enough to tell', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' });
  const additions = [59, add(57), 56, add(54), 53, add(51), 50, add(48)] as const;
  t.match(judge(answers(...additions, 47, 46, 45, 44, 43, 42, 40)), { kind: 'broken', actual: /createPet/ });
  t.match(judge(answers(...additions, 47, 46, 45, 44, 43, 41, 39)), { kind: 'disturbed' });
});

t.test('three of a kind, or a kind that agrees with itself only at times, may be a neighbour', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' });
  t.match(judge(answers(59, add(57), 56, add(54), 53, add(51), 50)), {
    kind: 'disturbed',
    reason:
      'X-RateLimit-Remaining fell by more than our own requests 3 of 6 times, as if another client were using the key',
  });
  t.match(judge(answers(59, add(57), 56, add(54), 53, add(51), 50, add(47), 46)), { kind: 'disturbed' });
});

t.test('where other requests do not fall by one either, no kind is to blame', async (t) => {
  const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' });
  t.match(judge(answers(59, add(57), 55, add(53), 51, add(49), 48, add(46), 43)), { kind: 'disturbed' });
});

t.test('a neighbour explains a fall of more, never one of less', async (t) => {
  t.match(judge(answers(59, 58, 55, 54, 53, 52, 51)), { kind: 'disturbed', reason: /1 of 6 times/ });
  const values = [59, 58, 57, 56, 55, 50, 50, 49, 49, 48];
  t.match(judge(quick(...values)), {
    kind: 'broken',
    expected: FALLS,
    actual: 'it did not fall (50 to 50) with some requests, 2 times of 9',
  });
  t.match(judge(quick(59, 58, 57, 56, 55, 50, 50, 49, 48, 47)), { kind: 'disturbed' }, 'once is no pattern');
  const disturbed = { kind: 'disturbed' };
  t.match(judge(moving(quick(...values))), disturbed, 'where Reset moves more may have come back');
  const movedOnce = quick(...values).map((one, index) => (index < 7 ? one : { ...one, reset: RESET + 1000 }));
  t.match(judge(movedOnce), disturbed, 'be it once');
  const untold = quick(...values).map((one) => ({ ...one, reset: undefined }));
  t.match(judge(untold), disturbed, 'nobody knows whether it moves where it is not told');
  t.match(judge(answers(...values)), { kind: 'disturbed' }, 'at a bucket’s pace it may have come back');
});

t.test('Remaining that rises, where no refill explains it', async (t) => {
  t.match(judge(quick(59, 58, 61, 60)), {
    kind: 'broken',
    expected: FALLS,
    actual: 'from 58 it came to 61, 4 more than the requests in between leave',
    readings: [{ remaining: 61 }, { remaining: 58 }],
  });
  t.match(judge(quick(59, 58, 58, 57)), { kind: 'falls' }, 'one may be a rounding');
  t.match(judge(answers(59, 58, 58, 58)), { kind: 'falls' }, 'at a bucket’s pace it may have come back');
  t.match(judge(quick(59, 58, 58, 58)), {
    kind: 'broken',
    actual: 'it did not fall (58 to 58) with some requests, 2 times of 3',
  });
});

t.test(
  'requests that are admitted when nothing is left are the limit’s failure, not that of Remaining',
  async (t) => {
    const down = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
    t.match(judge(answers(...down, 0, 0, 0, 0)), { kind: 'falls' });
    t.match(judge(quick(...down, 0, 0, 0, 0)), { kind: 'falls' });
    t.match(judge(quick(...down, 3, 2, 1)), { kind: 'broken', actual: /^from 0 it came to 3/ });
    t.match(judge(answers(...down, 0, 1, 2, 3)), { kind: 'broken' }, 'it must not rise either');
    t.match(
      judge(answers(...Array.from({ length: 13 }, () => 0))),
      { kind: 'broken' },
      'nothing is ever left',
    );
  },
);

t.test('a fall of 0 twice is one too many, unless half a token has come back', async (t) => {
  t.match(judge(paced(240, 58, 58, 58)), { kind: 'falls' });
  t.match(judge(paced(239, 58, 58, 58)), { kind: 'broken' });
});

t.test('a request that leaves a window which looks back gives back one, within a second', async (t) => {
  /** Two that do not fall, and one request about a minute before: so many milliseconds before noon. */
  const after = (milliseconds: number) =>
    judge([reading({ sentAt: -milliseconds, remaining: 59, reset: RESET }), ...quick(59, 58, 58, 58)]).kind;
  for (const [milliseconds, verdict] of [
    [120_000, 'broken'],
    [60_991, 'broken'],
    [60_990, 'falls'],
    [60_000, 'falls'],
    [58_930, 'falls'],
    [58_929, 'broken'],
    [30_000, 'broken'],
  ] as const)
    t.equal(after(milliseconds), verdict, `${milliseconds} ms before`);

  const get = (remaining: number) => ({ remaining, operation: 'getPet' });
  const four = answers(59, get(59), 58, get(58), 57, get(57), 56, get(56), 55);
  t.match(judge(four), { kind: 'broken', actual: /getPet/ });
  const left = reading({ sentAt: -58_000, remaining: 59, reset: RESET });
  t.match(judge([left, ...four]), { kind: 'falls' }, 'one of the four may have come back so');
});

t.test('a surplus counts over steps that follow each other only', async (t) => {
  const gap = (...remaining: readonly number[]) =>
    quick(...remaining.map((left, index) => (index === 2 ? { remaining: left, status: 500 } : left)));
  t.match(judge(gap(59, 59, 58, 58, 58)), { kind: 'falls' });
  t.match(judge(quick(59, 59, 58, 58)), {
    kind: 'broken',
    actual: 'it did not fall (59 to 59) with some requests, 2 times of 3',
  });
});

const LIMITS: Readonly<Record<string, SimulatedLimit>> = {
  'a fixed window': fixedWindow,
  'a window aligned to the clock': alignedWindow,
  'a sliding log': slidingLog,
  'a sliding counter': slidingCounter,
  'a token bucket': tokenBucket,
  'a token bucket whose Reset is the next token': tokenBucketByNextToken,
};
const EPOCH = 29_500_000 * MINUTE;

interface Sending {
  readonly pauses: readonly number[];
  readonly latencies: readonly number[];
  /** How many are under way together, in turn; 1 by default. */
  readonly together?: readonly number[];
}
const pausesAndLatencies = {
  pauses: fc.array(fc.oneof(fc.nat(50), fc.nat(3000), fc.nat(20_000)), { minLength: 60, maxLength: 120 }),
  latencies: fc.array(fc.integer({ min: 2, max: 400 }), { minLength: 1, maxLength: 20 }),
};
const anySending: fc.Arbitrary<Sending> = fc.oneof(
  fc.record(pausesAndLatencies),
  fc.record({
    ...pausesAndLatencies,
    // The first is alone: what a neighbour spends before that shows nowhere.
    together: fc
      .array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 })
      .map((counts) => [1, ...counts]),
  }),
);

/**
 * One request after another, or some together, of which the last one sent arrives first; the neighbour, where there is
 * one, sends before each that `neighbour` names.
 */
function sequence(
  limit: SimulatedLimit,
  capacity: number,
  { pauses, latencies, together = [1] }: Sending,
  uncounted: (index: number) => boolean = () => false,
  neighbour: (index: number) => boolean = () => false,
): RateReading[] {
  const says = limit(capacity);
  let now = EPOCH;
  let before: ReturnType<typeof says> | undefined;
  return pauses.flatMap((pause, index) => {
    const latency = latencies[index % latencies.length] ?? 2;
    const sentAt = now;
    const count = together[index % together.length] ?? 1;
    now = sentAt + latency + count + pause;
    return Array.from({ length: count }, (_, nth) => {
      const arrivesAt = sentAt + Math.floor(latency / 2) + nth;
      if (neighbour(index)) before = says(arrivesAt);
      const said: ReturnType<typeof says> =
        uncounted(index) && before !== undefined ? before : says(arrivesAt);
      before = said;
      return reading({
        id: `test#${index}.${nth}`,
        sentAt,
        receivedAt: sentAt + latency + nth,
        operation: OPERATIONS[index % 3] ?? 'listPets',
        status: said.admitted ? 200 : 429,
        limit: capacity,
        remaining: said.remaining,
        reset: Math.ceil(said.reset / 1000) * 1000,
      });
    }).reverse();
  });
}

function always<T>(t: Test, arbitrary: fc.Arbitrary<T>, property: (value: T) => void): void {
  t.doesNotThrow(() => fc.assert(fc.property(arbitrary, property), { numRuns: 40 }));
}

for (const [name, limit] of [
  ...Object.entries(LIMITS),
  ['a bucket by the second', tokenBucketBySecond] as const,
]) {
  t.test(`${name} that counts right is never broken, alone or with a neighbour`, async (t) => {
    const capacity = fc.constantFrom(60, 300, 1000);
    always(t, fc.tuple(capacity, anySending), ([perMinute, sending]) => {
      const verdict = judge(sequence(limit, perMinute, sending), perMinute);
      if (verdict.kind === 'broken' || verdict.kind === 'disturbed') throw new Error(JSON.stringify(verdict));
    });
    always(
      t,
      fc.tuple(capacity, anySending, fc.array(fc.boolean(), { minLength: 120, maxLength: 120 })),
      ([perMinute, sending, turns]) => {
        const neighbour = (index: number) => index > 0 && turns[index] === true;
        const verdict = judge(sequence(limit, perMinute, sending, undefined, neighbour), perMinute);
        if (verdict.kind === 'broken') throw new Error(JSON.stringify(verdict));
      },
    );
  });
}

for (const name of ['a fixed window', 'a token bucket']) {
  t.test(`${name} that does not count one operation is always found`, async (t) => {
    const limit = LIMITS[name] ?? fixedWindow;
    const quick = fc.record({
      pauses: fc.array(fc.nat(300), { minLength: 40, maxLength: 50 }),
      latencies: fc.constant([5]),
    });
    always(t, quick, (sending) => {
      const verdict = judge(sequence(limit, 60, sending, (index) => index % 3 === 1));
      if (verdict.kind !== 'broken') throw new Error(verdict.kind);
    });
  });
}

t.test('the whole limit is not left after a request, whoever else spends the key', async (t) => {
  const get = (remaining: number, status = 200) => ({
    remaining,
    status,
    operation: 'getPet' as const,
    reset: RESET + 1000,
  });
  t.match(judge(quick(50, 45, get(60), 44)), { kind: 'broken', actual: /rose by 15 \(45 to 60\)/ });
  t.match(judge(quick(50, 45, get(59), 58)), { kind: 'disturbed' }, 'a window may have ended early');
  t.match(judge(quick(50, 45, get(60, 404), 59)), { kind: 'disturbed' }, 'one that is refused may not count');
});

t.test('operations with a quota each, whoever else spends them', async (t) => {
  const addition = (remaining: number) => ({
    remaining,
    reset: RESET + 1000,
    operation: 'createPet' as const,
  });
  const lists = [55, 54, 50, 49, 48, 47, 46, 45, 44, 43];
  const apart = (pace: number, left = 30_000) =>
    paced(pace, addition(59), ...lists, addition(58)).map((one) => ({ ...one, date: RESET - left }));
  const actual = /^from 59 it came to 58, 10 more than the requests in between leave, with the same/;
  t.match(judge(apart(300)), { kind: 'broken', actual });
  t.match(judge(apart(300, 3000)), { kind: 'disturbed' }, 'what was spent before may be given back');
  t.match(judge(apart(100)), { kind: 'disturbed' }, 'a Reset that is always a minute ahead');
  t.match(judge(apart(1000)), { kind: 'disturbed' }, 'as much may be given back');
});
