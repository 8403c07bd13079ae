/** Laws of limits and clocks: they hold for any conforming limiter, however its requests are sent. */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { RateReading } from '../wire/rate-headers.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { isRefilling, mayGiveTooMuch, overGiven, type Refill, resetsApart } from './refill.ts';
import { judgeRemaining, stoodPastReset } from './remaining-arithmetic.ts';
import { TargetClock, wentBack } from './target-clock.ts';
import {
  alignedWindow,
  type Burst,
  burstInto,
  fixedWindow,
  reading,
  type SimulatedLimit,
  slidingCounter,
  slidingLog,
  tokenBucket,
  tokenBucketByNextToken,
  tokenBucketInSteps,
} from './testing/simulated-limits.ts';
import { DAY, givenAtOnce, MINUTE, SECOND } from './time.ts';
import { isForDay } from './told-time.ts';
import {
  type CountVerdict,
  countWindow,
  fellShortAlike,
  minuteAsDay,
  racingRemaining,
  sinceEdge,
} from './window-count.ts';

const WINDOWS = { fixedWindow, alignedWindow, slidingLog };
const BUCKETS = { tokenBucket, tokenBucketByNextToken, tokenBucketInSteps };
const LIMITS: Readonly<Record<string, SimulatedLimit>> = { ...WINDOWS, slidingCounter, ...BUCKETS };
/** A full minute, so that bursts begin at a known place in an aligned window. */
const EPOCH = 29_500_000 * MINUTE;

/** Any plan and any way to send: up to fifty at once, answers after 2 to 250 ms, in any order. */
const anyBurst = fc.record({
  perMinute: fc.constantFrom(60, 300),
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
/** The burst is over before the minute is. */
const isShort = (readings: readonly RateReading[], { startsAt }: Burst) =>
  readings.every(({ receivedAt }) => receivedAt < startsAt + 25_000);
const admitted = (readings: readonly RateReading[]) => readings.filter(({ status }) => status === 200);

function law<T>(name: string, arbitrary: fc.Arbitrary<T>, property: (value: T) => void): void {
  t.test(name, async (t) =>
    t.doesNotThrow(() => fc.assert(fc.property(arbitrary, property), { numRuns: 12 })),
  );
}

/** What a burst into a limit counts to, after so many requests of somebody else and beside others. */
function counted(
  limit: SimulatedLimit,
  { perMinute, burst }: { readonly perMinute: number; readonly burst: Burst },
  { before = 0, capacity = perMinute }: { readonly before?: number; readonly capacity?: number } = {},
): CountVerdict {
  const says = limit(capacity);
  for (let index = 0; index < before; index += 1) says(burst.startsAt);
  const readings = burstInto(says, perMinute, burst, (said) => ({
    ...said,
    remaining: Math.max(0, Math.min(perMinute - 1, said.remaining - Math.max(0, capacity - perMinute))),
  }));
  fc.pre(isShort(readings, burst));
  return countWindow(admitted(readings), perMinute).verdict;
}

const others = fc.integer({ min: 1, max: 59 });

for (const [name, limit] of Object.entries(LIMITS)) {
  law(`${name} of the plan’s number is exact`, anyBurst, (given) =>
    deepEqual(counted(limit, given), { kind: 'exact' }),
  );
  law(`${name} is never more, whoever else spends it`, fc.tuple(anyBurst, others), ([given, every]) => {
    const neighbour = (arrival: number) => arrival % every === every - 1;
    const disturbed = { ...given, burst: { ...given.burst, neighbour } };
    notEqual(counted(limit, disturbed, { before: every }).kind, 'more');
  });
  law(`${name}: what else the run sent before counts with it`, anyBurst, ({ perMinute, burst }) => {
    const says = limit(perMinute);
    const early = { ...burst, startsAt: burst.startsAt - 20_000, latencies: [[0, 0]] as const, most: 9 };
    const readings = [...burstInto(says, perMinute, early), ...burstInto(says, perMinute, burst)];
    fc.pre(isShort(readings, burst));
    notEqual(countWindow(admitted(readings), perMinute).verdict.kind, 'more');
  });
  // What a bucket may be given in a step is more than ten; a counter looks back.
  if (limit === tokenBucketInSteps || limit === slidingCounter) continue;
  law(`${name} that admits ten more is found`, anyBurst, (given) =>
    equal(counted(limit, given, { capacity: given.perMinute + 10 }).kind, 'more'),
  );
}

for (const [name, limit] of Object.entries(WINDOWS)) {
  law(`${name}: answers that are lost cost no count`, fc.tuple(anyBurst, others), ([given, every]) => {
    const { perMinute, burst } = given;
    const readings = burstInto(limit(perMinute), perMinute, burst);
    fc.pre(isShort(readings, burst));
    const all = admitted(readings);
    const kept = all.filter(({ remaining }, index) => index % every !== 0 || remaining === 0);
    fc.pre(kept.length > 1);
    const lost = all.length - kept.length;
    deepEqual(countWindow(kept, perMinute, lost).verdict, { kind: 'exact' });
    if (lost > 0) equal(countWindow(kept, perMinute, lost - 1).verdict.kind, 'fewer');
    // One that Remaining does not count makes them too many.
    const [free] = kept;
    if (lost > 0 && free) notEqual(countWindow([...kept, free], perMinute, lost).verdict.kind, 'exact');
  });
  law(`${name}: how many others had spent is told`, fc.tuple(anyBurst, others), ([given, before]) =>
    deepEqual(counted(limit, given, { before }), { kind: 'fewer', before, between: 0 }),
  );
  law(`${name}: how many others spent meanwhile is told`, fc.tuple(anyBurst, others), ([given, every]) => {
    let between = 0;
    // Of what is spent after our last answer no answer tells.
    const neighbour = (arrival: number) => {
      const now = arrival > 0 && arrival % every === 0 && arrival < given.perMinute / 3;
      if (now) between += 1;
      return now;
    };
    const verdict = counted(limit, { ...given, burst: { ...given.burst, neighbour } });
    fc.pre(between > 0);
    deepEqual(verdict, { kind: 'fewer', before: 0, between });
  });
}

t.test('a window that falls short', async (t) => {
  const count = (of: number, resetAfter = 0, from = 0) =>
    countWindow(
      Array.from({ length: of }, (_, index) =>
        reading({
          sentAt: EPOCH + index * 100,
          limit: 6,
          remaining: 5 - from - index,
          reset: EPOCH + MINUTE + index * resetAfter,
          date: EPOCH,
        }),
      ),
      6,
    );
  t.ok(fellShortAlike(count(4), count(4)));
  t.notOk(fellShortAlike(count(4), count(3)), 'not as many');
  t.ok(fellShortAlike(count(2), count(1)), 'both very few, at intervals');
  t.notOk(fellShortAlike(count(2), count(1, 0, 1)), 'very few, and more gone before');
  t.notOk(fellShortAlike(count(4), count(4, 0, 1)), 'not as much gone before');
  t.notOk(fellShortAlike(count(4), count(6)), 'the other is whole');
  t.ok(fellShortAlike(count(3, 10_000), count(5, 10_000)), 'a bucket is given back the more the slower');
});

t.test('what lies before the edge of a window belongs to another one', async (t) => {
  const kept = (...resets: readonly number[]) =>
    sinceEdge(resets.map((reset, index) => reading({ sentAt: (index * MINUTE) / 2, reset }))).length;
  t.equal(kept(0, 0, MINUTE), 1);
  t.equal(kept(0, 58_000), 1, 'both may be rounded');
  t.equal(kept(0, 57_000), 2);
  t.equal(kept(0, MINUTE, 5 * MINUTE), 3, 'no minute and a half has three windows');
});

t.test('requests that race are given the same Remaining', async (t) => {
  const shown = (values: readonly number[], took = 0) =>
    values.map((remaining, index) => {
      const sentAt = EPOCH + index;
      const receivedAt = sentAt + took;
      return reading({ sentAt, receivedAt, limit: 6, remaining, reset: EPOCH + MINUTE, date: EPOCH });
    });
  const race = (...given: Parameters<typeof shown>) => racingRemaining(countWindow(shown(...given), 6));
  t.ok(race([5, 5, 4, 4, 3, 2, 1, 0]));
  t.notOk(race([5, 4, 4, 3, 2, 1, 0]), 'once is no race');
  const readAsAnswered = shown([3, 3, 3, 1, 1], 2);
  t.notOk(race([4, 4, 2, 2, 1, 0, 0], 9), 'nor is a count that is read as it is answered');
  t.same(countWindow(readAsAnswered, 6).verdict, { kind: 'fewer', before: 2, between: 0 });
});

/** Requests of three operations one after the other, with what somebody else sends right before some of them. */
const anySchedule = fc.record({
  perMinute: fc.constantFrom(60, 300, 1000),
  pauses: fc.array(fc.oneof(fc.nat(50), fc.nat(3000), fc.nat(20_000)), { minLength: 60, maxLength: 120 }),
  latencies: fc.array(fc.integer({ min: 2, max: 400 }), { minLength: 1, maxLength: 20 }),
  together: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 }),
  neighbours: fc.oneof(
    fc.constant<readonly boolean[]>([]),
    fc.array(fc.boolean(), { minLength: 120, maxLength: 120 }),
  ),
});
type Schedule = typeof anySchedule extends fc.Arbitrary<infer T> ? T : never;

const OPERATIONS = ['listPets', 'getPet', 'createPet'] as const;

/** The clock of a target that is told by these answers. */
function clockOf(readings: readonly RateReading[]): TargetClock {
  const clock = new TargetClock();
  for (const { sentAt, receivedAt } of readings)
    clock.learn({ date: Math.floor(sentAt / 1000) * 1000, reset: undefined, sentAt, receivedAt });
  return clock;
}

function sequence(
  limit: SimulatedLimit,
  { perMinute, pauses, latencies, together, neighbours }: Schedule,
  uncounted: (index: number) => boolean = () => false,
): RateReading[] {
  const says = limit(perMinute);
  let now = EPOCH;
  let before: ReturnType<typeof says> | undefined;
  return pauses.flatMap((pause, index) => {
    const latency = latencies[index % latencies.length] ?? 2;
    const sentAt = now;
    // The first is alone: what a neighbour spends before that shows nowhere.
    const count = index === 0 ? 1 : (together[index % together.length] ?? 1);
    now = sentAt + latency + count + pause;
    return Array.from({ length: count }, (_, nth) => {
      const arrivesAt = sentAt + Math.floor(latency / 2) + nth;
      if (index > 0 && neighbours[index] === true) says(arrivesAt);
      const said = uncounted(index) && before !== undefined ? before : says(arrivesAt);
      before = said;
      return reading({
        id: `test#${index}.${nth}`,
        sentAt,
        receivedAt: sentAt + latency + nth,
        operation: OPERATIONS[index % 3] ?? 'listPets',
        status: said.admitted ? 200 : 429,
        limit: perMinute,
        remaining: said.remaining,
        reset: Math.ceil(said.reset / 1000) * 1000,
      });
    }).reverse();
  });
}

for (const [name, limit] of Object.entries(LIMITS)) {
  law(`${name}: Remaining of what counts right is never broken`, anySchedule, (schedule) => {
    const { perMinute } = schedule;
    const verdict = judgeRemaining(sequence(limit, schedule), { perMinute, perDay: DAY });
    ok(verdict.kind !== 'broken', JSON.stringify(verdict));
    if (schedule.neighbours.length === 0) ok(verdict.kind !== 'disturbed', JSON.stringify(verdict));
  });
}

for (const [name, limit] of Object.entries(LIMITS))
  law(`${name}: what its Reset tells is given back, whoever else spends it`, anySchedule, (schedule) => {
    const readings = sequence(limit, schedule);
    const limits = { perMinute: schedule.perMinute, perDay: DAY };
    deepEqual(stoodPastReset(readings, limits, clockOf(readings)), []);
  });

t.test('the limit of the day with the numbers of a minute', async (t) => {
  const shows = (limit: number, ...values: readonly (readonly [remaining: number, seconds: number])[]) =>
    minuteAsDay(
      values.map(([remaining, seconds]) => reading({ limit, remaining, reset: EPOCH + seconds * 1000 })),
      { perMinute: 60, perDay: 1000 },
    ).length;
  t.equal(shows(1000, [59, 60], [58, 60], [0, 60], [59, 121]), 2);
  t.equal(shows(60, [59, 60], [0, 60], [59, 121]), 0, 'the minute’s own');
  t.equal(shows(1000, [59, 60], [58, 60], [59, 61]), 0, 'one window');
  t.equal(shows(1000, [60, 60], [59, 60], [0, 60], [59, 121]), 0, 'a day that is nearly spent');
});

t.test('a Reset that passes and gives nothing back', async (t) => {
  const stood = (limit: SimulatedLimit, ...pauses: number[]) => {
    const readings = sequence(limit, {
      perMinute: 60,
      pauses,
      latencies: [5],
      together: [1],
      neighbours: [],
    });
    return stoodPastReset(readings, { perMinute: 60, perDay: 1000 }, clockOf(readings)).length > 0;
  };
  /** The Reset of another limiter in place of the window's own. */
  const telling =
    (reset: (now: number) => number, limit = fixedWindow): SimulatedLimit =>
    (capacity) => {
      const says = limit(capacity);
      return (now) => ({ ...says(now), reset: reset(now) });
    };
  const spent = Array.from({ length: 20 }, () => 10);
  const now = telling((time) => time);
  t.ok(stood(now, ...spent, 15_000, 15_000, 0), 'always now');
  t.notOk(stood(now, ...spent, 15_000, 0), 'once may be a stranger');
  t.notOk(stood(fixedWindow, ...spent, 15_000, 15_000, 0), 'not yet');
  t.notOk(stood(now, ...spent, 70_000, 15_000, 0), 'given back once');
  /** Somebody else takes at once what the first Reset gives back. */
  const taken = telling((time) => EPOCH + (time < EPOCH + 12_000 ? 12_000 : 72_000));
  const more = Array.from({ length: 20 }, () => 300);
  t.notOk(stood(taken, ...spent, 22_300, ...more), 'one Reset, however many answers told it');
  const renewed: SimulatedLimit = (capacity) => {
    let [used, ends] = [0, 0];
    return (time) => {
      used = time < ends ? used + 1 : 1;
      ends = time + MINUTE;
      return { admitted: used <= capacity, remaining: Math.max(0, capacity - used), reset: ends };
    };
  };
  t.ok(stood(renewed, ...spent, 25_000, 25_000, 25_000, 25_000, 0), 'a window that each request renews');
  t.notOk(stood(renewed, ...spent, 25_000, 25_000, 0));
});

for (const limit of [fixedWindow, tokenBucket])
  law(
    'an operation that is not counted is found',
    fc.record({ pauses: fc.array(fc.nat(300), { minLength: 40, maxLength: 50 }) }),
    ({ pauses }) => {
      const schedule: Schedule = { perMinute: 60, pauses, latencies: [5], together: [1], neighbours: [] };
      const readings = sequence(limit, schedule, (index) => index % 3 === 1);
      const verdict = judgeRemaining(readings, { perMinute: 60, perDay: DAY });
      equal(verdict.kind, 'broken');
    },
  );

/** Answers so many milliseconds apart, each answered in ten, in a window whose Reset stands still. */
const paced = (pace: number, ...values: readonly (number | Partial<RateReading>)[]) =>
  values.map((value, index) =>
    reading({
      sentAt: index * pace,
      reset: MINUTE,
      ...(typeof value === 'number' ? { remaining: value } : value),
    }),
  );
const add = (remaining: number) => ({ remaining, status: 201, operation: 'createPet' as const });
const get = (remaining: number, status = 200) => ({ remaining, status, operation: 'getPet' as const });
const sold = (remaining: number) => ({ remaining, path: '/pets?limit=3&status=sold' });
const never = (count: number) => Array.from({ length: count }, () => 59);
/** More of a window than a bucket is given at one moment: its Reset would have moved on. */
const falling = Array.from({ length: 13 }, (_, index) => 59 - index);

t.test('what is said of Remaining', async (t) => {
  const additions = [59, add(57), 56, add(54), 53, add(51), 50, add(48)] as const;
  const rows: readonly (readonly [string, readonly RateReading[], RegExp])[] = [
    ['one lower each time', paced(1000, 59, 58, 57), /^falls/],
    ['one answer', paced(1000, 59), /^unseen/],
    ['no number', paced(1000, 59, {}), /^unseen/],
    ['another plan’s limit', paced(1000, { remaining: 9, limit: 7 }, { remaining: 9, limit: 7 }), /^unseen/],
    ['the day’s', paced(1000, { remaining: 9, limit: 1000 }, { remaining: 8, limit: 1000 }), /^falls/],
    ['a refusal in between', paced(1000, 59, { remaining: 59, status: 429 }, 57), /^falls/],
    [
      'a refusal in between, and one more',
      paced(1000, 59, { remaining: 59, status: 403 }, 57, 55),
      /^disturbed/,
    ],
    ['a lost answer', paced(1000, 59, 58, { remaining: 55, afterLost: true }, 54), /^falls/],
    ['somebody else', paced(1000, 59, 58, 55, 54), /^disturbed .* 1 of 3 times/],
    ['a window that was over', paced(1000, 3, { remaining: 59, reset: 2 * MINUTE }), /^unseen/],
    ['never', paced(1000, ...never(13)), /^broken it did not fall .* with listPets answered 200, 12 times/],
    ['a few times', paced(1000, ...never(5)), /^falls/],
    [
      'retrievals',
      paced(1000, 59, get(59), 58, get(58), 57, get(57), 56, get(56), 55),
      /did not fall.* getPet/,
    ],
    ['additions', paced(1000, ...additions, 47), /fell by 2 \(59 to 57\) with createPet answered 201/],
    ['three of them', paced(1000, ...additions.slice(0, 7)), /^disturbed/],
    ['other requests as well', paced(1000, ...additions, 46, 44, 42), /^disturbed/],
    [
      'a list by status',
      paced(1000, 59, 58, 57, sold(55), sold(53), 52, sold(50), sold(48), 47, 46, 45, 44, 43, 42),
      /fell by 2 .* with a list by status/,
    ],
    ['rises', paced(20, ...falling, 50, 49), /^broken from 47 it came to 50/],
    ['rises by a step of ten seconds', paced(20, 50, 49, 58, 57), /^falls/],
    ['stands still twice', paced(20, ...falling, 47, 47), /^broken/],
    ['stands still twice at a bucket’s pace', paced(1000, 59, 58, 58, 58), /^falls/],
    ['stands still, and somebody else', paced(20, ...falling, 39, 39, 38, 38, 37), /^broken/],
    ['nothing left', paced(20, 2, 1, 0, 0, 0, 0, 0), /^falls/],
    [
      'a ban’s answers',
      paced(20, 1, 0, ...Array.from({ length: 9 }, () => ({ remaining: 0, status: 423 }))),
      /^falls/,
    ],
    [
      'one that is read once a second',
      paced(100, ...falling, 47, 47, 47, 47, 38, 38),
      /^broken from 47 it came to 47/,
    ],
    ['the whole limit, twice', paced(1000, 50, get(60), 45, get(60), 44), /^broken/],
    ['the whole limit of what is not found', paced(1000, { remaining: 50 }, get(60, 404), 48, 47), /^/],
  ];
  for (const [what, readings, says] of rows) {
    const verdict = judgeRemaining(readings, { perMinute: 60, perDay: 1000 });
    const words = 'actual' in verdict ? verdict.actual : 'reason' in verdict ? verdict.reason : '';
    t.match(`${verdict.kind} ${words}`, says, what);
  }
});

t.test('a bucket that is given fifty requests every ten seconds', async (t) => {
  t.strictSame([givenAtOnce(60), givenAtOnce(300), givenAtOnce(300, SECOND)], [10, 50, 5]);
  t.ok(givenAtOnce(100) > 17, 'a whole number hides a fraction');
  const shown = (...values: readonly number[]) =>
    judgeRemaining(
      values.map((remaining, index) => reading({ sentAt: index * 20, limit: 300, remaining, reset: MINUTE })),
      { perMinute: 300, perDay: 10_000 },
    ).kind;
  t.equal(shown(262, 311), 'falls', 'so little moves no Reset');
  const spent = Array.from({ length: 62 }, (_, index) => 280 - index);
  t.equal(shown(...spent, 223), 'broken', 'so much would have');
});

t.test('what somebody else spent unseen, and a sliding window gives back', async (t) => {
  const shown = (...values: readonly (readonly [seconds: number, remaining: number])[]) =>
    judgeRemaining(
      values.map(([seconds, remaining]) =>
        reading({ sentAt: seconds * 1000, remaining, reset: seconds * 1000 + MINUTE }),
      ),
      { perMinute: 60, perDay: 1000 },
    ).kind;
  t.equal(shown([0, 59], [20, 40], [70, 40], [72, 56]), 'disturbed');
  t.equal(shown([0, 59], [20, 58], [70, 40], [72, 56]), 'disturbed');
  t.equal(shown([0, 41], [20, 40], [70, 40], [72, 56]), 'broken', 'nobody was seen');
  const still = Array.from({ length: 12 }, (_, index) => [index / 100, 59] as const);
  t.equal(shown(...still, [0.2, 50]), 'broken', 'nor before it stood still');
  t.equal(shown([0, 58], [0.1, 58], [0.2, 58], [0.3, 58], [0.4, 50]), 'disturbed', 'perhaps at first');
});

const NOON = Date.UTC(2026, 10, 21, 12);
const told = (parts?: AnswerParts): RateReading => reading({ ...readingOf(parts) });
const readingOf = ({ sentAt = NOON, receivedAt = NOON }: AnswerParts = {}) => ({ sentAt, receivedAt });
const dated = (date: number, sentAt = NOON, receivedAt = sentAt, reset?: number): RateReading => ({
  ...told({ sentAt, receivedAt }),
  date,
  reset,
});

law(
  'the target’s clock is within what its Dates allow, whenever its texts were made',
  fc.record({
    skew: fc.integer({ min: -DAY, max: DAY }),
    answers: fc.array(
      fc.record({ pause: fc.nat(5000), there: fc.nat(400), back: fc.nat(400), age: fc.nat(1900) }),
      { minLength: 1, maxLength: 30 },
    ),
  }),
  ({ skew, answers }) => {
    const clock = new TargetClock();
    let now = NOON;
    for (const { pause, there, back, age } of answers) {
      const made = now + there;
      const date = Math.floor((made + skew - age) / SECOND) * SECOND;
      clock.learn(dated(date, now, made + back));
      now = made + back + pause;
    }
    const { earliest = 0, latest = 0 } = clock.at(now) ?? {};
    ok(earliest <= now + skew && now + skew <= latest, `${earliest - now} to ${latest - now}: ${skew}`);
    ok(clock.reached(now + skew) >= now || Math.abs(skew) >= MINUTE);
  },
);

t.test('clocks', async (t) => {
  const learned = (...of: readonly RateReading[]) => {
    const clock = new TargetClock();
    for (const one of of) clock.learn(one);
    return clock;
  };
  t.equal(learned().known, false);
  t.equal(learned().reached(NOON), NOON, 'ours stands in');
  t.equal(learned(dated(0)).known, false, 'one that was never set');
  t.equal(learned(dated(0, NOON, NOON, MINUTE)).known, true, 'where Reset goes by it, ours was never set');
  t.equal(learned(dated(NOON + 365 * DAY)).known, true);
  t.equal(learned(dated(NOON + 20_000)).reached(NOON), NOON, 'a little ahead: a proxy’s');
  t.equal(learned(dated(NOON + 300_000)).reached(NOON), NOON - 300_000, 'set wrong');
  t.equal(learned(dated(NOON - 40_000)).reached(NOON), NOON + 40_000);
  const set = learned(dated(NOON), dated(NOON + 300_000, NOON + SECOND)).at(NOON);
  t.ok(set !== undefined && set.latest - set.earliest > 290_000, 'one that was set: what either Date allows');
  const away = dated(NOON - 7001, NOON + SECOND);
  t.equal(learned(dated(NOON), away, dated(NOON + 2 * SECOND, NOON + 2 * SECOND)).disagrees, true);
  t.equal(learned(dated(NOON), dated(NOON - 7000, NOON + SECOND)).disagrees, false);
  const later = (seconds: number) => dated(NOON + seconds * SECOND, NOON + MINUTE);
  t.notOk(wentBack(dated(NOON), later(57)), 'a Date may be three seconds old');
  t.ok(wentBack(dated(NOON), later(55)));
});

t.test('how quota comes back', async (t) => {
  const at = (seconds: number, given: Partial<RateReading> = {}) =>
    reading({ sentAt: NOON + seconds * SECOND, limit: 6, ...given });
  const back = (remaining: number, reset: number, seconds = 60, limit = 6): Refill => ({
    perMinute: 6,
    refused: at(0, { status: 429, remaining: 0, reset: NOON + 30 * SECOND }),
    first: at(seconds, { remaining, reset: NOON + reset * SECOND, limit }),
  });
  t.equal(isRefilling(back(5, 90)), false);
  t.equal(isRefilling(back(1, 40)), true);
  t.equal(isRefilling(back(1, 90)), false, 'Reset moved by a minute: others took the rest');
  t.equal(isRefilling({ ...back(1, 90), later: at(70, { remaining: 2 }) }), true, 'until it rises by itself');
  t.equal(
    isRefilling({ ...back(1, 90), later: at(70, { remaining: 1 }) }),
    true,
    'a request was paid meanwhile',
  );
  t.equal(isRefilling({ ...back(1, 90), later: at(70, { remaining: 0 }) }), false);
  t.equal(isRefilling({ ...back(0, 90), later: at(70, { remaining: 0 }) }), false);
  t.equal(isRefilling(back(5, 150, 107)), undefined, 'by then a sliding window is whole as well');
  t.equal(isRefilling(back(1, 90, 61)), undefined, 'or nearly');
  t.equal(isRefilling(back(900, 90, 60, 1000)), undefined, 'headers of the day');
  t.equal(resetsApart(back(5, 60, 30), new TargetClock()), 30 * SECOND);
  t.equal(resetsApart(back(5, 89, 30), new TargetClock()), undefined, 'a minute, rounded');
  t.equal(resetsApart(back(5, 88, 30), new TargetClock()), 58 * SECOND);
  t.equal(resetsApart(back(5, 36, 20), new TargetClock()), 6 * SECOND);
  t.equal(resetsApart(back(5, 35, 20), new TargetClock()), undefined, 'as a bucket may move it on');
  t.equal(mayGiveTooMuch(back(1, 40, 45), 1), true);
  t.equal(mayGiveTooMuch(back(2, 40, 45), 1), false);
  const given = (seconds: number, remaining: number, beside: readonly number[] = []) => {
    const shown = at(seconds, { remaining });
    const before = [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((sent) => at(sent));
    const refused = at(0.9, { status: 429, remaining: 0 });
    const since = [...beside.map((sent) => at(sent)), shown];
    const over = overGiven({ perMinute: 6, refused, first: undefined }, before, since, [shown]);
    return /(\d) more after \d+ seconds/.exec(over?.actual ?? '')?.[1];
  };
  t.equal(given(21, 4), '5');
  t.equal(given(21, 3), undefined);
  t.equal(given(21, 3, [10]), '5', 'what was used meanwhile');
  t.equal(given(61, 6), undefined, 'after a minute everything is back');
});

t.test('a refusal for the day', async (t) => {
  const refused = (retryAfter: string | undefined, limit: number, remaining: number, reset?: number) =>
    isForDay(
      { targetClock: new TargetClock() },
      answered({
        status: 429,
        sentAt: NOON,
        headers: [
          ['X-RateLimit-Limit', `${limit}`],
          ['X-RateLimit-Remaining', `${remaining}`],
          ...(reset === undefined ? [] : [['X-RateLimit-Reset', `${NOON / SECOND + reset}`] as const]),
          ...(retryAfter === undefined ? [] : [['Retry-After', retryAfter] as const]),
        ],
      }),
      { perMinute: 60, perDay: 1000 },
    );
  t.ok(refused('40000', 1000, 0), 'headers of the day');
  t.notOk(refused('60', 1000, 0), 'the wait will show');
  t.ok(refused('86396', 60, 30, 40));
  t.ok(refused('50000', 60, 30, 40), 'with quota left for the minute they are no milliseconds');
  t.ok(refused('20000', 60, 30, 20), 'whatever Reset says');
  t.ok(refused('50000', 60, 0, 20), 'nor where Reset is sooner');
  t.notOk(refused('20000', 60, 0, 20), 'milliseconds');
  t.notOk(refused('55', 60, 0, 55));
  t.notOk(refused(undefined, 60, 30));
  t.ok(refused('Sat, 21 Nov 2026 20:00:00 GMT', 60, 0));
});
