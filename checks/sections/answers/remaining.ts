/** Section 8: X-RateLimit-Remaining while requests are spent, and when none is left. */

import { judgeRemaining } from '../../limits/remaining-arithmetic.ts';
import { areLeftThen, minuteAsDay } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { check, type Judge } from '../../run/check.ts';
import { concluded, Inconclusive, notShown, notTold } from '../../run/reason.ts';
import { playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { REMAINING_SHOWN_BY } from '../answers.ts';
import { servedWithoutKey } from '../quota/keys-apart.ts';
import { checkOfKeys, evidenceOf, givesBackGradually, interference } from '../quota/measurements.ts';
import { judgeAbsence, minute } from '../quota/minute.ts';
import type { FilledWindow } from '../quota/window-filling.ts';

/**
 * A window that was counted exactly and refilled nothing shows values from limit − 1 down to 0: the first request the
 * highest, where it was alone, and each of the others what was left while it was under way.
 *
 * @param refills whether the target gives quota back gradually: then only the whole limit after a request is untrue
 */
function judgeValues(window: FilledWindow, perMinute: number, refills: boolean, judge: Judge): void {
  const { admitted, verdict } = window.count;
  const [first, second] = admitted;
  if (verdict.kind !== 'exact' || admitted.length !== perMinute || first === undefined) return;
  if (window.lost !== undefined) return;
  if (admitted.some(({ limit, reset }) => limit !== perMinute || reset !== first.reset)) return;
  const values = new Set(admitted.flatMap(({ remaining }) => remaining ?? []));
  if (refills && !values.has(perMinute)) return;
  const isAlone = second === undefined || second.sentAt >= first.receivedAt;
  const isFirstRight = !isAlone || (first.remaining ?? perMinute - 1) === perMinute - 1;
  if (values.has(0) && isFirstRight && areLeftThen(admitted, perMinute))
    return judge.holds(...evidenceOf(window));
  const expected = `${perMinute} requests that leave ${perMinute - 1} down to 0`;
  const actual = `they left ${values.size} different values, from ${Math.max(...values)} down to ${Math.min(...values)}`;
  judge.breaks({ expected, actual }, ...evidenceOf(window));
}

/** Whether all of these describe a sliding day that gives back requests of an earlier run: its Reset moves on. */
function areOfMovingDay(broken: readonly RateReading[], readings: readonly RateReading[], { limits }: Key) {
  const isOfDay = ({ limit }: RateReading) => limit === limits.perDay;
  return new Set(readings.filter(isOfDay).map(({ reset }) => reset)).size > 1 && broken.every(isOfDay);
}

const fallOf = (key: Key, trace: Trace) => judgeRemaining(trace.readingsOf(key), key.limits);

/** Judges that each answer of a key leaves one request fewer than the one before it. */
function judgeFall(key: Key, judge: Judge, trace: Trace): void {
  const readings = trace.readingsOf(key);
  // Of a burst few are kept: then the next one is shown.
  const nextKept = ({ receivedAt: since }: RateReading) =>
    trace.exchanges.find((kept) => kept.key === key.name && kept.receivedAt >= since);
  const exchangesOf = (of: readonly RateReading[]) =>
    of.flatMap((reading) => trace.find(reading.id) ?? nextKept(reading) ?? []);
  const verdict = fallOf(key, trace);
  if (verdict.kind === 'falls') judge.holds(...exchangesOf(readings.slice(0, 2)));
  else if (verdict.kind === 'disturbed')
    judge.inconclusive(servedWithoutKey(trace) ?? interference(key, `key ${key.name}: ${verdict.reason}`));
  else if (minuteAsDay(readings, key.limits).length > 0)
    judge.inconclusive(notTold(`key ${key.name}: the headers show two windows`, 'rate-limit-value'));
  else if (verdict.kind === 'broken' && areOfMovingDay(verdict.readings, readings, key))
    judge.inconclusive(`key ${key.name}: its day seems to be a sliding window that still counts another run`);
  else if (verdict.kind === 'broken') judge.breaks(verdict, ...exchangesOf(verdict.readings));
}

/** 8: requests left in the current window; every admitted request of any operation takes one. */
export const remainingFalls = check(
  'rate-remaining-falls',
  {
    explainsShortage: true,
    conclude(judge, trace) {
      for (const key of trace.run.keys) judgeFall(key, judge, trace);
    },
  },
  (judge, seen) => {
    const { trace } = seen;
    const filled = concluded(() => seen.on(minute));
    const minutes = filled instanceof Inconclusive ? [] : filled;
    const falls = trace.run.keys.map((key) => fallOf(key, trace));
    if (minutes.length === 0 && falls.every(({ kind }) => kind === 'unseen'))
      judge.inconclusive(notShown(...REMAINING_SHOWN_BY));
    // They say which requests cost too much or nothing.
    if (falls.some((fall) => fall.kind === 'broken' && fall.isOfKind)) return;
    for (const measurement of minutes.length === 0 ? [] : playedOn(minutes)) {
      const { key, windows, next } = measurement;
      const refills = givesBackGradually(measurement) !== false;
      // Judges the first window of each key, and the next one.
      for (const window of [...windows.slice(0, 1), ...next])
        judgeValues(window, key.limits.perMinute, refills, judge);
    }
  },
);

/** 8: requests left in the current window: none, when a request was refused for the minute. */
export const remainingExhausted = checkOfKeys(
  'rate-remaining-exhausted',
  minute,
  ({ key, windows }, judge, { trace }) => {
    if (windows.every(({ refusal }) => refusal === undefined)) judgeAbsence(judge, trace);
    for (const { refusal } of windows) {
      if (refusal?.outcome.status !== 429) continue;
      const { limit, remaining } = rateReading(refusal);
      if (limit !== key.limits.perMinute || remaining === undefined)
        judge.notApplicable('the headers of the refusal do not describe the minute');
      else if (remaining === 0) judge.holds(refusal);
      else {
        const actual = `X-RateLimit-Remaining: ${remaining}`;
        judge.breaks({ expected: 'X-RateLimit-Remaining: 0 when refused', actual }, refusal);
      }
    }
  },
);
