/**
 * Judges how many requests a target admitted in one minute: exactly the plan's number, whatever kind of window it has.
 *
 * Four kinds conform: fixed from the first request, aligned to the clock, sliding, and a token bucket. Counted from a
 * key that was at rest, the first three admit exactly L. A bucket also gives back L/60 tokens a second while the
 * requests run. Which it is, the target's own X-RateLimit-Remaining tells: L requests that start at rest leave L - 1
 * down to 0, one value each; every further answer that leaves 1 or more was paid from a refill.
 */
import { MINUTE } from './key-pool.ts';
import type { RateReading } from './rate-headers.ts';

/** What a count says of the plan's number. */
export type CountVerdict =
  | { readonly kind: 'exact' }
  /** More than the plan's, and no refill, window edge or rounding explains it. */
  | { readonly kind: 'more'; readonly allowed: number }
  /**
   * Fewer than the plan's. What is missing was spent before our first request of the window, or between ours: an
   * answer of ours skipped a value of Remaining, which somebody else then saw.
   */
  | { readonly kind: 'fewer'; readonly before: number; readonly between: number };

export interface WindowCount {
  /** The admitted requests, in the order of sending, that fall into the last minute window. */
  readonly admitted: readonly RateReading[];
  /** Every admitted request of the burst, before a window edge too. */
  readonly all: readonly RateReading[];
  readonly verdict: CountVerdict;
}

/** Reset times of two fixed windows lie at least a minute apart; whole seconds may be rounded on both. */
const WINDOWS_APART = MINUTE - 2000;

/**
 * Keeps what lies after a window edge. Fixed windows that follow each other have resets a minute or more apart and
 * nothing between; the reset of a sliding window or a bucket moves on bit by bit.
 */
export function sinceEdge(readings: readonly RateReading[]): readonly RateReading[] {
  const resets = readings.flatMap(({ reset }) => (reset === undefined ? [] : [reset]));
  if (resets.length < readings.length) return readings;
  const ordered = [...new Set(resets)].sort((a, b) => a - b);
  const edge = ordered.findLast((reset, index) => reset - (ordered[index - 1] ?? reset) >= WINDOWS_APART);
  return edge === undefined ? readings : readings.filter(({ reset }) => reset !== undefined && reset >= edge);
}

/** Requests that others made, as far as Remaining tells: values below the first one that no answer of ours showed. */
function skippedValues(readings: readonly RateReading[]): number {
  const shown = new Set(readings.flatMap(({ remaining }) => (remaining === undefined ? [] : [remaining])));
  if (shown.size === 0) return 0;
  const highest = Math.max(...shown);
  const lowest = Math.min(...shown);
  return highest - lowest + 1 - shown.size;
}

/**
 * Judges a count that started with the key at rest.
 *
 * @param readings every admitted request since the key was at rest, in the order of sending
 * @param perMinute the plan's number
 */
export function countWindow(readings: readonly RateReading[], perMinute: number): WindowCount {
  const admitted = sinceEdge(readings);
  return { admitted, all: readings, verdict: judge(admitted, perMinute) };
}

function judge(admitted: readonly RateReading[], perMinute: number): CountVerdict {
  const first = admitted[0];
  if (first === undefined) return { kind: 'fewer', before: 0, between: 0 };
  const elapsed = Math.max(...admitted.map(({ receivedAt }) => receivedAt)) - first.sentAt;
  // A bucket that gives back continuously may have one more token than the whole number says.
  const couldRefill = (perMinute * elapsed) / MINUTE + 1;
  const describesMinute = admitted.every(({ limit }) => limit === perMinute);
  const leavingSome = admitted.filter(({ remaining }) => (remaining ?? 0) >= 1).length;
  const refillTold = describesMinute ? leavingSome - (perMinute - 1) : couldRefill;
  const refill = Math.max(0, Math.min(couldRefill, refillTold > 0 ? refillTold + 1 : 0));
  const allowed = Math.floor(perMinute + refill);
  if (admitted.length > allowed) return { kind: 'more', allowed };
  if (admitted.length >= perMinute) return { kind: 'exact' };
  const before = describesMinute && first.remaining !== undefined ? Math.max(0, perMinute - 1 - first.remaining) : 0;
  return { kind: 'fewer', before, between: skippedValues(admitted) };
}

/** Whether the same value of Remaining came with more than one answer of a window that gives nothing back. */
export function racingRemaining({ admitted }: WindowCount): boolean {
  const values = admitted.flatMap(({ remaining }) => (remaining === undefined || remaining === 0 ? [] : [remaining]));
  return values.length - new Set(values).size > Math.max(1, admitted.length / 20);
}
