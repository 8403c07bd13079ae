/** Section 8: the three rate limit headers, present on every response, judged one response at a time. */
import { PLAN_NAMES, PLANS } from '../../../spec/plans.ts';
import { CLOCKS_APART } from '../../limits/target-clock.ts';
import { DAY, LONGEST_OF_MINUTE, SECOND } from '../../limits/time.ts';
import { toldTime } from '../../limits/told-time.ts';
import { minuteAsDay } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check, observes } from '../../run/check.ts';
import { Inconclusive } from '../../run/reason.ts';
import type { TraceSoFar } from '../../run/trace.ts';
import {
  limitViolation,
  missingHeadersViolation,
  remainingViolation,
  resetViolation,
  type Violation,
} from '../../wire/answer.ts';
import type { AnsweredExchange, Intent } from '../../wire/exchange.ts';
import {
  type NumberHeader,
  numberOf,
  type RateHeaders,
  rateHeaders,
  rateReading,
  retryAfter,
} from '../../wire/rate-headers.ts';
import { refusesKey } from '../quota/admitted.ts';
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

const ROUNDING = 1000;

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
  const { sentAt, receivedAt } = exchange;
  const violationIf = (earliest: number, latest: number) =>
    resetViolation(reset, {
      from: earliest - ROUNDING,
      to: latest + (byDay ? DAY : LONGEST_OF_MINUTE) + ROUNDING,
      now: receivedAt + (trace.targetClock.skew ?? 0),
      window: byDay ? 'a day' : 'two minutes',
    });
  const { date } = rateReading(exchange);
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

/** What may be refused for the day or by a ban: of another client's request nobody knows what went before. */
const MAY_BE_OVER: ReadonlySet<Intent> = new Set(['ban', 'day', 'foreign']);

/**
 * A refusal for the day's quota or a ban may state its own end, which lies beyond the minute. Several requests in
 * flight at the limit may also cause a ban, so only the key's first 429 is held to the minute.
 */
function mayTellLongerWait(exchange: AnsweredExchange, trace: TraceSoFar): boolean {
  const { status } = exchange.outcome;
  if (status < 400) return false;
  const mayBeBanned = status === 429 ? trace.refusalsOf(exchange) > 1 : refusesKey(exchange);
  const mayBeOver = MAY_BE_OVER.has(exchange.intent);
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
