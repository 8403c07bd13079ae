/** What answers that never came do to the measurement of a minute, at its limit and before. */
import t from 'tap';
import type { RunOptions } from '../../run/run.ts';
import { storedRun } from '../../run/testing/stored-run.ts';
import { judged, outcomeOf } from '../testing/judged.ts';
import { overLimitChecks } from './over-limit.ts';
import { minute } from './scenes.ts';
import { type LimitedTarget, limitedRun, reset } from './testing/limited-target.ts';
import { exhaustKey } from './testing/measured.ts';

const free = exhaustKey();
const large = exhaustKey({ limits: { perMinute: 60, perDay: 1000 } });

/** Measures the minute of a key of six, and says how requests over its limit were refused. */
async function measured(tells: NonNullable<LimitedTarget['tells']>) {
  const { run } = limitedRun({ keys: [free], tells });
  const { windows, next, after } = await outcomeOf(run, minute.on(free, [free]));
  const kinds = [windows, next].map((all) => all.map(({ count }) => count.verdict.kind));
  return { kinds, next, after, refused: await judged(run, overLimitChecks, 'rate-refused-429') };
}

t.test(
  'connections that break at the limit are a refusal only where the next window ends so too',
  async (t) => {
    const accident = await measured(({ number }) => (number === 7 || number === 8 ? reset : undefined));
    t.match(accident, {
      kinds: [['exact'], ['exact']],
      after: { afterReset: { outcome: { status: 200 } } },
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

t.test('a measurement that was cut off is made anew, from rest and with other animals', async (t) => {
  const permissions = new Set(['writes', 'exhaust'] as const);
  const measure = async (options: Partial<RunOptions> = {}) => {
    const test = limitedRun({ keys: [large], options: { permissions, ...options } });
    const { windows } = await outcomeOf(test.run, minute.on(large, [large]));
    const names = test.sent.flatMap(({ body }) => body ?? []);
    return { ...test, names, kinds: windows.map(({ count }) => count.verdict.kind) };
  };
  const whole = await measure();
  const exchanges = whole.events.flatMap((event) => (event.kind === 'exchange' ? [event.exchange] : []));
  t.ok(whole.names.length > 0);
  // The answer to the first request is on record; what else was under way is not.
  const entries = [{ playing: 'minute:free-1' }, ...exchanges.slice(0, 1).map((exchange) => ({ exchange }))];
  const resumed = await measure({ stored: storedRun(entries, { permissions: ['writes', 'exhaust'] }) });
  t.strictSame(resumed.kinds, ['exact']);
  t.match(resumed.waits()[0], /^61: key free-1 to be at rest for a minute$/);
  t.equal(resumed.names.length, whole.names.length);
  t.equal(new Set([...resumed.names, ...whole.names]).size, 2 * whole.names.length);
});
