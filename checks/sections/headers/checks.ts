/** Section 8: the three rate limit headers, present on every response, judged one response at a time. */
import { contract } from '../../../spec/contract.ts';
import { DAY, MINUTE } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check, observes } from '../../run/check.ts';
import type { TraceSoFar } from '../../run/trace.ts';
import { Unsettled } from '../../run/unsettled.ts';
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
  rateHeaders,
  rateReading,
} from '../../wire/rate-headers.ts';
import { checkOfStatus } from '../answers.ts';

/** The statuses that the document names, and the permission without which none has to come. */
const NAMED: ReadonlyMap<number, Pick<Check, 'permit'>> = new Map([
  [200, {}],
  [201, { permit: 'writes' }],
  [400, {}],
  [401, {}],
  [404, {}],
  [429, { permit: 'exhaust' }],
]);

/** 8: the three headers are on every response. What those say that it has is another subject. */
export const missingFromAnswer = ({ outcome }: AnsweredExchange): Violation | undefined =>
  missingHeadersViolation(rateHeaders(outcome.headers));

/** The rate headers of an answer, where it has the one that is judged. */
const having =
  (judged: keyof RateHeaders) =>
  ({ outcome }: AnsweredExchange): RateHeaders | undefined => {
    const rates = rateHeaders(outcome.headers);
    return rates[judged].kind === 'absent' ? undefined : rates;
  };

/** Whether the header may describe the day: it shows the plan's day figure, or nobody's plan is known. */
function describesDay(limit: number | undefined, key: Key | undefined): boolean {
  return key === undefined || limit === undefined || limit !== key.limits.perMinute;
}

/** Whose figure a limit is where it is no figure of the key's plan: the profile may be mistaken in the key's. */
function ofAnotherPlan(limit: NumberHeader, { name, plan }: Key): string {
  const plans = Object.entries(contract.plans);
  const value = numberOf(limit);
  const other =
    plans.find(([, { perMinute }]) => perMinute === value) ??
    plans.find(([, { perDay }]) => perDay === value);
  return other === undefined ? '' : `, as in plan ${other[0]}: is key ${name} really of plan ${plan}?`;
}

const ROUNDING = 1000;
/** How far the clocks of machines that keep them together may differ. */
const CLOCKS_APART = 5000;

/**
 * Reset may lie nowhere before the response was made, and nowhere beyond its window. Whole seconds may be rounded either
 * way, which is one second on both sides.
 *
 * When a response was made its Date says, and those of the others: several machines may answer whose clocks differ. A
 * Date may also be wrong where the clock behind Reset is right (a proxy's, an old text, local time). So our clock has a
 * say where it contradicts Date. Without a Date ours alone tells, to within a day: that still tells seconds from
 * milliseconds and from a number of seconds left.
 */
function judgeReset(reset: NumberHeader, exchange: AnsweredExchange, trace: TraceSoFar, byDay: boolean) {
  const { sentAt, receivedAt } = exchange;
  const violationIf = (earliest: number, latest: number) =>
    resetViolation(reset, {
      from: earliest - ROUNDING,
      to: latest + (byDay ? DAY : MINUTE) + ROUNDING,
      now: receivedAt + (trace.targetClock.skew ?? 0),
      window: byDay ? 'a day' : 'a minute',
    });
  const { date } = rateReading(exchange);
  if (date !== undefined && violationIf(date, date) === undefined) return undefined;
  const made = trace.targetClock.ever(sentAt);
  const received = trace.targetClock.ever(receivedAt);
  if (made === undefined || received === undefined) return violationIf(sentAt - DAY, receivedAt + DAY);
  const violation = violationIf(made.earliest, received.latest);
  if (violation === undefined) return undefined;
  const clocksAgree = made.earliest <= receivedAt && received.latest >= sentAt;
  if (clocksAgree || violationIf(sentAt - CLOCKS_APART, receivedAt + CLOCKS_APART)) return violation;
  throw new Unsettled(`${violation.actual} by Date but not by our clock: one of the two is wrong`, [
    exchange,
  ]);
}

/**
 * A refusal for the day's quota or a ban may tell its own end, which lies beyond the minute. A ban may also be earned
 * where several requests were in flight at the limit: only the key's first 429 is held to the minute.
 */
function mayTellLongerWait(exchange: AnsweredExchange, trace: TraceSoFar): boolean {
  const { status } = exchange.outcome;
  if (status < 400) return false;
  const mayBeBanned = status === 429 ? trace.refusalsOf(exchange) > 1 : status === 401 || status === 403;
  return /^(ban|day):/.test(exchange.sentBy) || (mayBeBanned && trace.keyOf(exchange) !== undefined);
}

export const rateHeaderChecks: readonly Check[] = [
  // 8: "present on every response", so on 401, 404, 400 and 429 too.
  ...[...NAMED].map(([status, permit]) =>
    checkOfStatus(`rate-headers-on-${status}`, (actual) => actual === status, missingFromAnswer, permit),
  ),
  checkOfStatus('rate-headers-on-other', (status) => !NAMED.has(status), missingFromAnswer, {
    conclude: (_trace, judge) => judge.notApplicable('no other status occurred'),
  }),
  // 8: the limit that applies to the caller: a figure of its plan, of the minute or of the day.
  check('rate-limit-value', {
    observe: observes(having('limit'), ({ limit }, exchange, trace) => {
      // Whoever is answered 401 is nobody whom the target knows, so of no plan: the key's value may be mistaken.
      const key = exchange.outcome.status === 401 ? undefined : trace.keyOf(exchange);
      if (key === undefined) return limitViolation(limit, undefined);
      const violation = limitViolation(limit, { plan: key.plan, ...key.limits });
      return violation && { ...violation, actual: `${violation.actual}${ofAnotherPlan(limit, key)}` };
    }),
  }),
  // 8: requests left in the current window: a count, never negative, never more than the limit.
  check('rate-remaining-value', { observe: observes(having('remaining'), remainingViolation) }),
  // 8: a Unix timestamp at which the limit resets: in seconds, ahead, and within the window.
  check('rate-reset-value', {
    observe: observes(having('reset'), ({ limit, reset }, exchange, trace) => {
      const byDay =
        describesDay(numberOf(limit), trace.keyOf(exchange)) || mayTellLongerWait(exchange, trace);
      return judgeReset(reset, exchange, trace, byDay);
    }),
  }),
];
