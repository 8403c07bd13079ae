import { overLimit } from '../../conforming.ts';
import { httpDate } from '../../headers.ts';
import type { Parts } from '../../recipe.ts';
import { admitting, header, type When } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { fromSecondWindow, toValidKey, whenOverLimit } from './windows.ts';

const resetShown = (when: When, change: (seconds: number, now: number) => string) =>
  header('X-RateLimit-Reset', when, (value, call) => change(Number(value), call.now));

/** Once a key has been refused, the end of its window moves away with every further refusal. */
const penalty = ({ limiter }: Parts) => {
  const closedUntil = new Map<string, number>();
  return admitting((usual, key, call) => {
    const { now } = call;
    const isClosed = now < (closedUntil.get(key.name) ?? 0);
    const gate = isClosed
      ? {
          quota: limiter.closed(key, now),
          refusedBy: 'minute' as const,
          refusal: overLimit('minute', limiter.freeAt(key, now), now),
        }
      : usual(key, call);
    if (gate.refusedBy === 'minute') closedUntil.set(key.name, now + 60_000);
    return gate;
  });
};

/** Section 8: what X-RateLimit-Reset says, and whether it is true. */
// biome-ignore format: a table, a line or two for each fault
export const RESET_VALUE_FAULTS: FaultTable = {
  'rate-reset-value': {
    'reset-in-milliseconds': ['X-RateLimit-Reset is in milliseconds.',
      resetShown(toValidKey, (reset) => String(reset * 1000))],
    'reset-in-seconds-to-go': ['X-RateLimit-Reset is the number of seconds to wait.',
      resetShown(toValidKey, (reset, now) => String(Math.max(0, reset - Math.floor(now / 1000))))],
    'reset-in-the-past': ['X-RateLimit-Reset is when the window began.',
      resetShown(toValidKey, (reset) => String(reset - 60 - 30))],
    'reset-an-hour-late': ['X-RateLimit-Reset is an hour beyond the end of the minute.',
      resetShown(toValidKey, (reset) => String(reset + 3600))],
    'reset-two-windows-ahead': ['X-RateLimit-Reset is the end of the window after the current one.',
      resetShown(toValidKey, (reset) => String(reset + 60))],
    'reset-a-minute-later-each-time': ['X-RateLimit-Reset is a minute later with every answer.', () => {
      let minutes = 0;
      return resetShown(toValidKey, (reset) => String(reset + 60 * minutes++));
    }],
    'reset-as-date': ['X-RateLimit-Reset is a date in words.',
      resetShown(toValidKey, (reset) => httpDate(reset * 1000))],
    'reset-as-iso-date': ['X-RateLimit-Reset is a date as in ISO 8601.',
      resetShown(toValidKey, (reset) => new Date(reset * 1000).toISOString())],
    'reset-zero': ['X-RateLimit-Reset is 0.', resetShown(toValidKey, () => '0')],
    'reset-in-milliseconds-on-429': ['Only on a 429 X-RateLimit-Reset is in milliseconds.',
      resetShown(whenOverLimit, (reset) => String(reset * 1000))],
    'reset-of-earlier-window': ['From the second window on X-RateLimit-Reset is that of two windows before.',
      fromSecondWindow((when) => resetShown(when, (reset) => String(reset - 120)))],
    'reset-in-local-time': ['X-RateLimit-Reset is off by the hours of a time zone.',
      resetShown(toValidKey, (reset) => String(reset + 7 * 3600))],
  },
  'rate-reset-true': {
    'reset-ten-seconds-early': ['X-RateLimit-Reset is ten seconds too early.',
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 10, Math.ceil(now / 1000))))],
    'reset-four-seconds-early': ['X-RateLimit-Reset is four seconds too early.',
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 4, Math.ceil(now / 1000))))],
    'reset-half-way': ['X-RateLimit-Reset of a 429 is half of the time that is left.',
      resetShown(whenOverLimit, (reset, now) => String(Math.ceil((reset + now / 1000) / 2)))],
    'reset-now-on-429': ['X-RateLimit-Reset of a 429 is the current second.',
      resetShown(whenOverLimit, (_reset, now) => String(Math.floor(now / 1000)))],
    'reset-always-now': ['X-RateLimit-Reset is always the current second.',
      resetShown(toValidKey, (_reset, now) => String(Math.ceil(now / 1000)))],
    'reset-pushed-back': ['A refused request lets the window begin anew, though the headers say otherwise.',
      penalty],
  },
};
