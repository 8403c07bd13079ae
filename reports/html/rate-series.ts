import { groupBy } from '../../spec/group-by.ts';
import type { Report, TimelinePoint } from '../report.ts';

/** How many columns a key's picture has, from its first request to its last. */
export const COLUMNS = 400;

/** What became of requests. */
export type Fate = 'admitted' | 'refused' | 'banned' | 'unanswered';

const NONE = { admitted: 0, refused: 0, banned: 0, unanswered: 0 } as const satisfies Record<Fate, number>;

/** What happened to one key's requests in one column of the picture. */
export interface Column extends Readonly<Record<Fate, number>> {
  readonly index: number;
  /** X-RateLimit-Remaining of the last response in the column that had it. */
  readonly remaining?: number;
}

/** A time in which the rate headers named the same Reset. */
export interface RateWindow {
  /** Seconds since the run began: its first request. */
  readonly from: number;
  /** Seconds since the run began: X-RateLimit-Reset. */
  readonly reset: number;
  readonly admitted: number;
  readonly refused: number;
  readonly limit: number | undefined;
  readonly remainingLeast: number | undefined;
}

/** A time in which every request was answered with a ban. */
export interface Ban {
  /** The first request that was banned. */
  readonly from: number;
  /** The first request after the ban; if there is none, the key's last request. */
  readonly until: number;
  /** Whether such a request was seen. */
  readonly ended: boolean;
}

/** Seconds since the run began, and the part of the limit that was left. */
type Left = readonly [at: number, part: number];

/** The part of the picture for one key. */
export interface KeySeries {
  /** The key's name; null for requests without a valid key. */
  readonly key: string | null;
  readonly plan: string | undefined;
  /** The first and the last request, in seconds since the run began, at least one second apart. */
  readonly from: number;
  readonly until: number;
  readonly columns: readonly Column[];
  /**
   * Step line of Remaining, one list for each window, in parts of the limit that the same response names. A target may
   * change from the minute's headers to the day's during a run.
   */
  readonly steps: readonly (readonly Left[])[];
  /** Empty if Reset moves with every request, as with a token bucket or a sliding window: then there are no edges. */
  readonly windows: readonly RateWindow[];
  readonly movingReset: boolean;
  readonly bans: readonly Ban[];
  /** The values of X-RateLimit-Limit, the most frequent first. */
  readonly limits: readonly number[];
  readonly total: Readonly<Record<Fate, number>>;
  /** Requests that are not in the timeline: most of those that spend a day are only counted. */
  readonly onlyCounted: number;
}

/** The timeline by key: the profile's keys in their order, then others, and requests without a valid key. */
export function rateSeries({ run, timeline, requests }: Report): KeySeries[] {
  const byKey = new Map<string | null, readonly TimelinePoint[]>([
    ...run.keys.map(({ name }) => [name, []] as const),
    ...groupBy(timeline, ({ key }) => key),
  ]);
  return [...byKey]
    .filter(([, points]) => points.length > 0)
    .sort(([a], [b]) => Number(a === null) - Number(b === null))
    .map(([key, points]) => {
      const drawn = points.reduce((sum, { times = 1 }) => sum + times, 0);
      const onlyCounted = Math.max(0, (requests.byKey[key ?? '(none)'] ?? 0) - drawn);
      return { ...keySeries(key, points, run.keys.find(({ name }) => name === key)?.plan), onlyCounted };
    });
}

function keySeries(
  key: string | null,
  points: readonly TimelinePoint[],
  plan: string | undefined,
): Omit<KeySeries, 'onlyCounted'> {
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const windows = rateWindows(points);
  const movingReset = windows.length > 8 && resetsMove(windows);
  const total: Record<Fate, number> = { ...NONE };
  for (const point of points) total[fate(point)] += times(point);
  return {
    key,
    plan,
    from,
    until,
    columns: rateColumns(points, from, until),
    steps: remainingSteps(points, movingReset, until),
    windows: movingReset ? [] : windows,
    movingReset,
    bans: bansOf(points, until),
    limits: limitsOf(points),
    total,
  };
}

/** The document's shortest window is a minute. If Resets are closer together, the quota refills. */
const SOONEST_RESET_SECONDS = 30;

/** Whether most Resets follow each other closely. Then there is no fixed window, and edges mean nothing. */
function resetsMove(windows: readonly RateWindow[]): boolean {
  const gaps = windows.slice(1).map(({ reset }, index) => reset - (windows[index]?.reset ?? reset));
  return gaps.filter((gap) => gap < SOONEST_RESET_SECONDS).length > gaps.length / 2;
}

function fate({ banned, status }: TimelinePoint): Fate {
  if (banned === true) return 'banned';
  if (status === 0) return 'unanswered';
  return status === 429 ? 'refused' : 'admitted';
}

const times = (point: TimelinePoint) => point.times ?? 1;

function limitsOf(points: readonly TimelinePoint[]): number[] {
  const seen = new Map<number, number>();
  for (const point of points) {
    const { limit } = point;
    if (limit !== undefined) seen.set(limit, (seen.get(limit) ?? 0) + times(point));
  }
  return [...seen].sort(([, a], [, b]) => b - a).map(([limit]) => limit);
}

function rateColumns(points: readonly TimelinePoint[], from: number, until: number): Column[] {
  const columns = new Map<number, Column>();
  for (const point of points) {
    const index = Math.min(COLUMNS - 1, Math.floor(((point.at - from) / (until - from)) * COLUMNS));
    const before = columns.get(index) ?? { index, ...NONE };
    const kind = fate(point);
    columns.set(index, {
      ...before,
      [kind]: before[kind] + times(point),
      ...(point.remaining === undefined ? {} : { remaining: point.remaining }),
    });
  }
  return [...columns.values()].sort((a, b) => a.index - b.index);
}

/** Resets this close are the same: Reset has whole seconds, and the clock's skew is an estimate. */
const SAME_RESET_SECONDS = 1.5;

const isSameReset = (a: number, b: number) => Math.abs(a - b) <= SAME_RESET_SECONDS;

/** Responses may overtake each other by a window or so. Looking further back would cost too much in a long run. */
const LATEST_WINDOWS = 8;

function rateWindows(points: readonly TimelinePoint[]): RateWindow[] {
  const windows: RateWindow[] = [];
  for (const point of points) {
    const { at, reset, remaining, banned } = point;
    if (reset === undefined || banned === true) continue;
    const latest = windows.slice(-LATEST_WINDOWS);
    const found = latest.findLastIndex((window) => isSameReset(window.reset, reset));
    const before = latest[found];
    const refused = fate(point) === 'refused' ? times(point) : 0;
    const seen = [before?.remainingLeast, remaining].filter((left) => left !== undefined);
    windows[before === undefined ? windows.length : windows.length - latest.length + found] = {
      from: before?.from ?? at,
      reset: before?.reset ?? reset,
      admitted: (before?.admitted ?? 0) + times(point) - refused,
      refused: (before?.refused ?? 0) + refused,
      limit: point.limit ?? before?.limit,
      remainingLeast: seen.length === 0 ? undefined : Math.min(...seen),
    };
  }
  return windows;
}

function remainingSteps(points: readonly TimelinePoint[], movingReset: boolean, until: number): Left[][] {
  const steps: Left[][] = [];
  let current: Left[] = [];
  let reset: number | undefined;
  for (const point of points) {
    if (point.remaining === undefined || !point.limit || point.banned === true) continue;
    const nextWindow = reset !== undefined && point.reset !== undefined && !isSameReset(reset, point.reset);
    if (current.length === 0 || (nextWindow && !movingReset)) {
      const last = current.at(-1);
      // Remaining stays the same until the window ends.
      if (last !== undefined && reset !== undefined) current.push([Math.min(reset, point.at), last[1]]);
      current = [];
      steps.push(current);
    }
    current.push([point.at, point.remaining / point.limit]);
    reset = point.reset ?? reset;
  }
  const last = current.at(-1);
  if (last !== undefined) current.push([Math.min(Math.max(reset ?? last[0], last[0]), until), last[1]]);
  return steps;
}

function bansOf(points: readonly TimelinePoint[], until: number): Ban[] {
  const bans: Ban[] = [];
  let from: number | undefined;
  for (const point of points) {
    const kind = fate(point);
    if (kind === 'banned') {
      from ??= point.at;
    } else if (from !== undefined && kind !== 'unanswered') {
      // Reset may name an earlier end, but it may also still be that of the window.
      bans.push({ from, until: point.at, ended: true });
      from = undefined;
    }
  }
  if (from !== undefined) bans.push({ from, until, ended: false });
  return bans;
}
