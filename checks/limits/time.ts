/** Lengths of time in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/**
 * The longest that a minute's limit keeps a key waiting: a counter that looks back by the share of the minute before is
 * whole again after two. Where the limit resets earlier, the filled minute shows it.
 */
export const LONGEST_OF_MINUTE = 2 * MINUTE;

/**
 * How many requests a bucket may show as given back at one moment: it may be refilled once a second, and a whole number
 * hides a fraction.
 */
export function givenAtOnce(perMinute: number): number {
  const inASecond = (perMinute * SECOND) / MINUTE;
  if (inASecond <= 1) return 1;
  return Number.isInteger(inASecond) ? inASecond : inASecond + 1;
}
