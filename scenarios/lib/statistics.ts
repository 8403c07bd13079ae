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

/** The standard deviation of the number of pairs in which one of two samples is larger, if chance alone decides it. */
export const pairsDeviation = (n: number, m: number): number => Math.sqrt((n * m * (n + m + 1)) / 12);

/**
 * Wilcoxon's rank test as Mann and Whitney put it: by how many standard deviations more pairs than half have the larger
 * value in `head`. Ties count half, and the continuity of the normal distribution another half.
 */
export function rankShift(base: readonly number[], head: readonly number[]): number {
  const [n, m] = [head.length, base.length];
  const larger = sum(head.flatMap((late) => base.map((early) => (Math.sign(late - early) + 1) / 2)));
  return (larger - (n * m) / 2 - 0.5) / pairsDeviation(n, m);
}

/** The slope of the straight line with the least squares through points, and the standard error of that slope. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): {
  readonly slope: number;
  readonly error: number;
} {
  const centre = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))] as const;
  const spread = sum(points.map(([x]) => (x - centre[0]) ** 2));
  const slope = sum(points.map(([x, y]) => (x - centre[0]) * (y - centre[1]))) / spread;
  const residual = sum(points.map(([x, y]) => (y - centre[1] - slope * (x - centre[0])) ** 2));
  return { slope, error: Math.sqrt(residual / (points.length - 2) / spread) };
}
