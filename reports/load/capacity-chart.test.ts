import t from 'tap';
import { capacityResult } from '../testing/sample-load.ts';
import { renderCapacityHtml } from './load-html.ts';

const page = renderCapacityHtml(capacityResult());
const [whole = '', around = ''] = page.split('<h3>Around the capacity</h3>');

t.test('the number with its interval, and every step', async (t) => {
  t.match(page, '</span> 410 requests/s (95 %: 398 to 421)</h1>');
  t.equal(whole.match(/class="mark k-pass"/g)?.length, 10);
  t.equal(whole.match(/class="mark k-fail"/g)?.length, 5);
  t.match(whole, /class="area b-band"/);
});

t.test('the curve has one point for steps at about the same rate, and the objective its line', async (t) => {
  const [p50 = '', p99 = ''] = [...whole.matchAll(/<path class="line curve d\d" d="([^"]*)"/g)].map(
    ([, d]) => d,
  );
  const points = [...p99.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(
    ([, x, y]) => [Number(x), Number(y)] as const,
  );
  t.equal(points.length, 10, 'of 15 steps five are about 408/s, and two about 422/s');
  t.ok(
    points.every(([x], index) => index === 0 || x > (points[index - 1]?.[0] ?? 0)),
    'from left to right',
  );
  t.ok(Number(/^M[\d.]+ ([\d.]+)/.exec(p50)?.[1]) > (points[0]?.[1] ?? 0), 'p50 lies below p99');
  const bound = Number(/class="line bound" d="M0 ([\d.]+)H1000"/.exec(whole)?.[1]);
  const [last, first] = [points.at(-1)?.[1] ?? 0, points[0]?.[1] ?? 0];
  t.ok(bound > last && bound < first, '200 ms lie between the slowest and the fastest step');
  t.match(whole, 'class="t-bound">p99&lt;200ms<');
  t.notMatch(
    renderCapacityHtml({ ...capacityResult(), run: { ...capacityResult().run, slo: 'fast' } }),
    'class="t-bound"',
  );
});

t.test('the steps around the capacity are shown larger, the interval named', async (t) => {
  const band = (text: string) =>
    Number(/class="area b-band" x="[^"]*" y="0" width="([\d.]+)"/.exec(text)?.[1]);
  t.ok(band(around) > 4 * band(whole), `${band(around)} of 1000 instead of ${band(whole)}`);
  t.match(around, /398\/s[\s\S]*421\/s/);
  t.equal(around.match(/class="mark k-/g)?.length, 9, 'the steps near it');
  const few = capacityResult().steps.filter(({ rate }) => rate < 350);
  t.notMatch(renderCapacityHtml({ ...capacityResult(), steps: few }), 'Around the capacity');
});

t.test('a search without a number says why', async (t) => {
  const none = renderCapacityHtml({
    ...capacityResult(),
    outcome: 'generator-limited',
    reason: 'arrivals began late',
    capacity: null,
    interval: null,
    steps: [],
  });
  t.match(none, '</span> No verdict: the generator was the limit</h1>');
  t.match(none, 'arrivals began late');
  t.match(none, 'No step was taken.');
});
