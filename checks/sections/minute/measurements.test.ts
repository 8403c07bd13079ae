/** Which of the measured minutes the checks of section 8 look at, and what they make of somebody else's requests. */
import t from 'tap';
import { Unsettled } from '../../run/check.ts';
import { Findings } from '../../run/findings.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { played } from '../testing/judged.ts';
import {
  disturbed,
  evidenceOf,
  first,
  forEveryKey,
  mayBan,
  measurements,
  refusedOtherwise,
} from './measurements.ts';
import { exact, exchangeAt, exhaustKey, fewer, minuteMeasured, more, windowOf } from './testing/measured.ts';

const free = exhaustKey();
const pro = exhaustKey({ name: 'pro-1', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } });

/** A run whose minutes of the two keys were measured, or could not be. */
async function measuredRun(outcomes: Readonly<Record<string, 'measured' | Unsettled>>) {
  const { run } = testRun(() => ({}), { keys: [free, pro] });
  for (const key of [free, pro]) {
    const outcome = outcomes[key.name];
    const id = `minute:${key.name}`;
    if (outcome === 'measured') await played(run, id, minuteMeasured(key));
    else await run.play({ id, play: () => Promise.reject(outcome) }).catch(() => undefined);
  }
  return run.probe('test');
}
const names = (made: Awaited<ReturnType<typeof measurements>>) => made.map(({ key }) => key.name);

t.test('what could be measured of any key is judged', async (t) => {
  const stopped = new Unsettled('the count was disturbed');
  const both = await measuredRun({ 'free-1': 'measured', 'pro-1': 'measured' });
  t.strictSame(names(await measurements(both)), ['free-1', 'pro-1']);
  const one = await measuredRun({ 'free-1': stopped, 'pro-1': 'measured' });
  t.strictSame(names(await measurements(one)), ['pro-1']);

  const judged: string[] = [];
  await forEveryKey(({ key }) => judged.push(key.name))(both, new Findings());
  t.strictSame(judged, ['free-1', 'pro-1'], 'one after the other');
});

t.test('where no key could be measured, the smallest plan’s trouble is the reason', async (t) => {
  const none = await measuredRun({
    'free-1': new Unsettled('the count was disturbed'),
    'pro-1': new Unsettled('no answer'),
  });
  await t.rejects(measurements(none), { name: 'Unsettled', message: 'the count was disturbed' });
  const { run } = testRun(() => ({}), { keys: [testKey()] });
  await t.rejects(measurements(run.probe('test')), {
    name: 'Unsettled',
    message: 'no usable key has the role exhaust',
  });
});

t.test('a key may be driven beyond its limit where the run may, and a key has that role', async (t) => {
  const may = (permit: 'ban' | 'exhaust', ...roles: readonly ('functional' | 'ban')[]) => {
    const keys = [testKey(), testKey({ name: 'free-2', roles })];
    return mayBan(testRun(() => ({}), { keys, permissions: new Set([permit]) }).run.probe('test'));
  };
  t.equal(may('ban', 'functional', 'ban'), true);
  t.equal(may('ban', 'functional'), false);
  t.equal(may('exhaust', 'ban'), false);
});

t.test('a window’s evidence is its refusal, and the last answer', async (t) => {
  const refusal = exchangeAt('refusal', 1);
  const last = exchangeAt('last', 2);
  const ids = (window: Parameters<typeof evidenceOf>[0]) => evidenceOf(window).map(({ id }) => id);
  t.strictSame(ids(windowOf(exact, 6, { refusal, last })), ['refusal', 'last']);
  t.strictSame(ids(windowOf(more, 7, { refusal: undefined, last })), ['last'], 'nothing was refused');
});

t.test('a measurement is disturbed where somebody else spent a part of any of its windows', async (t) => {
  const [whole, short, before] = [windowOf(exact), windowOf(fewer(), 5), windowOf(fewer(1), 5)];
  const minute = (windows: readonly (typeof whole)[], next: readonly (typeof whole)[] = []) =>
    minuteMeasured(free, { windows, next });
  t.equal(disturbed(minute([whole])), false);
  t.equal(disturbed(minute([short])), false, 'the target’s own doing');
  t.equal(disturbed(minute([windowOf(more, 7)])), false);
  t.equal(disturbed(minute([whole, before])), true);
  t.equal(disturbed(minute([whole], [before, whole])), true);
  t.equal(disturbed(minute([windowOf(fewer(0, 1), 5)])), true);
  t.equal(disturbed(minute([windowOf(fewer(1, 1), 4)])), true);

  t.equal(first(minute([short, whole])), short);
  t.equal(first(minute([])), undefined);
});

t.test('a refusal after the wait that is a ban’s, or the day’s, or somebody else’s doing', async (t) => {
  const why = (
    told: Parameters<typeof exchangeAt>[2],
    windows: readonly ReturnType<typeof windowOf>[] = [windowOf(exact)],
  ) => refusedOtherwise(minuteMeasured(free, { windows }), { exchange: exchangeAt('refused', 61, told) });
  const ofDay = 'the day of key free-1 may be over';
  t.equal(why({}), undefined, 'the minute’s own');
  t.equal(why({ limit: 1000, remaining: 0 }), ofDay);
  t.equal(why({ limit: 1000, remaining: 500 }), undefined, 'the day has more');
  t.equal(why({}, [windowOf(fewer(), 5)]), ofDay, 'it was refused before the minute’s limit');
  t.equal(why({}, [windowOf(more, 7)]), undefined);
  t.equal(why({}, []), undefined);
  for (const status of [401, 403]) t.match(why({ status }), /^key free-1 seems to be banned/, `${status}`);
  t.equal(why({}, [windowOf(exact), windowOf(fewer(1), 5)]), 'somebody else seems to spend key free-1');
});
