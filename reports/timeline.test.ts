import t from 'tap';
import type { TimelinePoint } from './report.ts';
import { conformantReport, render } from './testing/sample-reports.ts';
import { mergeAlike } from './timeline.ts';

const MINUTE = 60;

/** A day's quota spent at the plan's pace in fixed windows; at the end a refusal for the day, and a ban. */
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
    { ...facts, at: end + 40, status: 0 },
  ];
}

t.test('of a day few points are left, and every number that is shown stays what it was', async (t) => {
  const points = [...day('business-1', 1000, 20), ...day('free-1', 60, 17)].sort((a, b) => a.at - b.at);
  t.strictSame(mergeAlike(points.slice(0, 900)), points.slice(0, 900), 'a short run is kept whole');
  const few = mergeAlike(points);
  t.ok(few.length < 5000, `${few.length} points`);
  const page = (timeline: readonly TimelinePoint[]) => render({ ...conformantReport(), timeline }, 'html');
  const numbers = (text: string) =>
    [...text.matchAll(/<b>(?:business|free)-1<.*?<\/p>/g)].map(([one]) => one);
  t.match(numbers(page(few))[1], '20,003 requests, 1 refused (429), 1 banned, 1 no answer');
  t.strictSame(numbers(page(few)), numbers(page(points)));
  t.ok(page(few).length < 1_000_000);
  const times = [-1e300, 1e300].map((at) => ({ at, key: 'free-1', operation: '', status: 200 }));
  t.match(page(times), '2 requests', 'as a damaged file may have them');
});
