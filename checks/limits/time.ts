/** Lengths of time in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/**
 * How many requests a bucket may show as given back at one moment: it may be refilled once a second, and a whole number
 * hides a fraction.
 */
export function givenAtOnce(perMinute: number): number {
  const inASecond = (perMinute * SECOND) / MINUTE;
  if (inASecond <= 1) return 1;
  return Number.isInteger(inASecond) ? inASecond : inASecond + 1;
}
