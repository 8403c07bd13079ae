import { setTimeout as sleep } from 'node:timers/promises';

/** Owns the run's time: what it is, and waiting. Times are milliseconds since 1970. */
export interface Clock {
  /** How many of this clock's seconds pass in a real one. */
  readonly speed: number;
  now(): number;
  /** Resolves at `time`, at once if it has passed; rejects with the signal's reason when it fires. */
  sleepUntil(time: number, signal?: AbortSignal): Promise<void>;
}

/** setTimeout holds at most 2^31 - 1 ms; a longer wait (a day) is slept in pieces. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** How far the clock of a run that is gone on with had come. */
export interface EarlierTime {
  /** Milliseconds since 1970, by that run's clock. */
  readonly startedAt: number;
  readonly lastAt: number;
}

/**
 * The machine's monotonic time, started at the wall clock and run `speed` times as fast.
 *
 * @param earlier the run that is gone on with: a fast clock has left the wall clock behind since it began, as its
 *   target's has, and no clock goes back
 */
export function createClock(speed = 1, earlier?: EarlierTime): Clock {
  const wall = Date.now();
  const startedAt =
    earlier === undefined
      ? wall
      : Math.max(earlier.lastAt, earlier.startedAt + (wall - earlier.startedAt) * speed);
  const zero = performance.now();
  const now = () => startedAt + (performance.now() - zero) * speed;
  return {
    speed,
    now,
    async sleepUntil(time, signal) {
      signal?.throwIfAborted();
      for (let left = time - now(); left > 0; left = time - now()) {
        await sleep(Math.min(Math.ceil(left / speed), LONGEST_TIMEOUT), undefined, signal ? { signal } : {});
      }
    },
  };
}

/**
 * The time of a run that is judged again, which stands where that run ended and is moved on by waiting alone: what is
 * judged does not depend on when.
 *
 * @param at milliseconds since 1970
 */
export function standingClock(at: number, speed: number): Clock {
  let now = at;
  return {
    speed,
    now: () => now,
    async sleepUntil(time, signal) {
      signal?.throwIfAborted();
      now = Math.max(now, time);
    },
  };
}
