/** Sections 7 and 8: the time to wait, as stated by Retry-After and X-RateLimit-Reset of a refusal. */

import { resetBefore, resetsApart } from '../../limits/refill.ts';
import { stoodPastReset, surelyGivenBack } from '../../limits/remaining-arithmetic.ts';
import { type TargetClock, wentBack } from '../../limits/target-clock.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { clockDoubt, exceededWindow, isForDay, toldDate, toldWait } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import type { PlanLimits } from '../../profile/target-profile.ts';
import { type Check, check, gap, type Judge, observes, type Seen } from '../../run/check.ts';
import { daySpent, Inconclusive, notTold } from '../../run/reason.ts';
import { playedOn, sceneOnKeys } from '../../run/scene.ts';
import { retryAfterViolation } from '../../wire/answer.ts';
import { type AnsweredExchange, header } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { judgeAnswer } from '../answers.ts';
import type { AfterRefusal } from './after-refusal.ts';
import { isAdmitted, neverRefused } from './key-spending.ts';
import { banOf, checkOfKeys, isRenewedEarly, refusedOtherwise } from './measurements.ts';
import { exhaustKeys, judgeAbsence, type MinuteMeasurement, minute, minuteKeys } from './minute.ts';

/** A wait "of the order of the window" may be generous, but not in another unit. */
const GENEROUS = 10;

/** The window that a refusal is about, in the words of a report. */
const windowOf = (refusal: AnsweredExchange, limits: PlanLimits): string =>
  exceededWindow(rateReading(refusal), limits) === MINUTE ? 'minute' : 'day';

/**
 * What is wrong with a refusal's Retry-After as a time to wait; undefined if nothing is.
 *
 * @param windows the longest sensible wait, in lengths of the exceeded window
 */
function unreadableWait(
  refusal: AnsweredExchange,
  limits: PlanLimits,
  windows: number,
  clock: TargetClock,
): string | undefined {
  const told = toldWait(refusal, limits);
  if (told.kind === 'absent') return undefined;
  const text = `Retry-After: ${told.text}`;
  if (told.kind === 'unreadable') return text;
  const tooLong = `${text}, for a window of a ${windowOf(refusal, limits)}`;
  const longest = windows * exceededWindow(rateReading(refusal), limits);
  if (told.kind === 'delay') {
    const { reset, date } = rateReading(refusal);
    // A refusal in the very moment at which the limit resets leaves nothing to wait for.
    const isOver = told.milliseconds === 0 && reset !== undefined && date !== undefined && reset <= date;
    if (told.milliseconds <= 0 && !isOver) return `${text}, which is not a time to wait`;
    return told.milliseconds > longest ? tooLong : undefined;
  }
  const now = clock.at(refusal.receivedAt);
  const asked = clock.at(refusal.sentAt);
  if (now === undefined || asked === undefined) return undefined;
  // The answer may have travelled for long: a time that lay ahead when it was made may have passed on arrival.
  const wrong = (earliest: number, latest: number): string | undefined => {
    if (told.time < earliest - SECOND) return `${text}, which is in the past`;
    return told.time > latest + longest ? tooLong : undefined;
  };
  const problem = wrong(asked.earliest, now.latest);
  const { dispute } = clock;
  const [first, last] = [Math.min(asked.earliest, refusal.sentAt), Math.max(now.latest, refusal.receivedAt)];
  if (problem !== undefined && wrong(first - dispute, last + dispute) === undefined)
    throw new Inconclusive(`${problem} by Date, which our clock contradicts: one of the two is wrong`, [
      refusal,
    ]);
  return problem;
}

/** What the target's clock showed as it refused for the minute, where it sent no Date: Reset less the wait until then. */
function resetLessWait(refusal: AnsweredExchange, limits: PlanLimits) {
  const { date, reset, sentAt, receivedAt } = rateReading(refusal);
  const told = toldWait(refusal, limits);
  const isShown = date === undefined && reset !== undefined && told.kind === 'delay';
  return { sentAt, receivedAt, date: isShown ? reset - told.milliseconds : undefined };
}

/** Judges a request that was sent at the time at which the target said it would be admitted. */
function judgeRetry(
  measurement: MinuteMeasurement,
  { refusal }: AfterRefusal,
  retry: AnsweredExchange,
  { time, expected }: { readonly time: number | undefined; readonly expected: string },
  judge: Judge,
  seen: Seen,
): void {
  const [before, now] = [refusal, retry].map((one) => resetLessWait(one, measurement.key.limits));
  const otherwise =
    refusedOtherwise(measurement, retry, seen) ??
    clockDoubt(seen.trace, time, refusal, retry) ??
    (before !== undefined && now !== undefined && wentBack(before, now)
      ? 'Reset less Retry-After went back, as if the clock of the target had been set'
      : undefined);
  if (isAdmitted(retry) || otherwise === undefined)
    judgeAnswer(judge, isAdmitted(retry), expected, retry, refusal);
  else judge.inconclusive(otherwise, retry);
}

/** Judges whether a refused key was served again once the limit had reset. */
function judgeReset(measurement: MinuteMeasurement, judge: Judge, seen: Seen): void {
  const { key, after } = measurement;
  if (after === undefined) return judge.inconclusive(neverRefused(measurement.key));
  const { refusal, afterReset } = after;
  const early = resetBefore(after.refill, seen.trace.targetClock);
  const apart = isRenewedEarly(measurement) ? undefined : resetsApart(after.refill, seen.trace.targetClock);
  if (early !== undefined || apart !== undefined) {
    const seconds = Math.round((early ?? apart ?? 0) / SECOND);
    const actual =
      early === undefined
        ? `from one window of a minute to the next it moved on by ${seconds} seconds`
        : `the whole limit was there again ${seconds} seconds before it`;
    const shown = after.asked.filter(({ id }) => id === after.refill.first?.id);
    return judge.breaks({ expected: 'the time at which the limit resets', actual }, ...shown, refusal);
  }
  if (afterReset !== undefined)
    return judgeRetry(
      measurement,
      after,
      afterReset,
      { time: rateReading(refusal).reset, expected: 'a request admitted once X-RateLimit-Reset has passed' },
      judge,
      seen,
    );
  if (rateReading(refusal).limit !== key.limits.perMinute)
    return judge.notApplicable('the headers do not describe the minute');
  judge.inconclusive(
    notTold('the run could not wait for X-RateLimit-Reset of the refusal', 'rate-reset-value'),
    refusal,
  );
}

/** So many are spent at first: the more, the sooner it shows that they are given back. */
const SPENT = 20;
/** Pauses between those that follow: after a short one little can have been given back. */
const PAUSES = [12, 13, 25].map((seconds) => seconds * SECOND);
/** Nothing is waited for beyond this, whatever Reset tells. */
const LONGEST_SPREAD = 3 * MINUTE;

/** Whether the run drives the key to its limit. */
const isFilled = (key: Key, keys: readonly Key[]) =>
  key.roles.includes('ban') || exhaustKeys(keys).includes(key);

/**
 * A few requests on a key that is not driven to its limit, so that what X-RateLimit-Reset tells comes between them. While
 * the minutes of other keys are filled; without another key nothing is sent.
 */
const spreadOut = sceneOnKeys(
  'spread-out',
  {
    ...minute,
    intent: 'ordinary',
    keys: (keys) =>
      minuteKeys(keys)
        .slice(0, 1)
        .map(
          (first) => keys.find((key) => key.roles.includes('functional') && !isFilled(key, keys)) ?? first,
        ),
  },
  async (run, key) => {
    // One that was refused already has another row that says so.
    if (isFilled(key, run.keys) || run.trace.refusalsOf({ key: key.name }) > 0) return;
    const longest = run.now() + LONGEST_SPREAD;
    const ask = async () => {
      const exchange = await run.attemptAnswered(listPets({ limit: 1 }), key);
      if (isAdmitted(exchange)) return rateReading(exchange);
      throw new Inconclusive(`key ${key.name} was refused before its limit`, [exchange]);
    };
    const most = Math.min(SPENT, run.lane(key).left(run.now()) / 2);
    let first = await ask();
    for (let spent = 1; spent < most; spent += 1) first = await ask();
    const told = [first];
    for (const pause of PAUSES) {
      await run.waitUntil(run.now() + pause, `requests of key ${key.name} to be spread out`);
      told.push(await ask());
    }
    for (const before of told.slice(0, 2)) {
      const at = surelyGivenBack(before, run.trace.targetClock);
      if (before.limit !== key.limits.perMinute || at > longest) return;
      await run.waitUntil(at, `X-RateLimit-Reset of key ${key.name}`);
      const { remaining = 0 } = await ask();
      // Where something was given back, nothing has to be confirmed.
      if (remaining > (before.remaining ?? 0) - told.length) return;
    }
  },
);

/** 8: at the time in X-RateLimit-Reset the limit resets, whether a request was refused or not. */
export const resetTrue: Check = checkOfKeys('rate-reset-true', minute, judgeReset, {
  scenes: [minute, spreadOut],
  conclude(judge, trace) {
    for (const key of trace.run.keys) {
      const stood = stoodPastReset(trace.readingsOf(key), key.limits, trace.targetClock);
      const [from, to] = [stood[0], stood.at(-1)];
      if (from === undefined || to === undefined) continue;
      const expected = 'requests given back once X-RateLimit-Reset has passed';
      const actual = `X-RateLimit-Remaining of key ${key.name} only fell, from ${from.remaining} to ${to.remaining}, while what X-RateLimit-Reset told passed more than once`;
      judge.breaks({ expected, actual }, ...stood.flatMap(({ id }) => trace.find(id) ?? []));
    }
  },
});

export const retryAfterChecks: readonly Check[] = [
  // 7, 8: the time to wait is given in Retry-After.
  check(
    'retry-after-present',
    {
      observe: observes(
        ({ outcome }) => (outcome.status === 429 ? outcome.headers : undefined),
        (headers) => retryAfterViolation(header(headers, 'retry-after') !== undefined),
      ),
    },
    (judge, { trace }) => judgeAbsence(judge, trace),
  ),
  // 8: a readable time to wait, in proportion to the window.
  check('retry-after-readable', { scenes: [minute] }, (judge, seen) => {
    const judgeWait = (
      refusal: AnsweredExchange,
      { limits }: Key,
      windows: number,
      later?: AnsweredExchange,
    ) => {
      if (refusal.outcome.status !== 429) return;
      const problem = unreadableWait(refusal, limits, windows, seen.trace.targetClock);
      const expected = `a number or a date that lies ahead, of the order of a ${windowOf(refusal, limits)}`;
      if (problem !== undefined && later !== undefined && isForDay(seen.trace, later, limits))
        judge.inconclusive(daySpent(seen.trace, later), refusal, later);
      else if (problem !== undefined) judge.breaks({ expected, actual: problem }, refusal);
      else if (toldWait(refusal, limits).kind !== 'absent') judge.holds(refusal);
    };
    const minutes = playedOn(seen.on(minute));
    for (const { key, windows, next, after } of minutes)
      for (const { refusal } of [...windows, ...next])
        if (refusal !== undefined) judgeWait(refusal, key, GENEROUS, after?.afterReset);
    const ban = banOf(seen);
    // Concurrent refusals may already be a ban's, and how long a ban lasts is "not shown".
    if (ban !== undefined)
      for (const refusal of ban.refusals) judgeWait(refusal, ban.key, Number.POSITIVE_INFINITY);
    else if (minutes.every(({ after }) => after === undefined)) judgeAbsence(judge, seen.trace);
  }),
  // 8: the client waits for the time indicated, and then retries.
  checkOfKeys('retry-after-honest', minute, (measurement, judge, seen) => {
    const { key, after } = measurement;
    if (after === undefined) return judge.inconclusive(neverRefused(key));
    if (after.afterRetryAfter === undefined)
      return judge.inconclusive(
        notTold(`key ${key.name}: no usable Retry-After`, 'retry-after-readable'),
        after.refusal,
      );
    const told = toldWait(after.obeyed, key.limits);
    const expected = `a request admitted after Retry-After: ${told.kind === 'absent' ? '' : told.text}`;
    judgeRetry(measurement, after, after.afterRetryAfter, { time: toldDate(told), expected }, judge, seen);
  }),
];

export const retryAfterFormat = gap('retry-after-format', [minute], (seen) => {
  for (const { key, after } of playedOn(seen.on(minute))) {
    if (after === undefined) continue;
    const told = toldWait(after.obeyed, key.limits);
    if (told.kind === 'delay' || told.kind === 'date')
      return { answer: told.format, detail: `Retry-After: ${told.text}`, evidence: [after.obeyed] };
  }
  return undefined;
});
