import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readLoadResult } from '../../scenarios/runner/result/read-result.ts';
import { HOSTILE_STRINGS, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { capacityResult, loadResult } from '../testing/sample-load.ts';
import { renderCapacityHtml, renderLoadHtml } from './load-html.ts';

t.test('the sample is a load result', async (t) => {
  const dir = t.testdir();
  writeFileSync(join(dir, 'load-report.json'), JSON.stringify(loadResult()));
  t.match(readLoadResult(dir), { verdict: 'broken', total: { requests: 8_400 } });
});

t.test('verdict, thresholds, figures, contract and cost', async (t) => {
  const page = renderLoadHtml(loadResult());
  t.match(page, '<h1><span aria-hidden="true">✘</span> Broken: 1 of 2 thresholds</h1>');
  t.match(page, /<th scope="row">errors&lt;0\.1%<\/th><td><b class="over">no<\/b><\/td><td>1\.2 %<\/td>/);
  t.match(page, /<th scope="row">createPet, pro<\/th><td>600<\/td><td>10\/s<\/td>/);
  t.match(page, /<th scope="row">all<\/th><td>8,400<\/td>/);
  t.match(page, /X-RateLimit-Reset is missing[\s\S]*rate-headers-on-200/);
  t.match(page, /free-1<\/th><td>free<\/td><td>600<\/td><td>27<\/td>/);
  t.notMatch(page, 'Compared with the base');
});

t.test('what a client measured, and how the generator fared', async (t) => {
  const result = loadResult();
  const told = { name: 'ban as told', key: 'free-ban', value: 60.456, unit: 's' };
  const page = renderLoadHtml({
    ...result,
    measurements: [told],
    generator: { ...result.generator, cpuMeanPart: 0.25, scheduleLagP95Ms: 3, droppedIterations: 1200 },
  });
  t.match(page, '<th scope="row">ban as told</th><td>60.46 s</td><td>free-ban</td>');
  t.match(page, /not the limit, 25 % of the CPU, .*95 % of the arrivals at most 3 ms late, 1,200 not sent/);
  t.notMatch(renderLoadHtml(result), 'Measured once');
});

t.test('a line for each operation and plan, none beyond what its samples can tell', async (t) => {
  const page = renderLoadHtml(loadResult());
  const chart = page.slice(page.indexOf('id="h-latency"'), page.indexOf('id="h-time"'));
  const lines = chart.match(/<path class="line[^>]+>/g) ?? [];
  t.equal(lines.length, 4);
  const ends = lines.map((line) => Number(/L([\d.]+) [\d.]+"/.exec(line)?.[1]));
  t.ok(
    Math.abs((ends[0] ?? 0) - (1000 * Math.log10(600)) / Math.log10(4800)) < 1,
    '600 requests end before 4,800',
  );
  t.equal(ends[1], 1000);
});

t.test(
  'a series names its stream where there are several, and a column that says nothing is left out',
  async (t) => {
    const result = loadResult();
    const [first, ...others] = result.series;
    if (first === undefined) throw new Error('no series');
    const page = renderLoadHtml({ ...result, series: [{ ...first, stream: 'quiet' }, ...others] });
    t.match(page, '<th scope="row">quiet, listPets, business</th>');
    t.match(page, '<th scope="row">mixed, createPet, pro</th>');
    t.notMatch(page.slice(page.indexOf('h-thresholds'), page.indexOf('h-latency')), '>Key<');
    const held = { ...result, thresholds: result.thresholds.slice(0, 1) };
    t.notMatch(renderLoadHtml(held), '>Expected<', 'nor does one of empty cells stand');
  },
);

t.test('series stand by operation and plan, in whatever order they were recorded', async (t) => {
  const result = loadResult();
  const page = renderLoadHtml({ ...result, series: result.series.toReversed() });
  const rows = page.slice(page.indexOf('Figures by operation')).match(/(?<=<th scope="row">)[^<]+/g);
  t.strictSame(rows?.slice(0, 5), [
    'listPets, free',
    'listPets, business',
    'getPet, business',
    'createPet, pro',
    'all',
  ]);
});

t.test('what is more than twice as slow is an arrow at the edge of the scale', async (t) => {
  const marks = (slower: number) =>
    renderLoadHtml(loadResult({ slower }), loadResult()).match(/▸/g)?.length ?? 0;
  t.equal(marks(4), 6, 'p50 and p99 of each operation');
  t.equal(marks(1.3), 0);
});

t.test('a slower head is told from its base', async (t) => {
  const page = renderLoadHtml(loadResult({ slower: 1.3 }), loadResult());
  t.match(page, /listPets p50<\/th><td><b class="over">worse<\/b>/);
  const same = renderLoadHtml(loadResult(), loadResult());
  t.notMatch(same, /<b class="over">worse/);
  t.match(same, 'no difference</td>');
});

t.test('a run without requests, and one that a generator limited', async (t) => {
  const result = loadResult();
  const empty = renderLoadHtml({ ...result, verdict: 'failed-to-run', series: [], thresholds: [] });
  t.match(empty, 'No request was answered.');
  t.match(empty, 'There are no time blocks.');
  t.match(renderLoadHtml({ ...result, verdict: 'generator-limited' }), 'verdict k-inconclusive');
});

t.test('hostile text is text', async (t) => {
  for (const hostile of [...HOSTILE_STRINGS, `<b>${'x'.repeat(1_048_576)}`]) {
    for (const page of [
      renderLoadHtml(loadResult({ hostile })),
      renderCapacityHtml(capacityResult(hostile)),
    ]) {
      t.notMatch(page, UNSEEN_CHARACTER);
      t.notMatch(page, /<(script|img|style>body|b>x)/);
      t.ok(page.length < 200_000);
    }
  }
});
