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

/** The machine's monotonic time, started at the wall clock and run `speed` times as fast. */
export function createClock(speed = 1): Clock {
  const startedAt = Date.now();
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
