/** Laws of limits and clocks: they hold for any conforming limiter, however its requests are sent. */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { RateReading } from '../wire/rate-headers.ts';
import { judgeRemaining, stoodPastReset } from './remaining-arithmetic.ts';
import { TargetClock } from './target-clock.ts';
import {
  alignedWindow,
  type Burst,
  burstInto,
  fixedWindow,
  reading,
  type SimulatedLimit,
  slidingCounter,
  slidingLog,
  slidingSlots,
  tokenBucket,
  tokenBucketByNextToken,
  tokenBucketInSteps,
} from './testing/simulated-limits.ts';
import { DAY, MINUTE, SECOND } from './time.ts';
import { type CountVerdict, countWindow } from './window-count.ts';

const WINDOWS = { fixedWindow, alignedWindow, slidingLog, slidingSlots };
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
): RateReading[] {
  const says = limit(perMinute);
  let now = EPOCH;
  return pauses.flatMap((pause, index) => {
    const latency = latencies[index % latencies.length] ?? 2;
    const sentAt = now;
    // The first is alone: what a neighbour spends before that shows nowhere.
    const count = index === 0 ? 1 : (together[index % together.length] ?? 1);
    now = sentAt + latency + count + pause;
    return Array.from({ length: count }, (_, nth) => {
      const arrivesAt = sentAt + Math.floor(latency / 2) + nth;
      if (index > 0 && neighbours[index] === true) says(arrivesAt);
      const said = says(arrivesAt);
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

const NOON = Date.UTC(2026, 10, 21, 12);
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
      clock.learn(reading({ date, sentAt: now, receivedAt: made + back }));
      now = made + back + pause;
    }
    const { earliest = 0, latest = 0 } = clock.at(now) ?? {};
    ok(earliest <= now + skew && now + skew <= latest, `${earliest - now} to ${latest - now}: ${skew}`);
    ok(clock.reached(now + skew) >= now || Math.abs(skew) >= MINUTE);
  },
);
