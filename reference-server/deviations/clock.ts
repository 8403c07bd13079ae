import type { Clock } from '../clock.ts';
import { REMOVAL } from '../operations.ts';
import type { Deviation } from './deviation.ts';

/** A time at which the removal date of GET /pets/{petId} is past in every time zone. */
export const AFTER_REMOVAL = REMOVAL + 30 * 86_400_000;

/** A clock that is ahead of or behind another one by a fixed time. */
export function shiftedClock(clock: Clock, milliseconds: number): Clock {
  return { now: () => clock.now() + milliseconds, speed: clock.speed };
}

/** The server in the days after the removal. */
export const afterRemoval: Deviation = ({ clock }) => ({
  clock: shiftedClock(clock, AFTER_REMOVAL - clock.now()),
});
