/** Section 8: the three rate limit headers, present on every response, judged one response at a time. */
import { contract } from '../../../spec/contract.ts';
import type { Check, RunView } from '../../run/check.ts';
import { DAY, type Key, MINUTE } from '../../run/key-pool.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import {
  type NumberHeader,
  numberOf,
  RATE_HEADER_NAMES,
  rateHeaders,
  rateReading,
} from '../../wire/rate-headers.ts';

const NAMED = [200, 201, 400, 401, 404, 429];
const ALL = Object.values(RATE_HEADER_NAMES);

/** The rate headers that an answer does not have. What those say that it has is another subject. */
export function missingRateHeaders({ outcome }: AnsweredExchange): string[] {
  const { limit, remaining, reset } = rateHeaders(outcome.headers);
  return [limit, remaining, reset].flatMap(({ kind }, index) =>
    kind === 'absent' ? (ALL[index] ?? []) : [],
  );
}

export const inWords = (missing: readonly string[]) => `no ${missing.join(', no ')}`;

function presence(id: string, concerns: (status: number) => boolean): Check {
  return {
    id,
    observe(exchange, judge) {
      if (!concerns(exchange.outcome.status)) return;
      const missing = missingRateHeaders(exchange);
      if (missing.length === 0) judge.holds(exchange);
      else judge.breaks({ expected: ALL.join(', '), actual: inWords(missing) }, exchange);
    },
    conclude(_history, judge) {
      if (id === 'rate-headers-on-other') judge.notApplicable('no other status occurred');
    },
  };
}

function unreadable(name: string, field: NumberHeader, form: string) {
  return field.kind === 'unreadable'
    ? { expected: `${name}: ${form}`, actual: `${name}: ${field.text}` }
    : undefined;
}

/** Whether the header may describe the day: it shows the plan's day figure, or nobody's plan is known. */
function describesDay(limit: number | undefined, key: Key | undefined): boolean {
  return key === undefined || limit === undefined || limit !== key.limits.perMinute;
}

/** Whose figure a limit is where it is no figure of the key's plan: the profile may be mistaken in the key's. */
function ofAnotherPlan(limit: number, { name, plan }: Key): string {
  const plans = Object.entries(contract.plans);
  const other =
    plans.find(([, { perMinute }]) => perMinute === limit) ??
    plans.find(([, { perDay }]) => perDay === limit);
  return other === undefined ? '' : `, as of plan ${other[0]}: is key ${name} of plan ${plan}?`;
}

/** How far the clocks of machines that keep them together may differ. */
const CLOCKS_APART = 5000;

/**
 * Where Reset may lie for a response: never before the response was made, never beyond its window.
 *
 * Whole seconds may be rounded either way, which is one second on both sides; the target's clock is known to the range
 * that its Date headers leave. Without a Date nothing is known of the target's clock, and a day's difference is all
 * that can be told (it still tells seconds from milliseconds and from a number of seconds left). Behind one address several
 * machines may answer, whose clocks differ a little: the answer's own Date counts too.
 */
function resetRange(exchange: AnsweredExchange, view: RunView, window: number) {
  const made = view.targetClock.at(exchange.sentAt);
  const received = view.targetClock.at(exchange.receivedAt);
  const rounding = 1000;
  if (made === undefined || received === undefined)
    return { from: exchange.sentAt - DAY, to: exchange.receivedAt + window + DAY };
  const { date = made.earliest } = rateReading(exchange);
  const isNear = date > made.earliest - CLOCKS_APART && date < received.latest + CLOCKS_APART;
  const [earliest, latest] = isNear
    ? [Math.min(made.earliest, date), Math.max(received.latest, date)]
    : [made.earliest, received.latest];
  return { from: earliest - rounding, to: latest + window + rounding };
}

/**
 * A refusal for the day's quota or a ban may tell its own end, which lies beyond the minute. A ban may also be earned
 * where several requests were in flight at the limit: only the key's first 429 is held to the minute.
 */
function mayTellLongerWait(exchange: AnsweredExchange, view: RunView): boolean {
  const { status } = exchange.outcome;
  if (status < 400) return false;
  const mayBeBanned = status === 429 ? view.refusalsOf(exchange) > 1 : status === 401 || status === 403;
  return /^(ban|day):/.test(exchange.sentBy) || (mayBeBanned && view.keyOf(exchange) !== undefined);
}

export const rateHeaderChecks: readonly Check[] = [
  // 8: "present on every response", so on 401, 404, 400 and 429 too.
  ...NAMED.map((status) => presence(`rate-headers-on-${status}`, (actual) => actual === status)),
  presence('rate-headers-on-other', (status) => !NAMED.includes(status)),
  {
    // 8: the limit that applies to the caller: a figure of its plan, of the minute or of the day.
    id: 'rate-limit-value',
    observe(exchange, judge, view) {
      const { limit } = rateHeaders(exchange.outcome.headers);
      if (limit.kind === 'absent') return;
      const problem = unreadable(RATE_HEADER_NAMES.limit, limit, 'a whole number');
      if (problem !== undefined) return judge.breaks(problem, exchange);
      const value = numberOf(limit);
      const key = view.keyOf(exchange);
      if (value === undefined) return;
      // Whoever is answered 401 is nobody whom the target knows, so of no plan: the key's value may be mistaken.
      if (key === undefined || exchange.outcome.status === 401) {
        if (value >= 0) return judge.holds(exchange);
        return judge.breaks(
          { expected: 'a limit of 0 or more', actual: `${RATE_HEADER_NAMES.limit}: ${value}` },
          exchange,
        );
      }
      const { perMinute, perDay } = key.limits;
      if (value === perMinute || value === perDay) judge.holds(exchange);
      else {
        judge.breaks(
          {
            expected: `${RATE_HEADER_NAMES.limit}: ${perMinute} (a minute) or ${perDay} (a day) for a key of plan ${key.plan}`,
            actual: `${RATE_HEADER_NAMES.limit}: ${value}${ofAnotherPlan(value, key)}`,
          },
          exchange,
        );
      }
    },
  },
  {
    // 8: requests left in the current window: a count, never negative, never more than the limit.
    id: 'rate-remaining-value',
    observe(exchange, judge) {
      const { limit, remaining } = rateHeaders(exchange.outcome.headers);
      if (remaining.kind === 'absent') return;
      const name = RATE_HEADER_NAMES.remaining;
      const problem = unreadable(name, remaining, 'a whole number');
      if (problem !== undefined) return judge.breaks(problem, exchange);
      const value = numberOf(remaining) ?? 0;
      const most = numberOf(limit) ?? Number.POSITIVE_INFINITY;
      if (value >= 0 && value <= most) judge.holds(exchange);
      else
        judge.breaks(
          { expected: `${name} from 0 to ${RATE_HEADER_NAMES.limit} (${most})`, actual: `${name}: ${value}` },
          exchange,
        );
    },
  },
  {
    // 8: a Unix timestamp at which the limit resets: in seconds, ahead, and within the window.
    id: 'rate-reset-value',
    observe(exchange, judge, view) {
      const { limit, reset } = rateHeaders(exchange.outcome.headers);
      if (reset.kind === 'absent') return;
      const name = RATE_HEADER_NAMES.reset;
      const problem = unreadable(name, reset, 'a Unix timestamp');
      if (problem !== undefined) return judge.breaks(problem, exchange);
      const seconds = numberOf(reset) ?? 0;
      const key = view.keyOf(exchange);
      const byDay = describesDay(numberOf(limit), key) || mayTellLongerWait(exchange, view);
      const { from, to } = resetRange(exchange, view, byDay ? DAY : MINUTE);
      const value = seconds * 1000;
      if (value >= from && value <= to) return judge.holds(exchange);
      const away = Math.round((value - exchange.receivedAt - (view.targetClock.skew ?? 0)) / 1000);
      judge.breaks(
        {
          expected: `${name}: a Unix time in seconds, from now on, at most ${byDay ? 'a day' : 'a minute'} ahead`,
          actual: `${name}: ${seconds}, which is ${Math.abs(away).toLocaleString('en')} seconds ${away < 0 ? 'ago' : 'ahead'}`,
        },
        exchange,
      );
    },
  },
];
