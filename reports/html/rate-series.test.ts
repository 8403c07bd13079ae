import t from 'tap';
import type { TimelinePoint } from '../report.ts';
import { conformantReport } from '../testing/sample-reports.ts';
import { rateSeries } from './rate-series.ts';

function series(timeline: readonly TimelinePoint[], key = 'free-1') {
  const found = rateSeries({ ...conformantReport(), timeline }).find((one) => one.key === key);
  if (found === undefined) throw new Error(`no series of ${key}`);
  return found;
}

const point = (at: number, status: number, more: Partial<TimelinePoint> = {}): TimelinePoint => ({
  at,
  key: 'free-1',
  operation: 'listPets',
  status,
  ...more,
});

t.test(
  'every request of a full run is in exactly one column, keys in the order of the profile',
  async (t) => {
    const report = conformantReport();
    const all = rateSeries(report);
    t.strictSame(
      all.map(({ key }) => key),
      ['free-1', 'pro-1', 'business-1', 'free-ban', null],
    );
    for (const { key, total } of all) {
      const requests = total.admitted + total.refused + total.banned + total.unanswered;
      t.equal(requests, report.requests.byKey[key ?? '(none)'], `${key}`);
    }
  },
);

t.test('fixed windows count what was admitted and refused in each', async (t) => {
  const free = series(conformantReport().timeline);
  t.match(free.windows, [
    { reset: 56, admitted: 60, refused: 5, limit: 60, remainingLeast: 0 },
    { reset: 116, admitted: 60, refused: 2 },
    { reset: 176, admitted: 4, refused: 0, remainingLeast: 56 },
  ]);
  t.equal(free.steps.length, 3, 'the line of Remaining breaks where a window ends');
  t.strictSame(free.steps[0]?.at(-1), [56, 0], 'and is held until then');
});

t.test('a target that turns to the day’s headers keeps its line within the plot', async (t) => {
  const turned = series([
    point(1, 200, { limit: 60, remaining: 30, reset: 60 }),
    point(2, 200, { limit: 60, remaining: 29, reset: 60 }),
    point(3, 429, { limit: 1000, remaining: 0, reset: 5000 }),
  ]);
  t.strictSame(turned.limits, [60, 1000]);
  t.strictSame(turned.steps[0]?.[0], [1, 0.5]);
});

t.test('a Reset that moves with every request has no edges', async (t) => {
  const refilling = series(
    Array.from({ length: 60 }, (_, index) =>
      point(index, 200, { limit: 60, remaining: 59, reset: index + 60 }),
    ),
  );
  t.match(refilling, { movingReset: true, windows: [], steps: { length: 1 } });
});

t.test('Reset that jitters by a second is one window', async (t) => {
  const jitter = series(
    Array.from({ length: 60 }, (_, index) =>
      point(index / 10, 200, { limit: 60, remaining: 59 - index, reset: 30 + (index % 2) }),
    ),
  );
  t.match(jitter.windows, [{ admitted: 60 }]);
});

t.test('a ban lasts until a request that is not answered with it, and is open where none was', async (t) => {
  const banned = { banned: true, reset: 30 };
  const bans = (...points: TimelinePoint[]) => series(points).bans;
  t.strictSame(bans(point(9, 429), point(10, 429, banned), point(20, 403, banned), point(31, 200)), [
    { from: 10, until: 31, ended: true },
  ]);
  t.strictSame(bans(point(10, 429, banned), point(20, 0), point(25, 429)), [
    { from: 10, until: 25, ended: true },
  ]);
  t.strictSame(bans(point(10, 429, banned), point(20, 429, banned)), [{ from: 10, until: 20, ended: false }]);
  t.match(bans(point(10, 429, banned), point(15, 200), point(20, 429, banned), point(22, 200)), [
    { from: 10, until: 15 },
    { from: 20, until: 22 },
  ]);
});

t.test('a key’s picture goes from its first request to its last', async (t) => {
  const points = [point(100, 200), point(160, 200, { remaining: 3, limit: 60, reset: 5_000 })];
  const found = series([...points, { ...point(3_000, 200), key: 'pro-1' }]);
  t.match(found, { from: 100, until: 160, columns: [{ index: 0 }, { index: 399 }] });
  t.strictSame(found.steps.at(-1)?.at(-1), [160, 0.05], 'what is left is not drawn beyond it');
  t.match(series([point(7, 200)]), { from: 7, until: 8 }, 'a single request has a second');
});

t.test('no answer is its own kind', async (t) => {
  t.match(series([point(1, 0), point(2, 500), point(3, 429)]).total, {
    unanswered: 1,
    admitted: 1,
    refused: 1,
    banned: 0,
  });
});
