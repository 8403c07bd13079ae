/**
 * Judges X-RateLimit-Remaining over a sequence of requests on one key: each admitted request leaves one fewer.
 *
 * Between two answers it may rise when the window resets, as told beforehand; by a token bucket's refill, which is the
 * limit's rate times the time that passed, and one for the fraction that a whole number hides; and by requests of ours
 * that leave a sliding window. It may fall by more than one if another client uses the key: no fault of the target.
 */

import { groupBy } from '../../spec/group-by.ts';
import type { PlanLimits } from '../../spec/plans.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import { CLOCKS_APART, type TargetClock, wentBack } from './target-clock.ts';
import { DAY, givenAtOnce, LONGEST_STEP, MINUTE, SECOND } from './time.ts';
import { isAdmittedStatus } from './window-count.ts';

/** An answer that says what is left, sent and received while nothing else of ours was under way. */
interface Sample {
  readonly reading: RateReading;
  readonly remaining: number;
  /** In milliseconds; the headers describe the minute or the day. */
  readonly window: number;
  /** How many requests of ours were counted up to this one. */
  readonly counted: number;
  /** Of how many nobody knows by then whether they were counted: lost ones, refused ones. */
  readonly unclear: number;
}

/** The samples among a key's answers. In a burst only the first and the last may be alone. */
function samplesOf(readings: readonly RateReading[], { perMinute, perDay }: PlanLimits): Sample[] {
  const samples: Sample[] = [];
  let counted = 0;
  let unclear = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;
  for (const [index, reading] of readings.entries()) {
    const { sentAt, receivedAt, status, limit, remaining, afterLost } = reading;
    // What shows no Remaining may not be counted either.
    if (isAdmittedStatus(status) && remaining !== undefined) counted += 1;
    else unclear += 1;
    if (afterLost === true) unclear += 1;
    const next = readings[index + 1]?.sentAt ?? receivedAt;
    const isAlone = answeredAt <= sentAt && next >= receivedAt;
    answeredAt = Math.max(answeredAt, receivedAt);
    const window = limit === perMinute ? MINUTE : limit === perDay ? DAY : undefined;
    if (isAlone && isAdmittedStatus(status) && remaining !== undefined && window !== undefined)
      samples.push({ reading, remaining, window, counted, unclear });
  }
  return samples;
}

/** From one sample to the next. */
function stepOf(readings: readonly RateReading[], from: Sample, to: Sample) {
  const since = from.reading.sentAt;
  const until = to.reading.receivedAt;
  // A window that slides by slots of time forgets a slot at once, and tells the end of the next one.
  const slot = Math.max(LONGEST_STEP, (to.reading.reset ?? 0) - (from.reading.reset ?? 0));
  return {
    from,
    to,
    /** How much less is left. */
    fall: from.remaining - to.remaining,
    /** How much a bucket may have given back in that time. */
    refill: ((from.reading.limit ?? 0) * (until - since)) / from.window,
    /** How many requests of ours a sliding window may have forgotten, with a second for rounding. */
    forgotten: readings.filter(
      ({ sentAt, receivedAt }) =>
        receivedAt >= since - from.window - SECOND && sentAt <= until - from.window + slot,
    ).length,
  };
}
type Step = ReturnType<typeof stepOf>;

/** Whether one may be told from the other: they are of one window, or of one that moves on bit by bit. */
function areNear({ reading: from, window }: Sample, { reading: to }: Sample): boolean {
  // In another window everything may have been given back: Reset then lies most of a window later, or earlier if the
  // target's clock was set back. Where none is told, more is left.
  const resetPassed =
    from.reset === undefined || to.reset === undefined
      ? (to.remaining ?? 0) > (from.remaining ?? 0)
      : Math.abs(to.reset - from.reset) > window / 2;
  const isSoon = to.receivedAt - from.sentAt < window / 4;
  return from.limit === to.limit && !resetPassed && isSoon && !wentBack(from, to);
}

/** Whether Reset stands still, as a fixed window's does: a bucket's and a sliding window's move on with each refill. */
const standsStill = (steps: readonly Step[]) =>
  steps.every(({ from, to }) => from.reading.reset !== undefined && from.reading.reset === to.reading.reset);

/**
 * Whether Reset stood still while so much was spent that the time at which a bucket is full again would have moved on:
 * one that is refilled in steps tells the end of a step.
 */
const isOfWindow = (steps: readonly Step[], step: number) =>
  standsStill(steps) &&
  steps.reduce((sum, { from, to }) => sum + (to.counted - from.counted) / (from.reading.limit ?? 1), 0) *
    (steps[0]?.from.window ?? 0) >
    movedOnAfter(step);

/** One for the fraction that the whole number hides, and a half for the time that answers take. */
const HIDDEN_FRACTION = 1.5;
/** After this time, a Reset that is always a minute ahead has moved on, and one that is told in steps as well. */
const movedOnAfter = (step: number) => step + 2 * SECOND;

/**
 * In which steps a key's limiter may be refilled, in milliseconds. A window tells one Reset for longer than a step lasts,
 * and with more requests than a step brings, also where the target was started again meanwhile and tells it twice.
 */
export function refillStep(readings: readonly RateReading[], { perMinute }: PlanLimits): number {
  const ahead = readings.filter(
    ({ limit, status, reset = 0, date, receivedAt }) =>
      limit === perMinute &&
      isAdmittedStatus(status) &&
      reset - (date ?? receivedAt) > movedOnAfter(LONGEST_STEP),
  );
  const most = Math.max(0, ...[...groupBy(ahead, ({ reset }) => reset).values()].map(({ length }) => length));
  return most > 2 * givenAtOnce(perMinute) ? SECOND : LONGEST_STEP;
}

/** This long before its end, a window gives nothing back, whoever spent it. */
const UNEXPIRED = 5 * SECOND;

/**
 * Judges the answers of one key, in the order of sending: X-RateLimit-Remaining falls, is broken, is disturbed by
 * somebody else who uses the key, as far as can be told, or is not seen.
 *
 * @param step in which a bucket may be refilled, in milliseconds
 */
export function judgeRemaining(
  readings: readonly RateReading[],
  limits: PlanLimits,
  step = refillStep(readings, limits),
) {
  const samples = samplesOf(readings, limits);
  const setBack = readings.filter((reading, index) => {
    const before = readings[index - 1];
    return before !== undefined && wentBack(before, reading);
  });
  // By a clock that was set back a window gives back at other moments than by ours.
  const isDisputed = (from: Sample, to: Sample) =>
    setBack.some(({ sentAt }) => sentAt > from.reading.sentAt - from.window && sentAt <= to.reading.sentAt);
  const stepsOf = (some: readonly Sample[]) =>
    some.flatMap((to, index) => {
      const from = some[index - 1];
      const isTold = from !== undefined && from.window === to.window && !isDisputed(from, to);
      return isTold ? [stepOf(readings, from, to)] : [];
    });
  const all = stepsOf(samples);
  const pairs = all.filter(({ from, to }) => areNear(from, to));
  if (pairs.length === 0) return { kind: 'unseen' } as const;
  const isComplete = ({ from, to }: Step) => to.unclear === from.unclear;
  const complete = pairs.filter(isComplete);
  const steps = complete.filter(({ from, to }) => to.counted === from.counted + 1);
  const deviation = commonDeviation(steps);
  if (deviation !== undefined) return deviation;
  // A bucket that is refilled in steps hides what it will give back at the end of the step.
  const isStill = isOfWindow(pairs, step);
  const hidden = isStill ? HIDDEN_FRACTION : HIDDEN_FRACTION - 1 + givenAtOnce(limits.perMinute, step);
  const given = givenInWindow(samples, stepsOf, hidden, isStill, step);
  if (given !== undefined) return given;
  // Also what tells this from a target that was started again once: see doubt.ts.
  const whole = samples.filter(
    ({ remaining, reading }) => remaining === reading.limit && reading.status < 400,
  );
  if (whole.length > 1)
    return broken(`${whole.length} requests that were counted left the whole limit`, whole);
  // Another window has more left, never less: somebody else shows over any time. What they spent is given back as well.
  const drops = all.filter((step) => isComplete(step) && step.fall > step.to.counted - step.from.counted);
  const [drop] = drops;
  if (drop !== undefined) {
    const [first] = samples;
    // Before somebody else shows, of a key that was whole at first, nothing is given back that they spent.
    const wasWhole = first !== undefined && first.remaining + first.counted === first.reading.limit;
    const before = pairs.filter(
      ({ to }) => wasWhole && to.reading.receivedAt <= drop.from.reading.receivedAt,
    );
    const reason = `X-RateLimit-Remaining fell by more than our own requests ${drops.length} of ${all.length} times`;
    return risen(before, hidden) ?? ({ kind: 'disturbed', reason } as const);
  }
  return risen(pairs, hidden) ?? ({ kind: 'falls' } as const);
}

/** @param isOfKind whether all requests of a kind cost too much or too little, which is named */
const broken = (actual: string, samples: readonly Sample[], isOfKind = false) => ({
  kind: 'broken' as const,
  isOfKind,
  expected: 'X-RateLimit-Remaining one lower after every request',
  actual,
  readings: samples.map(({ reading }) => reading),
});

/** How many of a kind must agree before their common deviation is the target's and not a neighbour's. */
const AGREEING = 4;

const KINDS: readonly ((reading: RateReading) => string)[] = [
  ({ operation, status }) => `${operation} answered ${status}`,
  ({ operation }) => operation,
  ({ status }) => `status ${status}`,
  () => 'every request',
  ({ path }) => (path.includes('status=') ? 'a list by status' : 'anything but a list by status'),
  ({ path, status }) => (/^\/pets\/-?\d+$/.test(path) && status === 404 ? 'an unknown id' : 'any other'),
  ({ path }) => /limit=\d+/.exec(path)?.[0] ?? 'anything without a limit',
];

/** One that costs more than is left leaves 0, and one that is refused when nothing is left costs nothing. */
const isTelling = ({ from, to, fall }: Step) =>
  !(to.remaining === 0 && fall > 0) && !(from.remaining === 0 && fall === 0 && to.reading.status >= 400);

/** Whether nearly all other requests fall by one; where there are no others, whether there are enough without them. */
const isExceptional = (alike: readonly Step[], others: readonly Step[]): boolean =>
  others.length === 0
    ? alike.length >= 3 * AGREEING
    : others.filter(({ fall }) => fall === 1).length >= others.length * 0.9;

/** Whether so much may have been given back meanwhile that each seems to cost too little. */
function mayBeRefilled(alike: readonly Step[], fall: number): boolean {
  if (fall >= 1) return false;
  const refill = alike.reduce((sum, step) => sum + step.refill, 0);
  const isEnough = refill + 1 >= alike.length * (1 - fall);
  return (isEnough && !standsStill(alike)) || alike.some(({ forgotten }) => forgotten > 0);
}

/** Where every request of a kind deviates in the same way, and nearly no other one deviates, that is no accident. */
function commonDeviation(steps: readonly Step[]) {
  for (const kind of KINDS)
    for (const name of new Set(steps.map(({ to }) => kind(to.reading)))) {
      const isSuch = ({ to }: Step) => kind(to.reading) === name;
      const alike = steps.filter((step) => isSuch(step) && isTelling(step));
      const others = steps.filter((step) => !isSuch(step));
      const [first] = alike;
      if (first === undefined || alike.length < AGREEING) continue;
      const { from, to, fall } = first;
      const deviates = fall !== 1 && alike.every((step) => step.fall === fall);
      if (!deviates || !isExceptional(alike, others) || mayBeRefilled(alike, fall)) continue;
      const fell = fall === 0 ? 'did not fall' : fall < 0 ? `rose by ${-fall}` : `fell by ${fall}`;
      const times = `${alike.length} times of ${alike.length}`;
      return broken(
        `it ${fell} (${from.remaining} to ${to.remaining}) with ${name}, ${times}`,
        [to, from],
        true,
      );
    }
  return undefined;
}

/**
 * Finds more left than the requests in between leave, and no refill that explains it.
 *
 * @param hidden how much of a refill a whole number hides
 */
function risen(steps: readonly Step[], hidden: number) {
  let surplus = 0;
  let first: Sample | undefined;
  let last: Sample | undefined;
  for (const { from, to, refill, forgotten } of steps) {
    // Only steps that follow each other share the fraction that a whole number hides.
    if (from !== last) surplus = 0;
    last = to;
    if (surplus === 0 || first === undefined) first = from;
    // Where nothing is left nothing falls; that a request is admitted all the same is for other rows to judge.
    const least = Math.max(0, from.remaining - (to.counted - from.counted));
    surplus = Math.max(0, surplus + Math.max(0, to.remaining - least - forgotten) - refill);
    if (surplus > hidden)
      return broken(
        `from ${first.remaining} it came to ${to.remaining}, ${to.counted - first.counted} requests later and with no time to be given so much back`,
        [to, first],
      );
  }
  return undefined;
}

/**
 * Finds an answer that leaves more of a window than an earlier one and the requests in between do, whoever else uses the
 * key: other clients leave less, not more; and a sliding window that gives back what they spent moves its Reset on.
 */
function givenInWindow(
  samples: readonly Sample[],
  stepsOf: (some: readonly Sample[]) => readonly Step[],
  hidden: number,
  isStill: boolean,
  step: number,
) {
  const unexpired = samples.filter(
    ({ reading: { reset = 0, date, receivedAt } }) => reset - (date ?? receivedAt) >= UNEXPIRED,
  );
  for (const window of groupBy(unexpired, ({ reading: { limit, reset } }) => `${limit} ${reset}`).values()) {
    const [first, last = first] = [window[0], window.at(-1)];
    if (!isStill && last.reading.sentAt - first.reading.receivedAt <= movedOnAfter(step)) continue;
    const verdict = risen(stepsOf(window), hidden);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** Of what was spent, a sliding counter has given back so much for certain: one, and a half for the seconds. */
const GIVEN_BACK = 1.5;

/**
 * When at least one request that an answer tells as spent is given back again, if its Reset is true. A window that slides
 * by shares is the slowest: from its Reset on it gives back evenly for a minute.
 */
export function surelyGivenBack(
  { limit = 0, remaining = limit, reset = 0 }: RateReading,
  clock: TargetClock,
): number {
  const spent = Math.max(1, limit - remaining);
  return clock.reached(reset + SECOND) + clock.dispute + CLOCKS_APART + (GIVEN_BACK * MINUTE) / spent;
}

/**
 * Finds answers between which Resets of the minute came that gave nothing back: from one to the next Remaining fell by
 * our own requests and by nothing else. Another client may take just what was given back, but not twice, and unseen
 * before.
 */
export function stoodPastReset(
  readings: readonly RateReading[],
  limits: PlanLimits,
  clock: TargetClock,
): readonly RateReading[] {
  const samples = samplesOf(readings, limits).filter(({ reading }) => reading.limit === limits.perMinute);
  let falling: Sample[] = [];
  let stood: readonly RateReading[] = [];
  for (const to of clock.known ? samples : []) {
    const last = falling.at(-1);
    const isOwn =
      last !== undefined &&
      last.unclear === to.unclear &&
      last.remaining - to.remaining === to.counted - last.counted &&
      !wentBack(last.reading, to.reading);
    if (!isOwn) [falling, stood] = [[], []];
    const [first] = stood;
    const since = stood.at(-1)?.sentAt ?? 0;
    const from = falling.find(({ reading }) => {
      const at = surelyGivenBack(reading, clock);
      // What was taken at once of one Reset shows by each answer that told it.
      const isAnother = (reading.reset ?? 0) - (first?.reset ?? 0) > 2 * SECOND;
      return isAnother && at > since && at <= to.reading.sentAt;
    });
    falling.push(to);
    if (from === undefined) continue;
    if (stood.length > 0) return [...stood, to.reading];
    stood = [from.reading, to.reading];
  }
  return [];
}
