/** When a refusal asks to come back: the unit of Retry-After is left open, the window that it is about tells it. */
import t from 'tap';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { exchangeAt, type Told } from './testing/measured.ts';
import { exceededWindow, latestEnd, toldEnd, toldTime, toldWait } from './told-time.ts';

const FREE = { perMinute: 60, perDay: 1000 };

/** Refused at noon; the answer is there a tenth of a second later. */
const refused = (told: Told) => exchangeAt('refusal', 0, told);
/** A run that knows of the target's clock what these answers tell. */
function traceAfter(...answers: readonly Told[]) {
  const { run } = testRun();
  for (const told of answers) run.trace.targetClock.learn(rateReading(exchangeAt('before', 0, told)));
  return run.trace;
}
const seconds = (time: number | undefined) => (time === undefined ? undefined : (time - NOON) / SECOND);

t.test('a refusal is about the day only where the day has nothing left', async (t) => {
  t.equal(exceededWindow({ limit: 60, remaining: 0 }, FREE), MINUTE);
  t.equal(exceededWindow({ limit: 1000, remaining: 0 }, FREE), DAY);
  t.equal(
    exceededWindow({ limit: 1000, remaining: 940 }, FREE),
    MINUTE,
    'the day’s figures, the minute’s refusal',
  );
  t.equal(exceededWindow({ limit: 300, remaining: 0 }, FREE), MINUTE, 'figures of neither');
  t.equal(exceededWindow({ limit: undefined, remaining: undefined }, FREE), MINUTE);
  t.equal(exceededWindow({ limit: 100, remaining: 0 }, { perMinute: 100, perDay: 100 }), MINUTE);
});

t.test('a number is read in the light of the window that was exceeded', async (t) => {
  const minute = { limit: 60, remaining: 0 };
  const day = { limit: 1000, remaining: 0 };
  for (const [window, retryAfter, waited, format] of [
    [minute, 60, 60, 'seconds'],
    [minute, 600, 600, 'seconds'],
    [minute, 43_200, 43.2, 'milliseconds'],
    [day, 43_200, 43_200, 'seconds'],
    [day, 43_200_000, 43_200, 'milliseconds'],
  ] as const)
    t.match(
      toldWait(refused({ ...window, retryAfter }), FREE),
      { kind: 'delay', format, milliseconds: waited * SECOND },
      `${retryAfter} where ${window.limit} are exceeded`,
    );
  t.match(toldWait(refused({}), FREE), { kind: 'absent' });
});

t.test('a delay counts from the answer, a date is by the target’s clock', async (t) => {
  const text = 'as it came';
  const delay = { kind: 'delay', format: 'seconds', milliseconds: 5000, text } as const;
  const date = { kind: 'date', format: 'http-date', time: NOON + 90_000, text } as const;
  const unknown = traceAfter();
  const at = (trace: typeof unknown, told: typeof delay | typeof date) =>
    seconds(toldTime(trace, told, NOON + 10_000));
  t.equal(at(unknown, delay), 15);
  t.equal(at(unknown, date), 90, 'a clock of which nothing is known is taken to be ours');
  const behind = traceAfter({ date: -30 });
  t.equal(at(behind, delay), 15);
  t.equal(at(behind, date), 120.1, 'half a minute slow: it shows that time half a minute later');
  t.equal(toldTime(behind, { kind: 'absent' }, NOON), undefined);
  t.equal(toldTime(behind, { kind: 'unreadable', text: 'soon' }, NOON), undefined);
});

t.test('a refusal that may be a ban’s is read as seconds up to ten days', async (t) => {
  const end = (retryAfter: string | number | undefined) =>
    seconds(toldEnd(traceAfter(), refused({ retryAfter })));
  t.equal(end(60), 60.1);
  t.equal(end(43_200), 43_200.1, 'half a day, though the headers are those of the minute');
  t.equal(end(3_600_000), 3600.1, 'more than ten days of seconds are milliseconds');
  t.equal(end(new Date(NOON + 90_000).toUTCString()), 90);
  t.equal(end('soon'), undefined);
  t.equal(end(undefined), undefined);
});

t.test('of several refusals the latest end counts', async (t) => {
  const latest = (...waits: readonly (number | undefined)[]) =>
    seconds(
      latestEnd(
        traceAfter(),
        waits.map((retryAfter) => refused({ retryAfter })),
      ),
    );
  t.equal(latest(10, 30, 20), 30.1);
  t.equal(latest(undefined, 10), 10.1, 'one that tells nothing changes nothing');
  t.equal(latest(undefined), undefined);
  t.equal(latest(), undefined);
});
