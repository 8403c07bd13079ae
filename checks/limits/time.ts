/** Lengths of time in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/**
 * The longest that a minute's limit keeps a key waiting: a counter that looks back by the share of the minute before is
 * whole again after two. Where the limit resets earlier, the filled minute shows it.
 */
export const LONGEST_OF_MINUTE = 2 * MINUTE;

/** A bucket may be refilled in steps: the longest that we take for one. */
export const LONGEST_STEP = 10 * SECOND;

/**
 * How many requests a bucket may show as given back at one moment: those of a step, and a whole number hides a fraction.
 *
 * @param step in milliseconds
 */
export function givenAtOnce(perMinute: number, step = LONGEST_STEP): number {
  const inAStep = (perMinute * step) / MINUTE;
  if (inAStep <= 1) return 1;
  return Number.isInteger(inAStep) ? inAStep : inAStep + 1;
}
