/** Lengths of time in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;
