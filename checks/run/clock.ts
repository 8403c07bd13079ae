import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Owns the run's time: what it is, and waiting. Times are milliseconds since 1970. */
export interface Clock {
  /** How many of this clock's seconds pass in a real one. */
  readonly speed: number;
  now(): number;
  /** Resolves at `time`, at once if it has passed; rejects when the signal fires. */
  sleepUntil(time: number, signal?: AbortSignal): Promise<void>;
  /** Does work in real time: the clock does not jump ahead meanwhile. */
  during?<T>(work: () => Promise<T>): Promise<T>;
}

/** setTimeout holds at most 2^31 - 1 ms; a longer wait (a day) is slept in pieces. */
export const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * The machine's monotonic time, started at the wall clock and run `speed` times as fast.
 *
 * @param began when a run that is resumed began, by its own clock, and how far that had come: since then its fast clock
 *   and the target's have left the wall clock behind, and no clock goes back
 */
export function createClock(speed = 1, began = Date.now(), last = began): Clock {
  const startedAt = Math.max(last, began + (Date.now() - began) * speed);
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

/** A clock that somebody's work moves on. */
export interface SharedClock extends Clock {
  pass(milliseconds: number): void;
}

/** After so many quiet turns of the event loop nobody is about to send: all that are left wait. */
const QUIET_TURNS = 3;

/**
 * A clock for a run and its target in one process. It goes like the machine's. Where nothing is under way and everybody
 * left is waiting, it jumps ahead to the first moment that somebody waits for.
 *
 * @param moved told how far it is ahead of the machine's before anybody wakes, for a target in another thread
 */
export function sharedClock(moved: (ahead: number) => void = () => undefined): SharedClock {
  const system = createClock();
  const sleeping = new Map<EventEmitter, number>();
  let ahead = 0;
  let underWay = 0;
  let watching = false;
  // With its fractions: of two requests in one millisecond it shows whether one was answered before the other was sent.
  const now = () => system.now() + ahead;

  async function watch(): Promise<void> {
    watching = true;
    for (let quiet = 0; sleeping.size > 0 && underWay === 0; ) {
      const before = sleeping.size;
      await turn();
      quiet = underWay > 0 || sleeping.size !== before ? 0 : quiet + 1;
      if (quiet < QUIET_TURNS) continue;
      const next = Math.min(...sleeping.values());
      ahead += Math.max(0, next - now());
      moved(ahead);
      for (const [alarm, time] of sleeping) if (time <= now()) alarm.emit('ring');
      quiet = 0;
    }
    watching = false;
  }
  const look = () => {
    if (!watching && underWay === 0) void watch();
  };

  return {
    speed: 1,
    now,
    async sleepUntil(time, signal) {
      signal?.throwIfAborted();
      if (time <= now()) return;
      const alarm = new EventEmitter();
      sleeping.set(alarm, time);
      look();
      await once(alarm, 'ring', signal ? { signal } : {}).finally(() => sleeping.delete(alarm));
    },
    pass(milliseconds) {
      ahead += milliseconds;
      moved(ahead);
    },
    async during(work) {
      underWay += 1;
      try {
        return await work();
      } finally {
        underWay -= 1;
        look();
      }
    },
  };
}
