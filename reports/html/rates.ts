/** The rate limits of each key over time: what X-RateLimit-Remaining said, and what became of the requests. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { groupBy } from '../../spec/group-by.ts';
import { count, duration, grouped } from '../facts.ts';
import type { Report, TimelinePoint } from '../report.ts';
import { BLUE, boxes, chart, GREEN, GREY, legend, linear, ORANGE, pathHtml, RED, timeAxis } from './chart.ts';
import { area, curveStepAfter } from './d3.ts';
import { tableHtml } from './table.ts';

/** How many columns a key's picture has, from its first request to its last. */
const COLUMNS = 400;
/** More pictures would be too many; the other keys are in the numbers. */
const MOST_KEYS = 12;
/** Resets this close are the same: Reset has whole seconds, and the clock's skew is an estimate. */
const SAME_RESET_SECONDS = 1.5;
/** Responses may overtake each other by a window or so. */
const LATEST_WINDOWS = 8;
/** With more windows than this the edges would be a solid block. */
const MOST_EDGES = 60;
const MOST_LISTED = 60;

/** What became of requests; the first one is drawn upwards. */
const FATES = { admitted: 'answered', refused: 'refused (429)', banned: 'banned', unanswered: 'no answer' };
type Fate = keyof typeof FATES;
const FATE_NAMES = ['admitted', 'refused', 'banned', 'unanswered'] as const satisfies readonly Fate[];
const DOWN = ['refused', 'banned', 'unanswered'] as const satisfies readonly Fate[];
const COLOURS = { admitted: GREEN, refused: RED, banned: ORANGE, unanswered: GREY } as const;
const RESET = { colour: GREY, dash: '6 4' };
const NONE: Readonly<Record<Fate, number>> = { admitted: 0, refused: 0, banned: 0, unanswered: 0 };

/** A time in which the rate headers named the same Reset. */
interface RateWindow {
  readonly from: number;
  readonly reset: number;
  readonly admitted: number;
  readonly refused: number;
  readonly limit: number | undefined;
  readonly least: number | undefined;
}

/** One key's requests. Times are in seconds since the run began. */
export interface KeySeries {
  /** Null for requests without a valid key. */
  readonly key: string | null;
  readonly from: number;
  readonly until: number;
  /** What became of the requests of each column, by its number. */
  readonly columns: ReadonlyMap<number, Readonly<Record<Fate, number>>>;
  /** What was left of the limit that the same answer names, from 0 to 1, and when. */
  readonly left: readonly (readonly [at: number, part: number])[];
  readonly windows: readonly RateWindow[];
  readonly total: Readonly<Record<Fate, number>>;
}

/** The timeline by key: the profile's keys in their order, then others, and requests without a valid key. */
export function rateSeries({ run, timeline }: Report): KeySeries[] {
  const byKey = new Map<string | null, readonly TimelinePoint[]>([
    ...run.keys.map(({ name }) => [name, []] as const),
    ...groupBy(timeline, ({ key }) => key),
  ]);
  return [...byKey]
    .filter(([, points]) => points.length > 0)
    .sort(([a], [b]) => Number(a === null) - Number(b === null))
    .map(([key, points]) => keySeries(key, points));
}

function keySeries(key: string | null, points: readonly TimelinePoint[]): KeySeries {
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const columns = new Map<number, Record<Fate, number>>();
  const left = new Map<number, readonly [number, number]>();
  const total = { ...NONE };
  for (const point of points) {
    const { at, remaining, limit, times = 1 } = point;
    const index = Math.min(COLUMNS - 1, Math.floor(((at - from) / (until - from)) * COLUMNS));
    const column = columns.get(index) ?? { ...NONE };
    columns.set(index, column);
    column[fateOf(point)] += times;
    total[fateOf(point)] += times;
    if (remaining !== undefined && limit) left.set(index, [at, Math.min(1, Math.max(0, remaining / limit))]);
  }
  return { key, from, until, columns, left: [...left.values()], windows: windowsOf(points), total };
}

function fateOf({ banned, status }: TimelinePoint): Fate {
  if (banned === true) return 'banned';
  if (status === 0) return 'unanswered';
  return status === 429 ? 'refused' : 'admitted';
}

function windowsOf(points: readonly TimelinePoint[]): RateWindow[] {
  const windows: RateWindow[] = [];
  for (const point of points) {
    const { at, reset, remaining, banned, times = 1 } = point;
    if (reset === undefined || banned === true) continue;
    const earliest = Math.max(0, windows.length - LATEST_WINDOWS);
    const found = windows.findLastIndex(
      (one, index) => index >= earliest && Math.abs(one.reset - reset) <= SAME_RESET_SECONDS,
    );
    const before = windows[found];
    const refused = fateOf(point) === 'refused' ? times : 0;
    const seen = [before?.least, remaining].filter((value) => value !== undefined);
    windows[found < 0 ? windows.length : found] = {
      from: before?.from ?? at,
      reset: before?.reset ?? reset,
      admitted: (before?.admitted ?? 0) + times - refused,
      refused: (before?.refused ?? 0) + refused,
      limit: point.limit ?? before?.limit,
      least: seen.length === 0 ? undefined : Math.min(...seen),
    };
  }
  return windows;
}

/**
 * Whether more was admitted than X-RateLimit-Limit allows. It does not apply to requests without a valid key, nor if the
 * limit is 0 although requests are served.
 */
const isOver = (key: string | null, { limit, admitted }: RateWindow): boolean =>
  key !== null && limit !== undefined && limit > 0 && admitted > limit;

/** A picture for each key, and the windows in numbers. */
export function ratePictures(report: Report): SafeHtml {
  const all = rateSeries(report);
  if (all.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  return html`<p class="quiet">Each key from its first request to its last: what X-RateLimit-Remaining said, and requests, answered (up) and not (down).</p>
${legend([
  ['Remaining', BLUE],
  ...FATE_NAMES.map((fate) => [FATES[fate], COLOURS[fate]] as const),
  ['X-RateLimit-Reset', RESET],
])}
${all.slice(0, MOST_KEYS).map((series) => picture(series, report))}
${windowTable(all)}`;
}

function picture(series: KeySeries, { run }: Report): SafeHtml {
  const { key, from, until, columns, left, windows, total } = series;
  const x = timeAxis(from, until);
  const down = (column: Readonly<Record<Fate, number>>, kinds: number = DOWN.length) =>
    DOWN.slice(0, kinds).reduce((sum, fate) => sum + column[fate], 0);
  const up = Math.max(...[...columns.values()].map(({ admitted }) => admitted));
  const low = Math.max(...[...columns.values()].map((column) => down(column)));
  const width = (until - from) / COLUMNS;
  const bars = (ends: (column: Readonly<Record<Fate, number>>) => readonly [number, number]) =>
    [...columns].map(([index, column]) => {
      const [start, end] = ends(column);
      return { left: from + index * width, right: from + (index + 1) * width, from: start, to: end };
    });
  const name = key ?? 'no valid key';
  const plan = run.keys.find((one) => one.name === key)?.plan;
  const facts = [
    count(total.admitted + down(total), 'request'),
    ...DOWN.flatMap((fate) => (total[fate] === 0 ? [] : [`${grouped(total[fate])} ${FATES[fate]}`])),
  ].join(', ');
  const over = windows.filter((window) => isOver(key, window));
  const [worst] = over.sort((a, b) => b.admitted - a.admitted);
  const beyond =
    worst === undefined
      ? ''
      : html` <b class="fail">${grouped(worst.admitted)} of ${grouped(worst.limit ?? 0)} admitted in ${count(over.length, 'window')}</b>`;
  const edges =
    windows.length > MOST_EDGES ? [] : windows.filter(({ reset }) => reset > from && reset < until);
  const remaining = chart(
    { label: `${name}: Remaining over time`, height: 66, x: { ...x, ticks: [] }, y: linear(0, 1) },
    ({ x: across, y }) => {
      const path = area<readonly [number, number]>(
        ([at]) => across(at),
        y(0),
        ([, part]) => y(part),
      );
      const lines = edges.map(({ reset }) => `M${across(reset).toFixed(1)} 0V66`).join('');
      return [
        html`<path fill="${BLUE}" fill-opacity="0.4" d="${path.curve(curveStepAfter).digits(1)(left) ?? ''}" />`,
        pathHtml(RESET, lines),
      ];
    },
  );
  const y = linear(-Math.max(low, up / 4, 1), Math.max(up, low / 4, 1), [{ value: 0, text: '' }]);
  const requests = chart({ label: `${name}: ${facts}`, height: 70, x, y }, (canvas) => [
    boxes(
      GREEN,
      canvas,
      bars(({ admitted }) => [0, admitted]),
    ),
    ...DOWN.map((fate, place) =>
      boxes(
        COLOURS[fate],
        canvas,
        bars((column) => [-down(column, place), -down(column, place + 1)]),
      ),
    ),
  ]);
  return html`<p><b>${name}</b>${plan === undefined ? '' : ` ${plan}`} <span class="quiet">${facts}</span>${beyond}</p>
${left.length === 0 ? '' : remaining}${requests}`;
}

function windowTable(all: readonly KeySeries[]): SafeHtml | string {
  const windows = all.flatMap(({ key, windows: own }) => own.map((window) => ({ key, window })));
  if (windows.length === 0) return '';
  const rows = windows.slice(0, MOST_LISTED).map(({ key, window }) => {
    const { from, reset, limit, admitted, refused, least } = window;
    return [
      key ?? 'no valid key',
      duration(from),
      duration(reset),
      limit === undefined ? '' : grouped(limit),
      isOver(key, window) ? { wrong: grouped(admitted) } : grouped(admitted),
      grouped(refused),
      least === undefined ? '' : grouped(least),
    ];
  });
  const more = windows.length - rows.length;
  const head = ['Key', 'First request', 'Reset', 'Limit', 'Answered', 'Refused', 'Least Remaining'];
  return html`<details><summary>The windows in numbers (${windows.length})</summary>${tableHtml({ title: 'The windows in numbers', head, rows })}${more > 0 ? html`<p class="quiet">and ${more} more in report.json</p>` : ''}</details>`;
}
