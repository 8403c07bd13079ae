/**
 * Judges how many requests a target admitted in one minute: exactly the plan's number, whatever kind of window it has.
 *
 * Four kinds conform: fixed from the first request, aligned to the clock, sliding, and a token bucket. Counted from a
 * key that was at rest, the first three admit exactly L. A bucket also gives back L/60 tokens a second while the
 * requests run. The target's own X-RateLimit-Remaining tells which it is: L requests from rest leave L - 1 down to 0,
 * each value once. Any further answer that leaves 1 or more was paid from a refill.
 */

import { groupBy } from '../../spec/group-by.ts';
import type { PlanLimits } from '../../spec/plans.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import { givenAtOnce, LONGEST_OF_MINUTE, MINUTE } from './time.ts';

/** Errors about a request itself. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422]);

/** Whether the rate limit admitted a request: its answer is below 400, or an error about the request itself. */
export const isAdmittedStatus = (status: number): boolean => status < 400 || OF_THE_REQUEST.has(status);

/** What a count says of the plan's number. */
export type CountVerdict =
  | { readonly kind: 'exact' }
  /** More than the plan's, and no refill, window edge or rounding explains it. */
  | { readonly kind: 'more' }
  /**
   * Fewer than the plan's. What is missing was spent before our first request of the window, or between ours: an
   * answer of ours skipped a value of Remaining, which somebody else then saw.
   */
  | { readonly kind: 'fewer'; readonly before: number; readonly between: number };

export interface WindowCount {
  /** The plan's number. */
  readonly perMinute: number;
  /** The admitted requests, in the order of sending, that fall into the last minute window. */
  readonly admitted: readonly RateReading[];
  /** Every admitted request of the burst, before a window edge too. */
  readonly all: readonly RateReading[];
  readonly verdict: CountVerdict;
}

/** Reset times of two fixed windows lie at least a minute apart; whole seconds may be rounded on both. */
export const WINDOWS_APART = MINUTE - 2000;

/**
 * Keeps what lies after a window edge. Fixed windows that follow each other have resets a minute or more apart and
 * nothing between; the reset of a sliding window or a bucket moves on bit by bit. Resets that lie further apart than the
 * answers and a window can be are wrong, and part nothing.
 */
export function sinceEdge(readings: readonly RateReading[]): readonly RateReading[] {
  const resets = readings.flatMap(({ reset }) => (reset === undefined ? [] : [reset]));
  if (resets.length < readings.length) return readings;
  const ordered = [...new Set(resets)].sort((a, b) => a - b);
  const from = Math.min(...readings.map(({ sentAt }) => sentAt));
  const elapsed = Math.max(...readings.map(({ receivedAt }) => receivedAt)) - from;
  if ((ordered.at(-1) ?? 0) - (ordered[0] ?? 0) > elapsed + MINUTE + 2000) return readings;
  const edge = ordered.findLast((reset, index) => reset - (ordered[index - 1] ?? reset) >= WINDOWS_APART);
  return edge === undefined ? readings : readings.filter(({ reset }) => reset !== undefined && reset >= edge);
}

/**
 * Requests that others made, as far as Remaining tells: values below the first one that no answer of ours showed. A server
 * that reads it as it answers shows one value for several requests that were under way together, and skips as many.
 *
 * @param areLost whether answers were lost: then a value that is shown twice may have hidden one of them
 */
function skippedValues(readings: readonly RateReading[], areLost = false): number {
  const shown = readings.filter(({ remaining }) => remaining !== undefined);
  const answers = groupBy(shown, ({ remaining = 0 }) => remaining);
  if (answers.size === 0) return 0;
  const together = [...answers.values()].flatMap((alike) =>
    alike.slice(1).filter(({ sentAt }, index) => sentAt < (alike[index]?.receivedAt ?? 0)),
  );
  const skipped = Math.max(...answers.keys()) - Math.min(...answers.keys()) + 1 - answers.size;
  return Math.max(0, skipped - (areLost ? 0 : together.length));
}

/**
 * What was left at each of these answers, in the order of sending: from the requests that were answered before it was
 * sent, to those that were sent before it was answered. Requests beside it were counted before it or after.
 */
function leftAt(admitted: readonly RateReading[], perMinute: number) {
  const sent = admitted.map(({ sentAt }) => sentAt);
  const received = admitted.map(({ receivedAt }) => receivedAt).sort((a, b) => a - b);
  const until = (times: readonly number[], time: number) => times.findLastIndex((one) => one <= time) + 1;
  return admitted.map(({ sentAt, receivedAt, remaining = 0 }) => ({
    remaining,
    most: perMinute - 1 - until(received, sentAt),
    least: perMinute - until(sent, receivedAt),
  }));
}

/** Whether each of these answers, in the order of sending, tells what was left while its request was under way. */
export const areLeftThen = (admitted: readonly RateReading[], perMinute: number): boolean =>
  leftAt(admitted, perMinute).every(({ remaining, least, most }) => remaining >= least && remaining <= most);

/** What others had spent before the first of our requests that the target counted, whichever that was of those in flight. */
function spentBefore(admitted: readonly RateReading[], perMinute: number): number {
  const shown = admitted.flatMap(({ remaining }) => remaining ?? []);
  return shown.length < admitted.length ? 0 : Math.max(0, perMinute - 1 - Math.max(...shown));
}

/**
 * Judges a count that started with the key at rest.
 *
 * @param readings every admitted request since the key was at rest, in the order of sending
 * @param perMinute the plan's number
 * @param lost requests whose answers were lost: Remaining tells how many of them were admitted
 */
export function countWindow(readings: readonly RateReading[], perMinute: number, lost = 0): WindowCount {
  const admitted = sinceEdge(readings);
  return { perMinute, admitted, all: readings, verdict: judge(admitted, perMinute, lost) };
}

/** How much a bucket of this plan that refills evenly gives back, and one for the fraction that a whole number hides. */
const couldRefill = (perMinute: number, elapsed: number) => (perMinute * elapsed) / MINUTE + 1;

/** What the second of Date hides of the target's time, the age of its text, and the rounding of Reset. */
const DATE_AND_RESET_ROUNDING = 4000;

/**
 * The reset of a fixed window stands still while it is filled; so does a sliding one's, which is its oldest request's.
 * In a short burst the next token of a bucket stays within one second too: a window's end lies further ahead than that.
 */
function standsStill(admitted: readonly RateReading[], perMinute: number): boolean {
  const [first] = admitted;
  if (first?.reset === undefined || first.date === undefined) return false;
  const nextToken = MINUTE / perMinute + DATE_AND_RESET_ROUNDING;
  return first.reset - first.date > nextToken && admitted.every(({ reset }) => reset === first.reset);
}

/** The most requests that were certainly admitted within one minute, whenever between sending and answer each was. */
function mostInAMinute(admitted: readonly RateReading[]): number {
  const within = (from: number) =>
    admitted.filter(({ sentAt, receivedAt }) => sentAt >= from && receivedAt < from + MINUTE).length;
  return Math.max(...admitted.map(({ sentAt }) => within(sentAt)));
}

/** Below this many tokens a refill cannot be told from its rounding. */
const TELLING_REFILL = 4;

/**
 * How many requests a target may have admitted beyond the plan's number while the window was filled: none where its
 * reset stood still, or where it showed no refill over a time in which a bucket would have; else what a bucket gives.
 */
function refillAllowed(admitted: readonly RateReading[], perMinute: number): number {
  const startedAt = admitted[0]?.sentAt ?? 0;
  const until = (readings: readonly RateReading[]) =>
    Math.max(startedAt, ...readings.map(({ receivedAt }) => receivedAt)) - startedAt;
  const possible = couldRefill(perMinute, until(admitted));
  const atOnce = possible - 1 + givenAtOnce(perMinute);
  if (!admitted.every(({ limit }) => limit === perMinute)) return atOnce;
  if (standsStill(admitted, perMinute)) return 0;
  const leavingSome = admitted.filter(({ remaining }) => (remaining ?? 0) >= 1);
  // What somebody else spent was admitted as well: without it a refill would not show.
  const others = spentBefore(admitted, perMinute) + skippedValues(admitted);
  const refilled = leavingSome.length + others - (perMinute - 1);
  // A bucket shows what it was given at once, except for one token that came right after it was empty.
  if (refilled > 0 || couldRefill(perMinute, until(leavingSome)) < TELLING_REFILL)
    return Math.max(possible, Math.min(atOnce, refilled + 1));
  // No bucket. Of a burst that took longer than a minute, a window that looks back has let go of the beginning.
  return admitted.length - mostInAMinute(admitted);
}

function judge(admitted: readonly RateReading[], perMinute: number, lost: number): CountVerdict {
  if (admitted.length === 0) return { kind: 'fewer', before: 0, between: 0 };
  const allowed = Math.floor(perMinute + refillAllowed(admitted, perMinute));
  if (admitted.length > allowed) return { kind: 'more' };
  const describesMinute = admitted.every(({ limit }) => limit === perMinute);
  const before = describesMinute ? spentBefore(admitted, perMinute) : 0;
  const between = skippedValues(admitted, lost > 0);
  const missing = before + between;
  // What was lost may have been admitted: where it would be too many then, nothing is told.
  const total = admitted.length + (missing <= lost ? missing : 0);
  if (total >= perMinute && total <= allowed) return { kind: 'exact' };
  return { kind: 'fewer', before, between };
}

/**
 * Whether the same value of Remaining came with more than one answer of a window that gives nothing back, and more than
 * was left then. Answers of two operations may bear one value without a race, where each operation has a quota of its own.
 */
export function racingRemaining({ admitted, perMinute }: WindowCount): boolean {
  if (!standsStill(admitted, perMinute)) return false;
  const values = admitted.flatMap(({ operation, remaining }) =>
    remaining === undefined || remaining === 0 ? [] : [`${operation} ${remaining}`],
  );
  // Of what is read as it is answered, requests that were under way together show one value as well, but never too much.
  const isTooMuch = leftAt(admitted, perMinute).some(({ remaining, most }) => remaining > Math.max(0, most));
  return isTooMuch && values.length - new Set(values).size > Math.max(1, admitted.length / 20);
}

/** Whether the answers would have shown that a new window began: headers of the day do not. */
export const showsEdges = ({ admitted, perMinute }: WindowCount): boolean =>
  admitted.every(({ limit }) => limit === perMinute);

/**
 * What the current window still admits: as the target's headers tell of the minute, else by our own count.
 *
 * @param inFlight how many answers may have overtaken each other: the lowest of them is what is left
 */
export function quotaLeft(admitted: readonly RateReading[], perMinute: number, inFlight: number): number {
  const current = sinceEdge(admitted);
  const told = current.filter(({ limit, remaining }) => limit === perMinute && remaining !== undefined);
  const recent = told.slice(-inFlight).map(({ remaining }) => remaining ?? 0);
  return Math.min(perMinute - current.length, ...recent);
}

/** What two rests of about a minute differ by, what was asked meanwhile, and the fractions of a token. */
const BUCKET_ROUNDING = 4;

/** Whether Reset moves on while a window is filled by more than answers take, as only a bucket's does. */
export function movesOn(count: WindowCount): boolean {
  const resets = count.admitted.flatMap(({ reset }) => reset ?? []);
  return Math.max(...resets) - Math.min(...resets) > fillingTime(count.admitted) + DATE_AND_RESET_ROUNDING;
}

/** How long it took to fill a window, in milliseconds. @param readings in the order of sending */
export const fillingTime = (readings: readonly RateReading[]): number =>
  (readings.at(-1)?.receivedAt ?? 0) - (readings[0]?.sentAt ?? 0);

/**
 * Whether two windows fell short in the same way: as many admitted, nobody between our requests, and as much gone
 * before the first. A limit that is too low does that. Another client hardly does so twice.
 */
export function fellShortAlike(a: WindowCount, b: WindowCount): boolean {
  const [x, y] = [a.verdict, b.verdict];
  if (x.kind !== 'fewer' || y.kind !== 'fewer') return false;
  const areBuckets = movesOn(a) && movesOn(b);
  const apart = areBuckets ? BUCKET_ROUNDING : 0;
  // Whoever admits few at once does so bit by bit, if the headers show that nobody else spent the rest.
  const areFew = [a, b].every((one) => one.admitted.length < one.perMinute / 2 && showsEdges(one));
  // A bucket gives back more while it is emptied more slowly.
  const refilled =
    areBuckets || areFew
      ? couldRefill(a.perMinute, Math.max(fillingTime(a.admitted), fillingTime(b.admitted)))
      : 0;
  const near = (one: number, other: number, by = apart) => Math.abs(one - other) <= by;
  return (
    // A window that admits nothing at all is refused for another reason, such as a ban.
    [a, b].every(({ all, admitted }) => all.length === admitted.length && all.length > 0) &&
    near(a.admitted.length, b.admitted.length, apart + refilled) &&
    near(x.before, y.before) &&
    x.between === 0 &&
    y.between === 0
  );
}

/**
 * Whether a window fell short only by requests of this run that a sliding window still counts: a counter for as long as
 * two minutes.
 *
 * @param own what this run was admitted on the key since it was refused
 */
export function heldExplains(
  { verdict, admitted, all, perMinute }: WindowCount,
  own: readonly RateReading[],
): boolean {
  const beganAt = all[0]?.sentAt ?? 0;
  const held = own.filter(
    ({ sentAt, receivedAt }) => sentAt >= beganAt - LONGEST_OF_MINUTE && receivedAt <= beganAt,
  );
  return (
    verdict.kind === 'fewer' &&
    verdict.between === 0 &&
    verdict.before <= held.length &&
    admitted.length + verdict.before === perMinute
  );
}

/**
 * Answers that show the limit of the day with the numbers of a minute, from one window and from the next: the whole
 * minute but one is left, again and again, and never more. A day gives nothing back until it ends, or what was spent a
 * day before. None where the headers describe one window.
 */
export function minuteAsDay(readings: readonly RateReading[], { perMinute, perDay }: PlanLimits) {
  const shown = readings.filter(({ limit, remaining }) => limit === perDay && remaining !== undefined);
  if (perDay <= perMinute || shown.some(({ remaining = 0 }) => remaining >= perMinute)) return [];
  const begins = shown.filter(({ remaining }) => remaining === perMinute - 1);
  const [first] = begins;
  const next = begins.find(({ reset = 0 }) => reset - (first?.reset ?? reset) >= WINDOWS_APART);
  return first === undefined || next === undefined ? [] : [first, next];
}
