import type { Clock } from '../clock.ts';

/** A clock that is ahead of another one, or behind it, by a fixed time. */
export function shiftedClock(clock: Clock, milliseconds: number): Clock {
  return { now: () => clock.now() + milliseconds, speed: clock.speed };
}
