import t from 'tap';
import type { TimelinePoint } from '../report.ts';
import { conformantReport, notConformantReport } from '../testing/sample-reports.ts';
import { panel } from './rate-picture.ts';
import { rateSeries } from './rate-series.ts';

const LENGTH = 119.4;

function panelOf(timeline: readonly TimelinePoint[], length = LENGTH, key: string | null = 'free-1'): string {
  const report = conformantReport();
  const found = rateSeries({
    ...report,
    run: { ...report.run, durationSeconds: length },
    timeline,
  }).find((one) => one.key === key);
  if (found === undefined) throw new Error('no series');
  return String(panel(found, 0));
}

const point = (at: number, status: number, more: Partial<TimelinePoint> = {}): TimelinePoint => ({
  at,
  key: 'free-1',
  operation: 'listPets',
  status,
  limit: 60,
  remaining: 30,
  reset: 60 * Math.ceil((at + 0.001) / 60),
  ...more,
});

/** Heights, in pixels, of the bars of a kind. */
function heights(page: string, kind: string): number[] {
  const d = new RegExp(`<path class="${kind}" d="([^"]*)"`).exec(page)?.[1] ?? '';
  return [...d.matchAll(/M\S+ ([\d.]+)V([\d.]+)H/g)].map(([, from, to]) =>
    Math.abs(Number(to) - Number(from)),
  );
}

t.test('admitted and refused requests are drawn to one scale, and a single refusal is seen', async (t) => {
  const burst = (at: number, status: number, times: number) => point(at, status, { times });
  const page = panelOf([burst(10, 200, 100), burst(20, 200, 50), burst(30, 429, 50), burst(40, 429, 1)]);
  const [tall = 0, half = 0] = heights(page, 'b-admitted');
  t.equal(tall, 34, 'the tallest has all the room');
  t.equal(half, 17);
  t.strictSame(heights(page, 'b-refused'), [17, 8], 'as far down as as many go up; one refusal is no hair');
  const flood = panelOf([burst(10, 200, 100), burst(20, 429, 200)]);
  t.strictSame(
    [...heights(flood, 'b-admitted'), ...heights(flood, 'b-refused')],
    [11, 22],
    'the deepest too',
  );
  t.match(page, /, at most 100 in 75 ms</, 'the scale is told');
});

t.test('requests of a day that are only counted are told beside those that are drawn', async (t) => {
  const report = conformantReport();
  const byKey = { ...report.requests.byKey, 'free-1': 1003 };
  const timeline = [point(10, 200, { times: 60 }), point(11, 429)];
  const [free] = rateSeries({ ...report, timeline, requests: { ...report.requests, byKey } });
  t.ok(free);
  if (free !== undefined)
    t.match(String(panel(free, 0)), '61 requests, 1 refused, 942 more of its day, only counted');
  t.notMatch(panelOf(report.timeline, LENGTH), 'only counted');
});

t.test('a window says what was admitted and refused, and too many in another colour', async (t) => {
  const report = notConformantReport();
  const pro = panelOf(report.timeline, LENGTH, 'pro-1');
  t.match(pro, /class="over">303 of 300 admitted<\/tspan><tspan [^>]*class="t-refused">12 refused</);
  t.notMatch(panelOf(conformantReport().timeline), 'class="over"');
});

t.test('a day of windows is a band between the lowest and the highest Remaining', async (t) => {
  const day = Array.from({ length: 400 }, (_, minute) => [
    point(minute * 60 + 1, 200, { remaining: 60 }),
    point(minute * 60 + 30, 200, { remaining: 15 }),
  ]).flat();
  const page = panelOf(day, 24_000);
  t.match(page, /400 windows, Remaining from its lowest to its highest/);
  const [, d = ''] = /class="area b-remaining" d="([^"]*)"/.exec(page) ?? [];
  t.match(d, /^M0\.\d+ 18L|^M1 18L/, 'its upper edge is the full quota');
  t.match(d, / 90L/, 'its lower one a quarter of it');
  t.match(page, /<g class="n4800"><svg[^>]*><path class="line edge"/, 'edges show where they stand apart');
  t.match(panelOf(day.slice(0, 4), 120), /<g class="n300">.*line edge/);
});

t.test('a limit of nothing, told to somebody who is served, limits nothing', async (t) => {
  const page = panelOf([1, 2, 3, 4, 5].map((at) => point(at, 200, { limit: 0, remaining: 0 })));
  t.notMatch(page, /of 0|class="over"/);
});

t.test('who is shown no limit has bars alone', async (t) => {
  const page = panelOf([point(1, 401, { key: null, limit: 0, remaining: 0 })], LENGTH, null);
  t.match(page, '<svg class="plot" width="100%" height="92"');
  t.notMatch(page, /b-remaining|line edge|t-scale/);
});
