import { type Exchange, isAnswered } from '../checks/wire/exchange.ts';
import type { RateReading } from '../checks/wire/rate-headers.ts';
import type { TimelinePoint } from './report.ts';

/** A run of this many requests is kept request by request; a day's are a hundred thousand and more. */
const MOST_SINGLE = 5_000;
/** How finely each key's part of a longer run is kept: more finely than its picture shows it. */
const SLOTS = 1_600;
/** Resets this close are the same to whoever draws them; of a refilling quota every answer names another one. */
const SAME_RESET_SECONDS = 2;

/** What a timeline takes from a run's trace. */
export interface TimedTrace {
  readonly exchanges: readonly Exchange[];
  readonly readings: readonly RateReading[];
  readonly targetClock: { readonly skew: number | undefined };
}

/**
 * What a run exchanged as the rate limit saw it, in the order of receipt.
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
  const answered = trace.readings.map((reading) => ({
    at: seconds(reading.receivedAt),
    key: reading.key,
    operation: reading.operation,
    status: reading.status,
    ...(reading.limit === undefined ? {} : { limit: reading.limit }),
    ...(reading.remaining === undefined ? {} : { remaining: reading.remaining }),
    ...(reading.reset === undefined ? {} : { reset: seconds(reading.reset - skew) }),
    ...(banned.has(reading.id) ? { banned: true } : {}),
  }));
  const failed = trace.exchanges
    .filter((exchange) => !isAnswered(exchange))
    .map((exchange) => ({
      at: seconds(exchange.receivedAt),
      key: exchange.key,
      operation: exchange.request.operation,
      status: 0,
    }));
  return thinned([...answered, ...failed].sort((a, b) => a.at - b.at));
}

/**
 * Puts points together that nobody could tell apart in a picture: of one key, close in time, with the same fate, limit
 * and reset. Such a point stands for `times` requests, is as early as the first of them and leaves as little as the
 * lowest, so that every count and edge that is drawn or listed stays what it was.
 *
 * @param points in the order of receipt; few enough are returned as they are
 */
export function thinned(points: readonly TimelinePoint[]): TimelinePoint[] {
  if (points.length <= MOST_SINGLE) return [...points];
  const spans = new Map<string | null, { readonly from: number; readonly until: number }>();
  for (const { key, at } of points) spans.set(key, { from: spans.get(key)?.from ?? at, until: at });
  const groups = new Map<string, TimelinePoint>();
  for (const point of points) {
    const { at, key, operation, status, limit, reset, banned } = point;
    const { from, until } = spans.get(key) ?? { from: at, until: at };
    const slot = Math.max(0.001, (until - from) / SLOTS);
    const resetStep = Math.max(slot, SAME_RESET_SECONDS);
    const alike = JSON.stringify([
      Math.floor((at - from) / slot),
      key,
      operation,
      status,
      limit,
      reset === undefined ? undefined : Math.round(reset / resetStep),
      banned,
    ]);
    const before = groups.get(alike);
    groups.set(alike, before === undefined ? point : together(before, point));
  }
  return [...groups.values()];
}

function together(first: TimelinePoint, next: TimelinePoint): TimelinePoint {
  const remaining = Math.min(
    first.remaining ?? Number.POSITIVE_INFINITY,
    next.remaining ?? Number.POSITIVE_INFINITY,
  );
  return {
    ...first,
    ...(Number.isFinite(remaining) ? { remaining } : {}),
    times: (first.times ?? 1) + (next.times ?? 1),
  };
}
