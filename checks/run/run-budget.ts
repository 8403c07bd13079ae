/** What a run spends, as a play of it against the embedded server showed, and how long it may take: declared, and kept. */

import { setMaxListeners } from 'node:events';
import { MINUTE } from '../limits/time.ts';
import type { Key } from '../profile/key.ts';
import { TimeIsOver } from '../wire/time-is-over.ts';
import { LONGEST_TIMEOUT } from './clock.ts';
import type { Trace } from './trace.ts';

/** What a run spends on one key. */
export interface KeyBill {
  readonly key: Key;
  readonly requests: number;
  /** Requests that are to be refused with 429, among them. */
  readonly refusals: number;
  /** Whether a whole minute of it is used up. */
  readonly exhausted: boolean;
}

/** What a run spends: as measured on a target that counts exactly and answers everything, and at most. */
export interface Bill {
  readonly keys: readonly KeyBill[];
  /** Requests that carry no valid key. */
  readonly anonymous: number;
  readonly requests: number;
  /** With everything that confirms what looks wrong. The run sends no more. */
  readonly mostRequests: number;
  readonly animals: number;
  /** On a target that takes what it must refuse, too. */
  readonly mostAnimals: number;
  /** By the target's clock, in milliseconds, without the ban. */
  readonly time: number;
  /** A ban is provoked: its length, which only the target knows, comes on top. */
  readonly waitsForBan: boolean;
  /** Why the plan cannot be paid; empty where it can. */
  readonly unpayable: readonly string[];
}

/** A play of the run, all but the days. */
interface DryPlay {
  readonly trace: Pick<Trace, 'run' | 'readings' | 'requestsByKey'>;
  /** By the simulated clock, in milliseconds. */
  readonly took: number;
  /** The keys with their plans' own numbers: a large minute may have been played with fewer requests. */
  readonly keys: readonly Key[];
  readonly days: readonly Key[];
  readonly waitsForBan: boolean;
}

/** A round trip to a target that is not in the same building. */
const ROUND_TRIP = 100;
/** Requests of a burst that are under way at the same time, at least. */
const TOGETHER = 4;
/** How far beyond its quota a day is spent, at most. */
const BEYOND_DAY = 20;
/** Each answer may have to be confirmed, each window to be counted again; one of a limit that races holds more. */
const TIMES_CONFIRMED = 3;
/** Confirmations that do not depend on how much is sent: a few questions for each of the rows. */
const CONFIRMATIONS = 100;
/** How many additions of a run are sent again, where their answers are lost: each may leave an animal more. */
export const ADDITIONS_REPEATED = 8;

/** Adds up what a dry play sent, and the days by their plans' numbers. */
export function billOf({ keys: all, trace, took, days, waitsForBan }: DryPlay): Bill {
  const { readings, requestsByKey } = trace;
  const dayOf = (key: Key) => (days.includes(key) ? key.limits.perDay + BEYOND_DAY : 0);
  const keys = all.map((key): KeyBill => {
    const own = readings.filter((reading) => reading.key === key.name);
    const isFilled = own.some((reading) => reading.intent === 'fill');
    const minute = trace.run.keys.find(({ name }) => name === key.name)?.limits.perMinute ?? 0;
    const played = (requestsByKey.get(key.name) ?? 0) + (isFilled ? key.limits.perMinute - minute : 0);
    return {
      key,
      // The day counts every request of the run, whatever it was for.
      requests: Math.max(played, dayOf(key)),
      refusals: own.filter(({ status }) => status === 429).length + Math.min(1, dayOf(key)),
      exhausted: isFilled || dayOf(key) > 0,
    };
  });
  const anonymous = requestsByKey.get('(none)') ?? 0;
  const requests = keys.reduce((sum, bill) => sum + bill.requests, anonymous);
  const inBursts = readings.filter((reading) => reading.intent !== 'ordinary').length;
  const additions = readings.filter(({ operation }) => operation === 'createPet');
  const dayTimes = days.map(({ limits }) => Math.ceil(limits.perDay / limits.perMinute) * MINUTE);
  return {
    keys,
    anonymous,
    requests,
    mostRequests: TIMES_CONFIRMED * requests + CONFIRMATIONS,
    animals: additions.filter(({ status }) => status === 201).length,
    mostAnimals: additions.length === 0 ? 0 : additions.length + ADDITIONS_REPEATED,
    time:
      Math.max(took, ...dayTimes) +
      (readings.length - inBursts) * ROUND_TRIP +
      (inBursts * ROUND_TRIP) / TOGETHER,
    waitsForBan,
    unpayable: keys.flatMap(({ key, requests: spent }) =>
      days.includes(key) || spent <= key.limits.perDay
        ? []
        : [`key ${key.name} would spend ${spent} requests, but its plan allows ${key.limits.perDay} a day`],
    ),
  };
}

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

const measuringTime = ({ longest, taken }: TimeLimit): number =>
  Math.min(LONGEST_TIMEOUT, Math.max(0, longest - taken - Math.min(FOR_REPORTS, longest / 10)));

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
