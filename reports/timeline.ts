import type { Trace } from '../checks/run/trace.ts';
import { isAnswered } from '../checks/wire/exchange.ts';
import { groupBy } from '../spec/group-by.ts';
import type { TimelinePoint } from './report.ts';

/** Up to this many requests have a point each. A whole day has a hundred thousand requests and more. */
const MOST_SINGLE = 5_000;
/** Time slots of each key in a longer run: more than its picture shows. */
const SLOTS = 1_600;

/**
 * The exchanges of a run as the rate limit saw them, in the order of receipt.
 *
 * @param banned ids of the answers that were a ban
 */
export function timelineOf(trace: Trace, banned: ReadonlySet<string>, startedAt: number): TimelinePoint[] {
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
 * Merges points that look the same in a picture: of one key, close in time, with the same fate and limit. A merged point
 * stands for `times` requests, so that every count stays the same. It has the time of the first and the lowest
 * `remaining` of all.
 *
 * @param points in the order of receipt; if they are few, they are returned unchanged
 */
export const mergeAlike = (points: readonly TimelinePoint[]): TimelinePoint[] =>
  points.length <= MOST_SINGLE
    ? [...points]
    : [...groupBy(points, ({ key }) => key).values()].flatMap(mergedOfKey).sort((a, b) => a.at - b.at);

function mergedOfKey(points: readonly [TimelinePoint, ...TimelinePoint[]]): TimelinePoint[] {
  const [{ at: from }] = points;
  const slot = Math.max(0.001, ((points.at(-1)?.at ?? from) - from) / SLOTS);
  const alike = groupBy(points, ({ at, status, limit, banned }) =>
    [Math.floor((at - from) / slot), status, limit, banned].join(' '),
  );
  return [...alike.values()].map((group) => {
    const [first] = group;
    if (group.length === 1) return first;
    const left = group.flatMap(({ remaining }) => remaining ?? []);
    return { ...first, remaining: left.length > 0 ? Math.min(...left) : undefined, times: group.length };
  });
}
