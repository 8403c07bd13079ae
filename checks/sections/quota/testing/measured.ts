/** Measurements of section 8 as they come of a target that keeps its limits; a test says what is otherwise. */

import { reading } from '../../../limits/testing/simulated-limits.ts';
import { MINUTE } from '../../../limits/time.ts';
import type { CountVerdict } from '../../../limits/window-count.ts';
import type { Key } from '../../../profile/key.ts';
import { NOON, testKey } from '../../../run/testing/test-run.ts';
import type { AnsweredExchange } from '../../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../../wire/rate-headers.ts';
import { type AnswerParts, answered } from '../../../wire/testing/answered.ts';
import type { BanMeasurement } from '../ban-reading.ts';
import { isAdmitted } from '../key-spending.ts';
import type { MinuteMeasurement } from '../minute.ts';
import type { FilledWindow } from '../window-filling.ts';

/** A small plan, so that a whole window is read at a glance. */
export const PER_MINUTE = 6;

export const exhaustKey = (given: Partial<Key> = {}): Key =>
  testKey({
    roles: ['functional', 'exhaust'],
    limits: { perMinute: PER_MINUTE, perDay: 1000 },
    ...given,
  });

/** What an answer tells of the limit. */
export interface Told {
  readonly status?: number;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** Seconds from noon on. */
  readonly reset?: number | undefined;
  readonly retryAfter?: string | number | undefined;
  /** Of the Error body. */
  readonly code?: string | undefined;
  /** Seconds from noon on; without it the target shows no clock. */
  readonly date?: number | undefined;
  readonly body?: string;
}

/** An answer with rate headers; a refusal for the minute but for what is told. */
export function telling(told: Told = {}): AnswerParts {
  const { status = 429, code = 'rate_limited', retryAfter, date } = told;
  const limit = 'limit' in told ? told.limit : PER_MINUTE;
  const remaining = 'remaining' in told ? told.remaining : 0;
  const reset = 'reset' in told ? told.reset : 60;
  const field = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [[name, `${value}`] as const];
  return {
    status,
    headers: [
      ...field('Content-Type', 'application/json'),
      ...field('X-RateLimit-Limit', limit),
      ...field('X-RateLimit-Remaining', remaining),
      ...field('X-RateLimit-Reset', reset === undefined ? undefined : NOON / 1000 + reset),
      ...field('Retry-After', retryAfter),
      ...field('Date', date === undefined ? undefined : new Date(NOON + date * 1000).toUTCString()),
    ],
    body: told.body ?? (status < 300 ? '[]' : JSON.stringify({ code, message: 'Wait', status })),
  };
}

/** An exchange of that kind, sent some seconds after noon and answered a tenth of a second later. */
export function exchangeAt(id: string, seconds: number, told: Told = {}): AnsweredExchange {
  const sentAt = NOON + seconds * 1000;
  return answered({ ...telling(told), id, sentAt, receivedAt: sentAt + 100 });
}

/** As many requests that were admitted from noon on, a tenth of a second apart; Remaining falls and Reset stands. */
export const admittedReadings = (count: number, given: Partial<RateReading> = {}): RateReading[] =>
  Array.from({ length: count }, (_, index) =>
    reading({
      sentAt: NOON + index * 100,
      limit: PER_MINUTE,
      remaining: Math.max(0, PER_MINUTE - 1 - index),
      reset: NOON + MINUTE,
      date: NOON,
      ...given,
    }),
  );

export const exact: CountVerdict = { kind: 'exact' };
export const more: CountVerdict = { kind: 'more' };
export const fewer = (before = 0, between = 0): CountVerdict => ({ kind: 'fewer', before, between });

/** A window that admitted this many requests before it refused one. */
export function windowOf(
  verdict: CountVerdict,
  admitted: number | readonly RateReading[] = PER_MINUTE,
  given: Partial<FilledWindow> = {},
): FilledWindow {
  const readings = typeof admitted === 'number' ? admittedReadings(admitted) : admitted;
  const refusal = 'refusal' in given ? given.refusal : exchangeAt('refusal', 1, { retryAfter: 59 });
  return {
    count: { perMinute: PER_MINUTE, admitted: readings, all: readings, verdict },
    last: refusal,
    refusals: refusal === undefined ? [] : [refusal],
    servedOver: undefined,
    closed: undefined,
    lost: undefined,
    ...given,
    refusal,
  };
}

/** What tells of how quota comes back: at once, bit by bit, or in headers that do not describe the minute. */
const comingBack = (refilling: boolean | undefined): Told =>
  refilling === undefined
    ? { limit: 1000, remaining: 900 }
    : refilling
      ? { remaining: 1, reset: 61 }
      : { remaining: PER_MINUTE - 1, reset: 120 };

/** A request that was to be admitted, and what came: a whole quota but for what is told, or a refusal. */
export const retryOf = (id: string, seconds: number, told: Told = {}): AnsweredExchange =>
  exchangeAt(
    id,
    seconds,
    (told.status ?? 200) >= 400 ? told : { status: 200, ...comingBack(false), ...told },
  );

/** What of a measurement is otherwise. */
export interface Measured extends Partial<MinuteMeasurement> {
  readonly refilling?: boolean | undefined;
  readonly afterRetryAfter?: AnsweredExchange | undefined;
  readonly afterReset?: AnsweredExchange | undefined;
}

/** A minute that was counted exactly, of a target that admits again when it said so. */
export function minuteMeasured(key: Key, given: Measured = {}): MinuteMeasurement {
  const { windows = [windowOf(exact)], next = [] } = given;
  const told = comingBack('refilling' in given ? given.refilling : false);
  const {
    afterRetryAfter = 'afterRetryAfter' in given ? undefined : retryOf('after-retry-after', 60, told),
    afterReset = 'afterReset' in given ? undefined : retryOf('after-reset', 61, told),
  } = given;
  const refusal = windows[0]?.refusal;
  const asked = [afterRetryAfter, afterReset].filter((exchange) => exchange !== undefined);
  const admitted = asked.find(isAdmitted);
  const after =
    refusal === undefined
      ? undefined
      : {
          refusal,
          obeyed: refusal,
          asked,
          refill: {
            perMinute: key.limits.perMinute,
            refused: rateReading(refusal),
            first: admitted === undefined ? undefined : rateReading(admitted),
          },
          afterRetryAfter,
          afterReset,
        };
  return {
    key,
    windows,
    next,
    after: 'after' in given ? given.after : after,
    ...(given.spent === undefined ? {} : { spent: given.spent }),
  };
}

/** A key that went on over its limit, and what it got. */
export const banMeasured = (key: Key, given: Partial<BanMeasurement> = {}): BanMeasurement => ({
  key,
  admitted: [],
  refused: [],
  rounds: [],
  others: [],
  later: [],
  ...given,
});
