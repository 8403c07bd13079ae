import t from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { STATUS_FACTOR, seriesCode } from '../../lib/sample.ts';
import type { LoadSeries } from '../result/load-result.ts';
import { SampleStore } from '../result/sample-store.ts';
import { judgeRecovery } from './judge-recovery.ts';

const START = 1_700_000_000_000;
const SECONDS = 100;
const spike = scenarioNamed('spike');
if (spike === undefined) throw new Error('no spike');

/** Ten requests a second; how long they take follows the second in which they begin. */
function series(microseconds: (second: number) => number): LoadSeries[] {
  const store = new SampleStore({ streams: ['clients'], keys: [{ name: 'a', plan: 'pro' }] }, 1);
  const ok = seriesCode(0, 0, 0) + 200 * STATUS_FACTOR;
  for (let second = 0; second < SECONDS; second += 1) {
    const rows = Array.from({ length: 10 }, (_, place) => `${ok},100,${microseconds(second) + place * 7}`);
    store.addLine(`${START + second * 1000 - 100},${rows.join(',')}`);
  }
  return store.series();
}

t.test('slow at the peak and right after it, as before later: it comes back, and when is told', async (t) => {
  const [judged] = judgeRecovery(
    spike,
    series((second) => (second >= 40 && second < 66 ? 50_000 : 1000)),
    SECONDS,
    START,
  );
  t.match(judged, { held: true, actual: /slower than usual for 4 s$/ });
});

t.test('slow from the peak on: it does not come back', async (t) => {
  const [judged] = judgeRecovery(
    spike,
    series((second) => (second >= 40 ? 5000 : 1000)),
    SECONDS,
    START,
  );
  t.match(judged, { held: false, actual: /listPets p50 1\.0\d ms → 5\.0\d ms/ });
});

t.test('too short to tell is neither held nor broken', async (t) => {
  const [judged] = judgeRecovery(
    spike,
    series(() => 1000).map((each) => ({ ...each, blocks: each.blocks.slice(0, 42) })),
    SECONDS,
    START,
  );
  t.strictSame(judged, {
    name: 'latency and errors recover after the peak',
    undecided: 'too few time blocks around the peak: run it longer',
  });
});
