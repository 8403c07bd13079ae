/** The few statistics that loads are judged by. */

export const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The value below which a part of the values lies; between two of them in proportion. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = part * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * By how much the values of `head` are larger, as Hodges and Lehmann estimate it: the median of all differences, and the
 * ends of its interval. The interval is without 0 where Wilcoxon's rank test, as Mann and Whitney put it, is certain.
 *
 * @param deviations how many standard deviations the interval reaches to each side: 1.96 for 95 %
 */
export function shiftOf(base: readonly number[], head: readonly number[], deviations: number) {
  const shifts = head.flatMap((late) => base.map((early) => late - early));
  const deviation = Math.sqrt((head.length + base.length + 1) / (12 * shifts.length));
  const at = (reach: number) => quantile(shifts, Math.min(1, Math.max(0, 0.5 + reach)));
  return { low: at(-deviations * deviation), middle: at(0), high: at(deviations * deviation) };
}

/** The slope of the straight line with the least squares through points, and the standard error of that slope. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]) {
  const centre = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))] as const;
  const spread = sum(points.map(([x]) => (x - centre[0]) ** 2));
  const slope = sum(points.map(([x, y]) => (x - centre[0]) * (y - centre[1]))) / spread;
  const residual = sum(points.map(([x, y]) => (y - centre[1] - slope * (x - centre[0])) ** 2));
  return { slope, error: Math.sqrt(residual / (points.length - 2) / spread) };
}
