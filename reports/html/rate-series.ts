import type { Report, TimelinePoint } from '../report.ts';

/** How finely a key's picture resolves time: columns from its first request to its last. */
export const COLUMNS = 800;

/** What happened to one key's requests in one column of the picture. */
export interface Column {
  readonly index: number;
  readonly admitted: number;
  readonly refused: number;
  readonly banned: number;
  readonly unanswered: number;
  /** X-RateLimit-Remaining of the last response in the column that had it. */
  readonly remaining?: number;
}

/** A stretch in which the rate headers named the same Reset. */
export interface RateWindow {
  /** Seconds since the run began: its first request. */
  readonly from: number;
  /** Seconds since the run began: X-RateLimit-Reset. */
  readonly reset: number;
  readonly admitted: number;
  readonly refused: number;
  readonly limit?: number;
  readonly remainingLeast?: number;
}

/** A stretch in which every request was answered with a ban. */
export interface Ban {
  /** The first request so answered. */
  readonly from: number;
  /** The first request that was not, by when the ban was over; the key's last request where there was none. */
  readonly until: number;
  /** Whether such a request was seen. */
  readonly ended: boolean;
}

/** One key's share of the picture. */
export interface KeySeries {
  /** The key's name; null for requests without a valid key. */
  readonly key: string | null;
  readonly plan?: string;
  /** Its first and its last request, in seconds since the run began, at least one apart: the picture shows no more. */
  readonly from: number;
  readonly until: number;
  readonly columns: readonly Column[];
  /**
   * Step line of Remaining: [seconds, part of the limit that the same response names], one list per window. Of the
   * limit, because a target may turn from the minute's headers to the day's in the middle of a run.
   */
  readonly steps: readonly (readonly (readonly [at: number, part: number])[])[];
  /** Empty where Reset moves with every request (a refilling or sliding window): then there are no edges to draw. */
  readonly windows: readonly RateWindow[];
  readonly movingReset: boolean;
  readonly bans: readonly Ban[];
  /** The values of X-RateLimit-Limit, the most frequent first. */
  readonly limits: readonly number[];
  readonly total: Omit<Column, 'index' | 'remaining'>;
}

/** The timeline by key: the profile's keys in their order, then others, requests without a valid key last. */
export function rateSeries(report: Report): KeySeries[] {
  const byKey = new Map<string | null, TimelinePoint[]>(report.run.keys.map(({ name }) => [name, []]));
  for (const point of report.timeline) {
    const points = byKey.get(point.key);
    if (points === undefined) byKey.set(point.key, [point]);
    else points.push(point);
  }
  const plans = new Map(report.run.keys.map(({ name, plan }) => [name, plan]));
  return [...byKey]
    .filter(([, points]) => points.length > 0)
    .sort(([a], [b]) => Number(a === null) - Number(b === null))
    .map(([key, points]) => keySeries(key, points, key === null ? undefined : plans.get(key)));
}

function keySeries(
  key: string | null,
  points: readonly TimelinePoint[],
  plan: string | undefined,
): KeySeries {
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const windows = rateWindows(points);
  const movingReset = windows.length > 8 && resetsMove(windows);
  const columns = rateColumns(points, from, until);
  return {
    key,
    ...(plan === undefined ? {} : { plan }),
    from,
    until,
    columns,
    steps: remainingSteps(points, movingReset, until),
    windows: movingReset ? [] : windows,
    movingReset,
    bans: bansOf(points, until),
    limits: limitsOf(points),
    total: columns.reduce(
      (sum, column) => ({
        admitted: sum.admitted + column.admitted,
        refused: sum.refused + column.refused,
        banned: sum.banned + column.banned,
        unanswered: sum.unanswered + column.unanswered,
      }),
      { admitted: 0, refused: 0, banned: 0, unanswered: 0 },
    ),
  };
}

/** The shortest window of the document is a minute; a Reset that follows the last one sooner is one of a refill. */
const SOONEST_RESET_SECONDS = 30;

/** A fixed window keeps its Reset; where most follow one another closely, the quota refills and edges mean nothing. */
function resetsMove(windows: readonly RateWindow[]): boolean {
  const gaps = windows.slice(1).map(({ reset }, index) => reset - (windows[index]?.reset ?? reset));
  return gaps.filter((gap) => gap < SOONEST_RESET_SECONDS).length > gaps.length / 2;
}

type Fate = 'admitted' | 'refused' | 'banned' | 'unanswered';

function fate(point: TimelinePoint): Fate {
  if (point.banned === true) return 'banned';
  if (point.status === 0) return 'unanswered';
  return point.status === 429 ? 'refused' : 'admitted';
}

/** How many exchanges a point stands for. */
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
    const index = Math.min(
      COLUMNS - 1,
      Math.max(0, Math.floor(((point.at - from) / (until - from)) * COLUMNS)),
    );
    const before = columns.get(index) ?? { index, admitted: 0, refused: 0, banned: 0, unanswered: 0 };
    const kind = fate(point);
    columns.set(index, {
      ...before,
      [kind]: before[kind] + times(point),
      ...(point.remaining === undefined ? {} : { remaining: point.remaining }),
    });
  }
  return [...columns.values()].sort((a, b) => a.index - b.index);
}

/** Reset is in whole seconds and relative to a clock with skew: values this close are the same. */
const SAME_RESET_SECONDS = 1.5;

function sameReset(a: number, b: number): boolean {
  return Math.abs(a - b) <= SAME_RESET_SECONDS;
}

/** Responses overtake one another by a window or so; looking further back would cost a long run its linear time. */
function recentWindow(windows: readonly RateWindow[], reset: number): number {
  for (let index = windows.length - 1; index >= Math.max(0, windows.length - 8); index -= 1) {
    const window = windows[index];
    if (window !== undefined && sameReset(window.reset, reset)) return index;
  }
  return -1;
}

function rateWindows(points: readonly TimelinePoint[]): RateWindow[] {
  const windows: RateWindow[] = [];
  for (const point of points) {
    if (point.reset === undefined || point.banned === true) continue;
    const index = recentWindow(windows, point.reset);
    const before = index < 0 ? undefined : windows[index];
    const refused = fate(point) === 'refused' ? times(point) : 0;
    const least = Math.min(
      before?.remainingLeast ?? Number.POSITIVE_INFINITY,
      point.remaining ?? Number.POSITIVE_INFINITY,
    );
    const limit = point.limit ?? before?.limit;
    const after: RateWindow = {
      from: before?.from ?? point.at,
      reset: before?.reset ?? point.reset,
      admitted: (before?.admitted ?? 0) + times(point) - refused,
      refused: (before?.refused ?? 0) + refused,
      ...(limit === undefined ? {} : { limit }),
      ...(Number.isFinite(least) ? { remainingLeast: least } : {}),
    };
    if (index < 0) windows.push(after);
    else windows[index] = after;
  }
  return windows;
}

function remainingSteps(
  points: readonly TimelinePoint[],
  movingReset: boolean,
  until: number,
): (readonly [number, number])[][] {
  const steps: (readonly [number, number])[][] = [];
  let current: (readonly [number, number])[] = [];
  let reset: number | undefined;
  for (const point of points) {
    if (point.remaining === undefined || !point.limit || point.banned === true) continue;
    const nextWindow = reset !== undefined && point.reset !== undefined && !sameReset(reset, point.reset);
    if (current.length === 0 || (nextWindow && !movingReset)) {
      const last = current.at(-1);
      // What was left stays left until the window ends.
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
      // Reset would name an earlier end, but where a ban leaves the window alone it speaks of the window.
      bans.push({ from, until: point.at, ended: true });
      from = undefined;
    }
  }
  if (from !== undefined) bans.push({ from, until, ended: false });
  return bans;
}
