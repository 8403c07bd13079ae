/**
 * Judges X-RateLimit-Remaining over a sequence of requests on one key: each admitted request leaves one fewer.
 *
 * Between two answers it may rise when the window resets, as told beforehand; by a token bucket's refill, which is the
 * limit's rate times the time that passed, and one for the fraction that a whole number hides; and by requests of ours
 * that leave a sliding window. It may fall by more than one if another client uses the key: no fault of the target.
 */

import type { RateReading } from '../wire/rate-headers.ts';
import { DAY, givenAtOnce, MINUTE, SECOND } from './time.ts';

/** From an answer on a key beside which nothing of ours was under way to the next one of these. */
interface Step {
  readonly from: RateReading;
  readonly to: RateReading;
  /** What was under way together in between. */
  readonly between: readonly RateReading[];
  /** How much Remaining fell, without one for each of these. */
  readonly fall: number;
  /** How much a bucket may have given back in that time. */
  readonly refill: number;
  /** How many requests a sliding window may have forgotten in that time. */
  readonly forgotten: number;
}

export type RemainingVerdict =
  | { readonly kind: 'falls'; readonly steps: number }
  | {
      readonly kind: 'broken';
      readonly expected: string;
      readonly actual: string;
      readonly readings: readonly RateReading[];
    }
  | { readonly kind: 'disturbed'; readonly reason: string }
  | { readonly kind: 'unseen' };

/** Answers about the request; a refusal for want of quota or a ban spends nothing that can be counted on. */
const counts = ({ status }: RateReading) =>
  status < 500 && status !== 429 && status !== 401 && status !== 403;

/** What a sliding window forgets from one answer to another, counted with a second to either side for rounding. */
const forgottenBy = (
  readings: readonly RateReading[],
  from: RateReading,
  to: RateReading,
  window: number,
): number =>
  readings.filter(
    ({ sentAt, receivedAt }) =>
      receivedAt >= from.sentAt - window - SECOND && sentAt <= to.receivedAt - window + SECOND,
  ).length;

/** The answers beside which no other request of ours was under way. */
function aloneAmong(readings: readonly RateReading[]): ReadonlySet<RateReading> {
  let settledAt = Number.NEGATIVE_INFINITY;
  const alone = readings.filter(({ sentAt, receivedAt }, index) => {
    const isAlone = settledAt <= sentAt && (readings[index + 1]?.sentAt ?? receivedAt) >= receivedAt;
    settledAt = Math.max(settledAt, receivedAt);
    return isAlone;
  });
  return new Set(alone);
}

function steps(
  readings: readonly RateReading[],
  alone: ReadonlySet<RateReading>,
  perMinute: number,
  perDay: number,
): Step[] {
  const result: Step[] = [];
  let from: RateReading | undefined;
  /** What came since `from`: of requests that are under way together nobody knows which was counted first. */
  let together: RateReading[] = [];
  for (const to of readings) {
    together.push(to);
    if (!alone.has(to)) continue;
    const step = from && stepOf(from, together, readings, perMinute, perDay);
    if (step !== undefined) result.push(step);
    from = to;
    together = [];
  }
  return result;
}

/** @param since the answers since `from`, the last of them alone as well */
function stepOf(
  from: RateReading,
  since: readonly RateReading[],
  readings: readonly RateReading[],
  perMinute: number,
  perDay: number,
): Step | undefined {
  const to = since.at(-1);
  const { remaining, limit, reset, sentAt } = from;
  if (to?.remaining === undefined || remaining === undefined || limit === undefined) return undefined;
  if (!counts(from) || !since.every((one) => counts(one) && one.limit === limit)) return undefined;
  // Requests whose answers were lost in between may have been counted.
  if (since.some(({ afterLost }) => afterLost === true)) return undefined;
  // A request whose answer shows no Remaining may not be counted, and Remaining does not fall below 0.
  const between = since.slice(0, -1);
  if (between.length > 0 && (remaining < since.length || since.some((one) => one.remaining === undefined)))
    return undefined;
  const window = limit === perMinute ? MINUTE : limit === perDay ? DAY : undefined;
  if (window === undefined) return undefined;
  // In another window everything may have been given back: Reset then lies most of a window later, or earlier if the
  // target's clock was set back.
  const resetPassed =
    reset !== undefined && to.reset !== undefined && Math.abs(to.reset - reset) > window / 2;
  const elapsed = to.receivedAt - sentAt;
  if (resetPassed || elapsed >= window / 4) return undefined;
  return {
    from,
    to,
    between,
    fall: remaining - to.remaining - between.length,
    refill: (limit * elapsed) / window,
    forgotten: forgottenBy(readings, from, to, window),
  };
}

/** Where nothing is left, Remaining cannot fall. A request that is admitted all the same is for other rows to judge. */
const beyondTheLimit = ({ from, fall }: Step) => from.remaining === 0 && fall === 0;

/** Refused with any status, as by a ban, when nothing was left: such a request takes nothing. */
const refusedWithNothingLeft = (step: Step) => beyondTheLimit(step) && step.to.status >= 400;

/** A request that costs more than is left leaves 0. */
const toTheBottom = ({ to, fall }: Step) => to.remaining === 0 && fall > 0;

/** Whether Reset stands still, as a fixed window's does: a bucket's and a sliding window's move on with each refill. */
const standsStill = (all: readonly Step[]) =>
  all.every(({ from, to }) => from.reset !== undefined && from.reset === to.reset);

/** One for the fraction that the whole number hides, and a half for the time that answers take. */
const HIDDEN_FRACTION = 1.5;
/** A bucket that is refilled once a second hides what it will give back at the end of that second. */
const hiddenBy = (all: readonly Step[], perMinute: number) =>
  standsStill(all) ? HIDDEN_FRACTION : HIDDEN_FRACTION - 1 + givenAtOnce(perMinute);

/** How many of a kind must agree before their common deviation is the target's and not a neighbour's. */
const AGREEING = 4;

type Kind = (reading: RateReading) => string;
const KINDS: readonly Kind[] = [
  ({ operation, status }) => `${operation} answered ${status}`,
  ({ operation }) => operation,
  ({ status }) => `status ${status}`,
  () => 'every request',
  ({ path }) => (path.includes('status=') ? 'a list by status' : 'anything but a list by status'),
  ({ path }) => /limit=\d+/.exec(path)?.[0] ?? 'anything without a limit',
];

/** Whether Remaining fell by at least as much as it would if each such request took so many. */
function fellAsMuch(
  { between, to, fall, refill, from }: Step,
  isSuch: (one: RateReading) => boolean,
  takes: number,
) {
  const such = [...between, to].filter(isSuch).length;
  const mayBeBack = from.reset === to.reset ? 0 : refill + HIDDEN_FRACTION;
  return fall + mayBeBack >= 1 + such * (takes - 1);
}

/** Where every request of a kind deviates in the same way, and nearly no other one deviates, that is no accident. */
function alwaysAlike(all: readonly Step[]): RemainingVerdict | undefined {
  const singly = all.filter(({ between }) => between.length === 0);
  for (const kind of KINDS) {
    for (const name of new Set(singly.map(({ to }) => kind(to)))) {
      const isSuch = (one: RateReading) => kind(one) === name;
      const like = singly.filter(
        (step) => isSuch(step.to) && !toTheBottom(step) && !refusedWithNothingLeft(step),
      );
      const [first] = like;
      if (first === undefined || like.length < AGREEING || first.fall === 1) continue;
      if (!like.every(({ fall }) => fall === first.fall)) continue;
      const others = singly.filter(({ to }) => !isSuch(to));
      const explained =
        others.length === 0
          ? like.length >= 3 * AGREEING
          : others.filter(({ fall }) => fall === 1).length >= others.length * 0.9;
      // Another client may have met each of a few, but hardly also those that were under way together.
      if (
        first.fall > 1 &&
        !all.every((step) => step.between.length === 0 || fellAsMuch(step, isSuch, first.fall))
      )
        continue;
      const refill = like.reduce((sum, step) => sum + step.refill, 0);
      const byRefill =
        first.fall < 1 &&
        ((!standsStill(like) && refill + 1 >= like.length * (1 - first.fall)) ||
          like.some(({ forgotten }) => forgotten > 0));
      if (explained && !byRefill) return brokenBy(name, first, like.length, like.length);
    }
  }
  return undefined;
}

/**
 * Judges the answers of one key, in the order of sending.
 *
 * @param perMinute the plan's requests a minute; X-RateLimit-Limit shows this number or the day's
 * @param perDay the plan's requests a day
 */
export function judgeRemaining(
  readings: readonly RateReading[],
  perMinute: number,
  perDay: number,
): RemainingVerdict {
  const alone = aloneAmong(readings);
  const all = steps(readings, alone, perMinute, perDay);
  if (all.length === 0) return { kind: 'unseen' };
  const runs = runsOf(all);
  const alike = alwaysAlike(all);
  if (alike !== undefined) return alike;
  const drops = all.filter(({ fall }) => fall > 1);
  const stuck = all.filter((step) => step.fall < 1 && step.forgotten === 0 && !beyondTheLimit(step));
  const [first] = stuck;
  // A sliding window counter also counts part of the window before, and gives that back no faster than a bucket would.
  // A fall of 0 that this does not explain is wrong, whoever else spends the key.
  if (first !== undefined && standsStill(all)) {
    const unexplained = stuck.length - all.reduce((sum, step) => sum + step.refill, 0);
    // Each run hides a fraction of its own.
    const among = runs.filter((run) => run.some((step) => stuck.includes(step))).length;
    if (unexplained > among - 1 + HIDDEN_FRACTION)
      return brokenBy('some requests', first, stuck.length, all.length);
  }
  const hidden = hiddenBy(all, perMinute);
  const standing = risenInWindow(readings, alone, perMinute, hidden);
  if (standing !== undefined) return standing;
  // Whoever else spends the key: where this very request was counted, the whole limit cannot be left.
  const whole = all.find(
    ({ to, fall, refill }) => to.remaining === to.limit && fall + refill + hidden < 0 && to.status < 400,
  );
  if (whole !== undefined) return brokenBy('the request that shows it', whole, 1, all.length);
  if (drops.length > 0)
    return {
      kind: 'disturbed',
      reason: `X-RateLimit-Remaining fell by more than our own requests ${drops.length} of ${all.length} times, as if another client were using the key`,
    };
  const [rise] = runs.flatMap((run) => risen(run, hidden) ?? []);
  return rise ?? { kind: 'falls', steps: all.length };
}

/** Steps that follow each other without a gap: only these share the fraction that a whole number hides. */
function runsOf(all: readonly Step[]): readonly (readonly Step[])[] {
  const runs: Step[][] = [];
  for (const step of all) {
    const last = runs.at(-1);
    if (last?.at(-1)?.to.id === step.from.id) last?.push(step);
    else runs.push([step]);
  }
  return runs;
}

const broken = (actual: string, readings: readonly RateReading[]): RemainingVerdict => ({
  kind: 'broken',
  expected: 'X-RateLimit-Remaining one lower after every request',
  actual,
  readings,
});

function brokenBy(name: string, step: Step, times: number, of: number): RemainingVerdict {
  const { from, to, between, fall } = step;
  const fell = fall === 0 ? 'did not fall' : fall < 0 ? `rose by ${-fall}` : `fell by ${fall}`;
  const what =
    between.length > 0
      ? `came from ${from.remaining} to ${to.remaining} over ${between.length + 1} requests`
      : `${fell} (${from.remaining} to ${to.remaining}) with ${name}`;
  return broken(`it ${what}, ${times} times of ${of}`, [to, from]);
}

/** After this time, a Reset that is always a minute ahead has moved on. */
const STANDS_STILL = 2 * SECOND;
/** This long before its end, a window gives nothing back, whoever spent it. */
const UNEXPIRED = 5 * SECOND;

/**
 * Finds an answer that leaves more of a window than an earlier one and the requests in between do. Other clients leave
 * less, not more; and a sliding window that gives back what others spent moves its Reset on.
 */
function risenInWindow(
  readings: readonly RateReading[],
  alone: ReadonlySet<RateReading>,
  perMinute: number,
  hidden: number,
): RemainingVerdict | undefined {
  /** By Reset, the answer that left the least for those after it, and how much that would be before any request. */
  const least = new Map<number, { readonly whole: number; readonly reading: RateReading }>();
  let requests = 0;
  for (const reading of readings) {
    const { sentAt, receivedAt, limit, remaining = 0, reset, date } = reading;
    if (!counts(reading) || reading.operation === 'other') continue;
    requests += 1;
    // Below 0 nothing falls.
    if (!alone.has(reading) || limit !== perMinute || remaining === 0) continue;
    if (reset === undefined || date === undefined || reset - date < UNEXPIRED) continue;
    const whole = remaining + requests;
    const from = least.get(reset);
    if (from === undefined || whole < from.whole) least.set(reset, { whole, reading });
    else {
      const refill = (perMinute * (receivedAt - from.reading.sentAt)) / MINUTE;
      const surplus = whole - from.whole;
      const stands = sentAt - from.reading.receivedAt > STANDS_STILL;
      if (stands && surplus - forgottenBy(readings, from.reading, reading, MINUTE) > refill + hidden)
        return broken(
          `from ${from.reading.remaining} it came to ${remaining}, ${surplus} more than the requests in between leave, with the same X-RateLimit-Reset`,
          [reading, from.reading],
        );
    }
  }
  return undefined;
}

/** Whether Remaining fell, within a run of steps, by less than the requests made, and no refill explains the difference. */
function risen(run: readonly Step[], hidden: number): RemainingVerdict | undefined {
  let surplus = 0;
  let from: Step | undefined;
  for (const step of run) {
    from ??= step;
    if (beyondTheLimit(step)) continue;
    surplus = Math.max(0, surplus + 1 - step.fall - step.forgotten - step.refill);
    if (surplus > hidden) {
      const more = `${Math.round(surplus)} more than the requests in between leave`;
      return broken(`from ${from.from.remaining} it came to ${step.to.remaining}, ${more}`, [
        step.to,
        from.from,
      ]);
    }
    if (surplus === 0) from = undefined;
  }
  return undefined;
}
