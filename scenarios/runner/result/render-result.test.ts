import t from 'tap';
import { loadResult } from '../../../reports/testing/sample-load.ts';
import { combine } from './figures.ts';
import type { LoadResult } from './load-result.ts';
import { renderLoadResult } from './render-result.ts';

/** The lines of the table, from its head to the statuses. */
function table(result: LoadResult): string[] {
  const lines = renderLoadResult(result).split('\n');
  const head = lines.findIndex((line) => line.includes('p95'));
  return lines.slice(
    head,
    lines.findIndex((line) => line.includes('statuses:')),
  );
}

t.test('the table fits 80 columns, whatever the streams', async (t) => {
  const result = loadResult();
  const [first] = result.series;
  if (first?.latency === undefined || first.latency === null) throw new Error('no series');
  const latency = { ...first.latency, p50: 0.123, p95: 59_999, p99: 60_000, max: 60_000 };
  const wide = {
    ...first,
    plan: 'enterprise',
    operation: 'createPet',
    requests: 1_234_567,
    latency,
  } as const;
  const series = [
    { ...wide, stream: 'alone', perSecond: 20_000 },
    { ...wide, stream: 'disturbed', perSecond: 12.34 },
  ];
  for (const line of table({ ...result, series, total: { ...result.total, latency } }))
    t.ok(line.length <= 80, `${line.length}: ${line}`);
});

t.test('a stream that was never answered has no latency', async (t) => {
  const outcomes = { ok: 0, refused: 0, 'unexpected-429': 0, error: 3, violation: 0, unfinished: 0 };
  const [first] = loadResult().series;
  if (first === undefined) throw new Error('no series');
  const silent = { ...combine([{ ...first, statuses: { 1212: 3 }, outcomes }], 1) };
  t.equal(silent.latency, null);
  const [, row = ''] = table({ ...loadResult(), series: [{ ...first, ...silent }] });
  t.match(row, / 3 {2}.* {2}– {2,}– {2,}– {2,}– {2,}3 {2,}0$/);
});
