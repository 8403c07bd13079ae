/** A day that is spent by more than one process, and what is kept of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SECOND } from '../../limits/time.ts';
import { Journal, readJournal } from '../../run/journal.ts';
import { storedRun } from '../../run/testing/stored-run.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { exhaustKey, telling } from '../minute/testing/measured.ts';
import { judged, outcomeOf } from '../testing/judged.ts';
import { dailyQuotaChecks } from './checks.ts';
import { countAdmitted } from './reading.ts';
import { day } from './scenes.ts';
import { END } from './testing/day-spending.ts';

const PER_DAY = 220;
const key = exhaustKey({ limits: { perMinute: 100, perDay: PER_DAY } });
const DAY = day.on(key, [key]);

/** A target with a day only; it counts on, whichever process asks. */
function dayTarget(perDay = PER_DAY) {
  let count = 0;
  return {
    answers: () => {
      count += 1;
      return count <= perDay
        ? telling({ status: 200, remaining: 50 })
        : telling({ retryAfter: (END - NOON) / SECOND });
    },
    get count() {
      return count;
    },
  };
}

/** Spends the day in a process that ends with this request; what its journal holds. */
async function stoppedAt(t: Test, target: ReturnType<typeof dayTarget>, request: number) {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, storedRun([]).header, 1);
  const stop = new AbortController();
  const { run } = testRun(
    () => {
      if (target.count === request - 1) stop.abort(new Error('stopped'));
      return target.answers();
    },
    { keys: [key], permissions: new Set(['day'] as const), journal, signal: stop.signal },
  );
  await run.play(DAY);
  journal.close();
  const stored = readJournal(file);
  if (!stored.ok) throw new Error(stored.problem);
  return stored;
}

t.test('a day goes on where it was cut off', async (t) => {
  for (const request of [50, 130, 200]) {
    const target = dayTarget();
    const stored = await stoppedAt(t, target, request);
    const before = target.count;
    t.ok(before >= request && before < request + 4, `${request}: no request after those in flight`);
    const { run, sent, waits } = testRun(target.answers, {
      keys: [key],
      permissions: new Set(['day'] as const),
      stored,
    });
    const { admitted, lost } = await outcomeOf(run, DAY);
    t.equal(before + sent.length, PER_DAY + 1, `${request}: nothing is sent twice`);
    t.ok(countAdmitted(admitted) <= PER_DAY, `${request}: nothing is counted twice`);
    t.ok(countAdmitted(admitted) + lost >= PER_DAY, `${request}: what was lost is known`);
    t.match(waits()[0], /at rest for a minute$/, `${request}: the minute is not known`);
    t.match(await judged(run, dailyQuotaChecks, 'rate-day-free'), { verdict: 'pass' }, `${request}`);
  }
});

t.test('of a long day little is kept', async (t) => {
  const perDay = 5000;
  const large = exhaustKey({ plan: 'business', limits: { perMinute: 1000, perDay } });
  const target = dayTarget(perDay);
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, storedRun([]).header, 1);
  const { run } = testRun(target.answers, {
    keys: [large],
    permissions: new Set(['day'] as const),
    journal,
  });
  const { admitted } = await outcomeOf(run, day.on(large, [large]));
  journal.close();
  t.equal(countAdmitted(admitted), perDay);
  t.ok(run.trace.readings.length < 10, 'of uniform answers not even a reading');
  const { length } = readFileSync(file);
  t.ok(length < 10 * perDay, `${length} bytes are less than a megabyte for a hundred thousand requests`);
});
