/**
 * Section 8: the three rate limit headers, present on every response, judged one response at a time; and
 * X-RateLimit-Remaining while requests are spent, and when none is left.
 */
import { PLAN_NAMES, PLANS } from '../../../spec/plans.ts';
import { judgeRemaining } from '../../limits/remaining-arithmetic.ts';
import { CLOCKS_APART } from '../../limits/target-clock.ts';
import { DAY, LONGEST_OF_MINUTE, SECOND } from '../../limits/time.ts';
import { toldTime } from '../../limits/told-time.ts';
import { areLeftThen, minuteAsDay } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check, type Judge, observes } from '../../run/check.ts';
import { Inconclusive, notShown, notTold } from '../../run/reason.ts';
import { playedOn } from '../../run/scene.ts';
import type { Trace, TraceSoFar } from '../../run/trace.ts';
import {
  limitViolation,
  missingHeadersViolation,
  remainingViolation,
  resetViolation,
  type Violation,
} from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import {
  type NumberHeader,
  numberOf,
  type RateHeaders,
  type RateReading,
  rateHeaders,
  rateReading,
  retryAfter,
} from '../../wire/rate-headers.ts';
import { REMAINING_SHOWN_BY } from '../answers.ts';
import { refusesKey } from '../quota/key-spending.ts';
import { servedWithoutKey } from '../quota/keys-apart.ts';
import { checkOfKeys, evidenceOf, givesBackGradually, interference } from '../quota/measurements.ts';
import { judgeAbsence, minute } from '../quota/minute.ts';
import type { FilledWindow } from '../quota/window-filling.ts';
import { checksOfStatuses } from './by-status.ts';

/** 8: the three headers are on every response. Their values are judged by other checks. */
export const missingFromAnswer = ({ outcome }: AnsweredExchange): Violation | undefined =>
  missingHeadersViolation(rateHeaders(outcome.headers));

/** The rate headers of an answer, if it has the one that is judged. */
const having =
  (judged: keyof RateHeaders) =>
  ({ outcome }: AnsweredExchange): RateHeaders | undefined => {
    const rates = rateHeaders(outcome.headers);
    return rates[judged].kind === 'absent' ? undefined : rates;
  };

/** Names the other plan that has this limit: the profile may give the key the wrong plan. */
function ofAnotherPlan(limit: NumberHeader, { name, plan }: Key): string {
  const value = numberOf(limit);
  if (value === undefined) return '';
  const other = (['perMinute', 'perDay'] as const).flatMap((per) =>
    PLAN_NAMES.filter((named) => PLANS[named]?.[per] === value),
  )[0];
  return other === undefined ? '' : `, as in plan ${other}: is key ${name} really of plan ${plan}?`;
}

/**
 * Reset must not lie before the response was made, nor beyond its window. Whole seconds may be rounded either way,
 * which allows one second on both sides.
 *
 * The Date of the response says when it was made, and so do those of other responses: several machines with different
 * clocks may answer. Date may also be wrong while the clock behind Reset is right (a proxy's Date, a cached one, local
 * time). So if Date finds a violation and our clock does not, the case is left open. So it is where the two contradict
 * each other by more than the violation. Without any Date only our clock is used, to within a day: that still tells
 * seconds from milliseconds, and from a number of seconds left.
 */
function judgeReset(reset: NumberHeader, exchange: AnsweredExchange, trace: TraceSoFar, byDay: boolean) {
  const { sentAt, receivedAt, date } = rateReading(exchange);
  const violationIf = (earliest: number, latest: number) =>
    resetViolation(reset, {
      from: earliest - SECOND,
      to: latest + (byDay ? DAY : LONGEST_OF_MINUTE) + SECOND,
      now: date ?? receivedAt + (trace.targetClock.skew ?? 0),
      window: byDay ? 'a day' : 'two minutes',
    });
  if (date !== undefined && violationIf(date, date) === undefined) return undefined;
  const made = trace.targetClock.at(sentAt);
  const received = trace.targetClock.at(receivedAt);
  if (made === undefined || received === undefined) return violationIf(sentAt - DAY, receivedAt + DAY);
  const violation = violationIf(made.earliest, received.latest);
  if (violation === undefined) return undefined;
  const clocksAgree = made.earliest <= receivedAt && received.latest >= sentAt;
  const apart = CLOCKS_APART + trace.targetClock.dispute;
  const [first, last] = [Math.min(made.earliest, sentAt), Math.max(received.latest, receivedAt)];
  if (clocksAgree || violationIf(first - apart, last + apart)) return violation;
  throw new Inconclusive(
    `${violation.actual} by Date, which our clock contradicts: one of the two is wrong`,
    [exchange],
  );
}

/**
 * A refusal for the day's quota or a ban may state its own end, which lies beyond the minute. Several requests in
 * flight at the limit may also cause a ban, so only the key's first 429 is held to the minute.
 */
function mayTellLongerWait(exchange: AnsweredExchange, trace: TraceSoFar): boolean {
  const { status } = exchange.outcome;
  if (status < 400) return false;
  const mayBeBanned = status === 429 ? trace.refusalsOf(exchange) > 1 : refusesKey(exchange);
  // Of another client's request nobody knows what went before.
  const mayBeOver = ['ban', 'day', 'foreign'].includes(exchange.intent);
  return mayBeOver || (mayBeBanned && trace.keyOf(exchange) !== undefined);
}

/** Whether Reset is the end that Retry-After tells, in whichever unit comes to it: how long a ban lasts is "not shown". */
function isToldEnd(exchange: AnsweredExchange, { targetClock }: TraceSoFar): boolean {
  const { reset, sentAt, receivedAt } = rateReading(exchange);
  if (reset === undefined) return false;
  const end = targetClock.reached(reset);
  const told = retryAfter(exchange.outcome.headers, (end - receivedAt) / SECOND);
  const time = toldTime({ targetClock }, told, receivedAt) ?? Number.NaN;
  // The wait counts from some moment between sending and receipt.
  return Math.abs(time - end) <= receivedAt - sentAt + CLOCKS_APART;
}

export const rateHeaderChecks: readonly Check[] = [
  // 8: "present on every response", so on 401, 404, 400 and 429 too.
  ...checksOfStatuses('rate-headers-on', 0, missingFromAnswer),
  // 8: the limit that applies to the caller: a figure of its plan, of the minute or of the day.
  check('rate-limit-value', {
    explainsShortage: true,
    observe: observes(having('limit'), ({ limit }, exchange, trace) => {
      // After a 401 the target knows no plan for the caller: the key's value may be wrong.
      const key = exchange.outcome.status === 401 ? undefined : trace.keyOf(exchange);
      if (key === undefined) return limitViolation(limit, undefined);
      const violation = limitViolation(limit, { plan: key.plan, ...key.limits });
      // An error may be a gateway's, which knows no plan.
      const hint = exchange.outcome.status < 400 ? ofAnotherPlan(limit, key) : '';
      return violation && { ...violation, actual: `${violation.actual}${hint}` };
    }),
    conclude(judge, trace) {
      for (const key of trace.run.keys) {
        const { limits } = key;
        const evidence = minuteAsDay(trace.readingsOf(key), limits).flatMap(({ id }) => trace.find(id) ?? []);
        const actual = `X-RateLimit-Limit: ${limits.perDay} of the day, while X-RateLimit-Remaining counts each minute down from ${limits.perMinute - 1}`;
        if (evidence.length > 0)
          judge.breaks({ expected: 'the limit of the window that Remaining is about', actual }, ...evidence);
      }
    },
  }),
  // 8: requests left in the current window: a count, never negative, never more than the limit.
  check('rate-remaining-value', {
    observe: observes(having('remaining'), remainingViolation),
  }),
  // 8: a Unix timestamp at which the limit resets: in seconds, ahead, and within the window.
  check('rate-reset-value', {
    observe: observes(having('reset'), ({ limit, reset }, exchange, trace) => {
      const key = trace.keyOf(exchange);
      // The limit is not the plan's minute figure, or the plan is unknown: the headers may describe the day.
      const mayBeOfDay = key === undefined || numberOf(limit) !== key.limits.perMinute;
      const mayBeLong = mayTellLongerWait(exchange, trace);
      if (mayBeLong && !mayBeOfDay && isToldEnd(exchange, trace)) return undefined;
      return judgeReset(reset, exchange, trace, mayBeOfDay || mayBeLong);
    }),
  }),
];

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
    const minutes = trace.run.permissions.has(minute.permit) ? seen.on(minute) : [];
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
