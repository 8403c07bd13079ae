/** What answers that never came do to the measurement of a minute, at its limit and before. */
import t from 'tap';
import { judged, played } from './judged-for-tests.ts';
import { type LimitedTarget, limitedRun, reset } from './limited-target-for-tests.ts';
import { exhaustKey } from './measured-for-tests.ts';
import { minuteOf } from './minute-windows.ts';
import { overLimitChecks } from './over-limit.ts';

const free = exhaustKey();

/** Measures the minute of a key of six, and says how requests over its limit were refused. */
async function measured(tells: NonNullable<LimitedTarget['tells']>) {
  const { run } = limitedRun({ keys: [free], tells });
  await played(run, 'retrievals', []);
  const { windows, next, afterReset } = await run.play(minuteOf(free, true));
  const kinds = [windows, next].map((all) => all.map(({ count }) => count.verdict.kind));
  return { kinds, next, afterReset, refused: await judged(run, overLimitChecks, 'rate-refused-429') };
}

t.test(
  'connections that break at the limit are a refusal only where the next window ends so too',
  async (t) => {
    const accident = await measured(({ number }) => (number === 7 || number === 8 ? reset : undefined));
    t.match(accident, {
      kinds: [['exact'], ['exact']],
      afterReset: { admitted: true },
      refused: { verdict: 'pass' },
    });
    const refusing = await measured(({ admitted }) => (admitted ? undefined : reset));
    t.match(refusing, {
      kinds: [['exact', 'exact'], []],
      refused: { verdict: 'fail', reason: /^connection reset/ },
    });
    const later = await measured(({ number }) => (number === 14 || number === 15 ? reset : undefined));
    t.match(later, { next: [{ closed: { id: 'minute:free-1#14' } }], refused: { verdict: 'inconclusive' } });
  },
);

t.test('a lost answer spoils one count, not the measurement', async (t) => {
  for (const number of [3, 10]) {
    const { kinds } = await measured((arrival) => (arrival.number === number ? reset : undefined));
    t.strictSame(kinds, [['exact'], ['exact']], `${number}`);
  }
});
