/** Which of the measured minutes the checks of section 8 look at, and what they make of somebody else's requests. */
import t from 'tap';
import type { KeyOutcome } from '../../run/scene.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { judged, played } from '../testing/judged.ts';
import { banOf, checkOfKeys, disturbed, evidenceOf, measurements, refusedOtherwise } from './measurements.ts';
import { type MinuteMeasurement, minute } from './scenes.ts';
import {
  banMeasured,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  minuteMeasured,
  more,
  windowOf,
} from './testing/measured.ts';

const freeKey = exhaustKey();
const proKey = exhaustKey({ name: 'pro-1', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } });

/** What came of measuring the minutes of the two keys. */
const made = (free: KeyOutcome<MinuteMeasurement>['kind'], pro: typeof free) =>
  [
    { key: freeKey, kind: free, trouble: 'the count was disturbed' },
    { key: proKey, kind: pro, trouble: 'no answer' },
  ].map(
    ({ key, kind, trouble }): KeyOutcome<MinuteMeasurement> =>
      kind === 'played'
        ? { kind, key, outcome: minuteMeasured(key) }
        : { kind, key, reason: new Unsettled(trouble) },
  );
const names = (minutes: ReturnType<typeof made>) => measurements(minutes).map(({ key }) => key.name);

t.test('what could be measured of any key is judged', async (t) => {
  t.strictSame(names(made('played', 'played')), ['free-1', 'pro-1'], 'one after the other');
  t.strictSame(names(made('unsettled', 'played')), ['pro-1']);
});

t.test('where no key could be measured, the smallest plan’s trouble is the reason', async (t) => {
  const { run } = testRun(() => ({}), { keys: [freeKey, proKey] });
  const said: string[] = [];
  const row = checkOfKeys('any', minute, ({ key }, judge) => {
    said.push(key.name);
    judge.holds();
  });
  t.throws(() => measurements(made('unsettled', 'unsettled')), {
    name: 'Unsettled',
    message: 'the count was disturbed',
  });
  t.throws(() => measurements([]), { name: 'Unsettled', message: 'no usable key has the role exhaust' });
  t.match(await judged(run, [row], 'any'), { verdict: 'skipped', reason: 'needs the permission exhaust' });
  t.strictSame(said, []);
});

t.test('a check of every minute judges each in turn, and says which key is missing', async (t) => {
  const { run } = testRun(() => ({}), { keys: [freeKey, proKey], permissions: new Set(['exhaust']) });
  for (const key of [freeKey, proKey]) await played(run, `minute:${key.name}`, minuteMeasured(key));
  const said: string[] = [];
  const row = checkOfKeys('any', minute, ({ key }) => said.push(key.name));
  await judged(run, [row], 'any');
  t.strictSame(said, ['free-1', 'pro-1']);
  t.equal(row.lacks?.([freeKey]), undefined);
  t.equal(row.lacks?.([testKey()]), 'the profile has no key with the role exhaust');
});

t.test('the key that may be banned is looked at where the run may ban one', async (t) => {
  const { run } = testRun(() => ({}), { keys: [freeKey] });
  t.equal(banOf(undefined, run.trace), undefined, 'not permitted');
  t.equal(banOf([], run.trace), undefined, 'no key has that role');
  const reason = new Unsettled('no answer');
  t.throws(() => banOf([{ kind: 'unsettled', key: freeKey, reason }], run.trace), reason);
  t.match(banOf([{ kind: 'played', key: freeKey, outcome: banMeasured(freeKey) }], run.trace), {
    key: freeKey,
    refusals: [],
  });
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
    minuteMeasured(freeKey, { windows, next });
  t.equal(disturbed(minute([whole])), false);
  t.equal(disturbed(minute([short])), false, 'the target’s own doing');
  t.equal(disturbed(minute([windowOf(more, 7)])), false);
  t.equal(disturbed(minute([whole, before])), true);
  t.equal(disturbed(minute([whole], [before, whole])), true);
  t.equal(disturbed(minute([windowOf(fewer(0, 1), 5)])), true);
  t.equal(disturbed(minute([windowOf(fewer(1, 1), 4)])), true);
});

t.test('a refusal after the wait that is a ban’s, or the day’s, or somebody else’s doing', async (t) => {
  const why = (
    told: Parameters<typeof exchangeAt>[2],
    windows: readonly ReturnType<typeof windowOf>[] = [windowOf(exact)],
  ) => refusedOtherwise(minuteMeasured(freeKey, { windows }), exchangeAt('refused', 61, told));
  const ofDay = 'the daily quota of key free-1 may be used up';
  t.equal(why({}), undefined, 'the minute’s own');
  t.equal(why({ limit: 1000, remaining: 0 }), ofDay);
  t.equal(why({ limit: 1000, remaining: 500 }), undefined, 'the day has more');
  t.equal(why({}, [windowOf(fewer(), 5)]), ofDay, 'it was refused before the minute’s limit');
  t.equal(why({}, [windowOf(more, 7)]), undefined);
  t.equal(why({}, []), undefined);
  for (const status of [401, 403]) t.match(why({ status }), /^key free-1 seems to be banned/, `${status}`);
  t.equal(why({}, [windowOf(exact), windowOf(fewer(1), 5)]), 'another client seems to be using key free-1');
});
