import t from 'tap';
import { renderHtml } from './html/html.ts';
import { rateSeries } from './html/rate-series.ts';
import type { TimelinePoint } from './report.ts';
import { conformantReport } from './testing/sample-reports.ts';
import { mergeAlike } from './timeline.ts';

const MINUTE = 60;

/** A day's quota spent at the plan's pace in fixed windows, a refusal for the day at the end; then a ban. */
function day(key: string, perMinute: number, minutes: number): TimelinePoint[] {
  const facts = { key, operation: 'listPets', limit: perMinute };
  const points = Array.from({ length: perMinute * minutes }, (_, index): TimelinePoint => {
    const minute = Math.floor(index / perMinute);
    const sent = index % perMinute;
    const at = minute * MINUTE + 1 + (sent * 2) / perMinute;
    return { ...facts, at, status: 200, remaining: perMinute - 1 - sent, reset: (minute + 1) * MINUTE };
  });
  const end = minutes * MINUTE;
  return [
    ...points,
    { ...facts, at: end + 1, status: 429, remaining: 0, reset: 86_400 },
    { ...facts, at: end + 2, status: 429, remaining: 0, reset: 86_400, banned: true },
    { ...facts, at: end + 20, status: 403, remaining: 0, reset: 86_400, banned: true },
    { ...facts, at: end + 40, status: 0 },
    { ...facts, at: end + 60, status: 429, remaining: 0, reset: 86_400 },
  ];
}

/** A bucket's: every answer names another Reset. */
const bucket = (key: string, count: number): TimelinePoint[] =>
  Array.from({ length: count }, (_, index) => ({
    at: index / 4,
    key,
    operation: 'listPets',
    status: 200,
    limit: 300,
    remaining: 40 + (index % 3),
    reset: index / 4 + 50,
  }));

const inOrder = (points: readonly TimelinePoint[]) => [...points].sort((a, b) => a.at - b.at);
const series = (timeline: readonly TimelinePoint[]) => {
  const report = conformantReport();
  return rateSeries({ ...report, timeline, run: { ...report.run, durationSeconds: 7000 } });
};

t.test('a short run is kept request by request', async (t) => {
  const points = day('free-1', 60, 17);
  t.strictSame(mergeAlike(points), points);
});

t.test('of a day few points are left, and every number that is shown stays what it was', async (t) => {
  const points = inOrder([
    ...day('business-1', 1000, 100),
    ...day('free-1', 60, 17),
    ...bucket('pro-1', 9000),
  ]);
  const few = mergeAlike(points);
  t.ok(few.length < 5000, `${few.length} points`);
  t.equal(
    few.reduce((sum, { times }) => sum + (times ?? 1), 0),
    points.length,
  );
  t.strictSame(inOrder(few), few, 'in the order of receipt');
  const report = { ...conformantReport(), timeline: few };
  t.ok(JSON.stringify(report, null, 1).length < 3_000_000);
  t.ok(renderHtml(report).length < 1_000_000);
  for (const [index, whole] of series(points).entries()) {
    const thin = series(few)[index];
    const { key } = whole;
    t.strictSame(thin?.total, whole.total, `${key}: totals`);
    t.strictSame(thin?.windows, whole.windows, `${key}: windows`);
    t.equal(thin?.movingReset, whole.movingReset, `${key}: kind of window`);
    t.strictSame(thin?.bans, whole.bans, `${key}: bans`);
    t.strictSame(thin?.limits, whole.limits, `${key}: limits`);
    // A point stands where its first request is, which may be two columns earlier.
    const admittedUntil = (columns: typeof whole.columns) => {
      let sum = 0;
      const sums = new Map<number, number>();
      for (const { index: column, admitted } of columns) {
        sum += admitted;
        sums.set(column, sum);
      }
      return (at: number) =>
        Math.max(0, ...[...sums].filter(([column]) => column <= at).map(([, value]) => value));
    };
    const [before, after] = [admittedUntil(whole.columns), admittedUntil(thin?.columns ?? [])];
    for (let column = 2; column < 800; column += 20) {
      t.ok(
        after(column) >= before(column) && after(column - 2) <= before(column),
        `${key}: column ${column}`,
      );
    }
  }
});

t.test('what differs stays apart', async (t) => {
  const many = inOrder(bucket('pro-1', 6000));
  const at = 1000;
  const odd: TimelinePoint[] = [
    { at, key: 'pro-1', operation: 'listPets', status: 429, limit: 300, remaining: 0, reset: at + 50 },
    {
      at,
      key: 'pro-1',
      operation: 'listPets',
      status: 429,
      limit: 300,
      remaining: 0,
      reset: at + 50,
      banned: true,
    },
    { at, key: 'pro-1', operation: 'getPet', status: 200, limit: 300, remaining: 40, reset: at + 50 },
    { at, key: 'pro-1', operation: 'listPets', status: 200, limit: 10_000, remaining: 40, reset: at + 50 },
    { at, key: 'pro-1', operation: 'listPets', status: 200, limit: 300, remaining: 40, reset: at + 500 },
    { at, key: null, operation: 'listPets', status: 401 },
    { at, key: 'free-1', operation: 'listPets', status: 200 },
  ];
  const few = mergeAlike(inOrder([...many, ...odd]));
  for (const point of odd) t.ok(few.some((kept) => JSON.stringify(kept) === JSON.stringify(point)));
});

t.test('the lowest Remaining is what is left', async (t) => {
  const many = bucket('pro-1', 6000);
  const kept = mergeAlike(many);
  t.match(kept[0], { at: 0, remaining: 40, times: /^\d+$/ });
});
