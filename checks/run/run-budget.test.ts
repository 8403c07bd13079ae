import t from 'tap';
import { reading } from '../limits/testing/simulated-limits.ts';
import { MINUTE } from '../limits/time.ts';
import { whyEnded } from '../wire/time-is-over.ts';
import { ADDITIONS_REPEATED, billOf, LONGEST_BAN, longestRun, runTime } from './run-budget.ts';
import { testKey, testRun } from './testing/test-run.ts';

const bill = (time: number, waitsForBan = false) => ({ time, waitsForBan });

t.test(
  'what a bill foresees leaves room for a slow target, a ban and a window that is counted again',
  (t) => {
    const room = longestRun(bill(0), 1);
    t.ok(room >= 5 * MINUTE, 'whatever is asked, a target may be slow');
    t.equal(longestRun(bill(7 * MINUTE), 1) - room, 14 * MINUTE);
    t.equal(longestRun(bill(7 * MINUTE), 7) - room, 2 * MINUTE, 'of a fast clock, minutes are short');
    const banning = longestRun(bill(0, true), 1) - room;
    t.ok(banning >= LONGEST_BAN, 'the longest ban that is waited for fits');
    t.end();
  },
);

t.test('a bill has what was played, minutes and days by the numbers of their plans', async (t) => {
  const [plain, filled, day] = ['plain', 'filled', 'day'].map((name) =>
    testKey({ name, limits: { perMinute: 60, perDay: name === 'plain' ? 4 : 1000 } }),
  );
  if (!plain || !filled || !day) throw new Error('there are three');
  const { run } = testRun(undefined, {
    keys: [plain, { ...filled, limits: { perMinute: 20, perDay: 1000 } }],
  });
  const readings = [
    reading({ key: 'plain', operation: 'createPet', status: 201 }),
    reading({ key: 'plain', operation: 'createPet', status: 400 }),
    reading({ key: 'filled', status: 429, intent: 'fill' }),
  ];
  const requestsByKey = new Map([
    ...(['plain', 'filled', 'day'] as const).map((name, index) => [name, 5 + index] as const),
    ['(none)', 3],
  ]);
  const bill = billOf({
    trace: { run: run.trace.run, readings, requestsByKey },
    took: 0,
    keys: [plain, filled, day],
    days: [day],
    waitsForBan: true,
  });
  t.match(bill, {
    keys: [
      { requests: 5, refusals: 0, exhausted: false },
      { requests: 6 + 40, refusals: 1, exhausted: true },
      { requests: 1020, refusals: 1, exhausted: true },
    ],
    ...{ anonymous: 3, requests: 5 + 46 + 1020 + 3, animals: 1, waitsForBan: true },
  });
  t.equal(
    bill.time,
    17 * MINUTE + 100 + 100 + 25,
    '17 minutes of 60 requests, a tenth of a second each time',
  );
  t.ok(bill.mostRequests > bill.requests);
  t.equal(bill.mostAnimals, 2 + ADDITIONS_REPEATED, 'what must be refused may be taken');
  t.strictSame(bill.unpayable, ['key plain would spend 5 requests, but its plan allows 4 a day']);
});

const ended = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

t.test('the time is over by itself, and says how long it was', async (t) => {
  const signal = runTime({ longest: 20, taken: 0 }, undefined);
  t.equal(signal.aborted, false);
  await Promise.all([ended(signal), later(20)]);
  t.match(whyEnded(signal), /^the run’s time limit, 0.02 s, was over$/);
});

t.test('an interruption is no want of time, whichever came first', async (t) => {
  const stopping = new AbortController();
  const signal = runTime({ longest: 1, taken: 0 }, stopping.signal);
  stopping.abort(new Error('SIGINT'));
  t.equal(signal.aborted, true);
  await later(5);
  t.equal(whyEnded(signal), 'interrupted');
  t.equal(runTime(undefined, stopping.signal).aborted, true, 'also before the run began');
});

t.test('a time that no timer holds is not over at once', async (t) => {
  const signal = runTime({ longest: Number.MAX_SAFE_INTEGER, taken: 0 }, undefined);
  await later(20);
  t.equal(signal.aborted, false);
});

t.test('of a run’s time its start is taken off, and what its reports take', async (t) => {
  const cases = [
    { longest: 60_000, kept: 6_000, said: /60 s, was over$/ },
    { longest: 1_000_000, kept: 10_000, said: /1000 s, was over$/ },
  ];
  for (const { longest, kept, said } of cases) {
    const began = performance.now();
    const signal = runTime({ longest, taken: longest - kept - 200 }, undefined);
    await Promise.all([ended(signal), later(200)]);
    const passed = performance.now() - began;
    t.ok(passed > 190, `what is left before ${kept} ms are kept back was granted: ${passed}`);
    t.ok(passed < kept, `${kept} ms are kept back: ${passed}`);
    t.match(whyEnded(signal), said);
  }
});

t.test('a ban of a few minutes is waited out, and one of hours is not', async (t) => {
  t.ok(LONGEST_BAN >= 5 * MINUTE);
  t.ok(LONGEST_BAN <= 60 * MINUTE);
});
