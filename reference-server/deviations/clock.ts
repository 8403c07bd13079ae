import { REMOVAL } from '../operations.ts';
import type { Deviation } from './deviation.ts';

/** A time at which the removal date of GET /pets/{petId} is past in every time zone. */
export const AFTER_REMOVAL = REMOVAL + 30 * 86_400_000;

/** A clock that is off, perhaps from a time on; everything that the server says of time goes by it. */
export const clockOffBy =
  (milliseconds: (elapsed: number, startedAt: number) => number): Deviation =>
  ({ clock }) => {
    const startedAt = clock.now();
    const off = (now: number) => now + milliseconds(now - startedAt, startedAt);
    return { clock: { ...clock, now: () => off(clock.now()) } };
  };

/** The server in the days after the removal. */
export const afterRemoval = clockOffBy((_elapsed, startedAt) => AFTER_REMOVAL - startedAt);
