import { type Exchange, isAnswered } from '../checks/wire/exchange.ts';
import type { RateReading } from '../checks/wire/rate-headers.ts';
import type { TimelinePoint } from './report.ts';

/** Up to this many requests have a point each. A whole day has a hundred thousand requests and more. */
const MOST_SINGLE = 5_000;
/** Time slots of each key in a longer run: more than its picture shows. */
const SLOTS = 1_600;
/** Resets this close look the same in the picture. With a refilling quota every answer names another one. */
const SAME_RESET_SECONDS = 2;

/** The part of a run's trace that a timeline needs. */
export interface TimedTrace {
  readonly exchanges: readonly Exchange[];
  readonly readings: readonly RateReading[];
  readonly targetClock: { readonly skew: number | undefined };
}

/**
 * The exchanges of a run as the rate limit saw them, in the order of receipt.
 *
 * @param banned ids of the answers that were a ban
 */
export function timelineOf(
  trace: TimedTrace,
  banned: ReadonlySet<string>,
  startedAt: number,
): TimelinePoint[] {
  const skew = trace.targetClock.skew ?? 0;
  const seconds = (time: number) => Math.round(time - startedAt) / 1000;
  const answered = trace.readings.map(
    ({ id, receivedAt, key, operation, status, limit, remaining, reset }) => ({
      at: seconds(receivedAt),
      ...{ key, operation, status, limit, remaining },
      reset: reset && seconds(reset - skew),
      banned: banned.has(id) || undefined,
    }),
  );
  const failed = trace.exchanges
    .filter((exchange) => !isAnswered(exchange))
    .map((exchange) => ({
      at: seconds(exchange.receivedAt),
      key: exchange.key,
      operation: exchange.request.operation,
      status: 0,
    }));
  return mergeAlike([...answered, ...failed].sort((a, b) => a.at - b.at));
}

/**
 * Merges points that look the same in a picture: of one key, close in time, with the same fate, limit and reset. A
 * merged point stands for `times` requests. It has the time of the first and the lowest `remaining` of all, so that
 * every count and edge in the picture stays the same.
 *
 * @param points in the order of receipt; if they are few, they are returned unchanged
 */
export function mergeAlike(points: readonly TimelinePoint[]): TimelinePoint[] {
  if (points.length <= MOST_SINGLE) return [...points];
  const spans = new Map<string | null, { readonly from: number; readonly until: number }>();
  for (const { key, at } of points) spans.set(key, { from: spans.get(key)?.from ?? at, until: at });
  const groups = new Map<string, TimelinePoint>();
  for (const point of points) {
    const { at, key, operation, status, limit, reset, banned } = point;
    const { from, until } = spans.get(key) ?? { from: at, until: at };
    const slot = Math.max(0.001, (until - from) / SLOTS);
    const nearReset = reset && Math.round(reset / Math.max(slot, SAME_RESET_SECONDS));
    const alike = [Math.floor((at - from) / slot), key, operation, status, limit, nearReset, banned].join(
      ' ',
    );
    const before = groups.get(alike);
    groups.set(alike, before === undefined ? point : mergePoints(before, point));
  }
  return [...groups.values()];
}

function mergePoints(first: TimelinePoint, next: TimelinePoint): TimelinePoint {
  const left = [first.remaining, next.remaining].filter((value) => value !== undefined);
  const remaining = left.length === 0 ? {} : { remaining: Math.min(...left) };
  return { ...first, ...remaining, times: (first.times ?? 1) + (next.times ?? 1) };
}
