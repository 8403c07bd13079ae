/** What answers that never came do to the measurement of a minute, at its limit and before. */
import t from 'tap';
import type { RunOptions } from '../../run/run.ts';
import { judged, played } from '../testing/judged.ts';
import { overLimitChecks } from './over-limit.ts';
import { minuteOf } from './scenes.ts';
import { type LimitedTarget, limitedRun, reset } from './testing/limited-target.ts';
import { exhaustKey } from './testing/measured.ts';

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

/** The ids of requests of the measurement. */
const ids = (...numbers: readonly number[]) => numbers.map((number) => `minute:free-1#${number}`);

t.test('a count in which the run was interrupted begins anew, and is gone through again alike', async (t) => {
  const measure = async (options: Partial<RunOptions>) => {
    const { run, sent, events, waits } = limitedRun({ keys: [free], options });
    await played(run, 'retrievals', []);
    const { windows, next } = await run.play(minuteOf(free, true));
    const counts = [...windows, ...next].map(({ count }) => [count.verdict.kind, count.admitted[0]?.id]);
    const exchanges = events.flatMap((event) =>
      event.kind === 'exchange' ? [[event.exchange.id, event.exchange] as const] : [],
    );
    return { counts, exchanges, sent: sent.length, waits: waits() };
  };
  const whole = await measure({});
  const cases = [
    { what: 'all that was under way is lost', kept: ids(), lost: ids(1, 2, 3), goesOnWith: 4 },
    { what: 'answers came', kept: ids(1, 2), lost: ids(3, 4, 5, 6), goesOnWith: 7 },
    { what: 'answers overtook others', kept: ids(1, 4, 6), lost: ids(2, 3, 5), goesOnWith: 7 },
  ];
  for (const { what, kept, lost, goesOnWith } of cases) {
    const recorded = new Map(whole.exchanges.filter(([id]) => kept.includes(id)));
    const unanswered = new Map(lost.map((id) => [id, kept.length]));
    const resumed = await measure({ recorded, unanswered });
    const counts = ids(goesOnWith, goesOnWith + 7).map((id) => ['exact', id]);
    t.strictSame(resumed.counts, counts, what);
    t.match(resumed.waits[0], /^61.*: key free-1 to be at rest for a minute$/);
    t.ok(
      kept.every((id) => resumed.exchanges.some(([taken]) => taken === id)),
      'nothing is missing of what was spent',
    );
    const again = await measure({ recorded: new Map(resumed.exchanges), unanswered, offline: true });
    t.match(again, { counts, sent: 0 }, `${what}, gone through again`);
  }
});
