/** How long a run may take: what it declares before it begins, and keeps. */

import { setMaxListeners } from 'node:events';
import { MINUTE } from '../limits/time.ts';
import { TimeIsOver } from '../wire/time-is-over.ts';
import type { Bill } from './bill.ts';

/** How long a ban is waited out, by the target's clock; one that says it lasts longer is not waited for. */
export const LONGEST_BAN = 15 * MINUTE;

/** Of what the bill foresees, so many times are granted: a window that was disturbed is counted again. */
const TIMES_FORESEEN = 2;
/** Real time for what no bill foresees: answers that take seconds, somebody else on the keys, a target that restarts. */
const ROOM = 10 * MINUTE;

/**
 * The longest that a run with this bill goes on, in real milliseconds. Each exchange has its own limits; a target that
 * uses them up every time (an answer of nine seconds, a byte a second) would make hours of a few hundred exchanges.
 *
 * @param speed of the target's clock
 */
export function longestRun({ time, waitsForBan }: Pick<Bill, 'time' | 'waitsForBan'>, speed: number): number {
  const ban = waitsForBan ? LONGEST_BAN : 0;
  return (TIMES_FORESEEN * time + ban) / speed + ROOM;
}

/** How long a run may take in all, in real milliseconds. */
export interface TimeLimit {
  readonly longest: number;
  /** What of it had passed when the run began: the process's own start. */
  readonly taken: number;
}

/** Kept back of the time, a tenth of it at most: what was measured is to be written down within it, too. */
const FOR_REPORTS = 10_000;
/** A timer holds no more milliseconds: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

const measuringTime = ({ longest, taken }: TimeLimit): number =>
  Math.min(LONGEST_TIMER, Math.max(0, longest - taken - Math.min(FOR_REPORTS, longest / 10)));

/**
 * Lets a run's time begin.
 *
 * @param limit undefined for a run that may take what it takes
 * @param interrupted ends the run as well
 * @returns what fires when the run is interrupted, or its time is over; its reason says which
 */
export function runTime(limit: TimeLimit | undefined, interrupted: AbortSignal | undefined): AbortSignal {
  const ending = new AbortController();
  // Once nothing waits for it any more, no process does.
  if (limit !== undefined)
    setTimeout(() => ending.abort(new TimeIsOver(limit.longest)), measuringTime(limit)).unref();
  const signal = AbortSignal.any([ending.signal, ...(interrupted === undefined ? [] : [interrupted])]);
  // Every request in flight listens.
  setMaxListeners(0, signal);
  return signal;
}
