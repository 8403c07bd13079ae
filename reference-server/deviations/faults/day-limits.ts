import type { Personality } from '../personality.ts';
import { answering, header, type When, withError } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { admitsOther } from './windows.ts';

const refusedByDay: When = (answer, call) => answer.status === 429 && call.refusedBy === 'day';
const retryAfter = (change: (seconds: number) => string | null): Personality =>
  header('Retry-After', refusedByDay, (value) => change(Number(value)));
const unlimited = (plan: string): Personality => ({
  recipe: ({ limitsOf }) => ({
    limitsOf: (key) =>
      key.plan === plan ? { ...limitsOf(key), perDay: Number.MAX_SAFE_INTEGER } : limitsOf(key),
  }),
});

/** Section 8: requests per day. */
// biome-ignore format: a table, a line or two for each fault
export const DAY_LIMIT_FAULTS: FaultTable = {
  'rate-day-free': {
    'free-990-a-day': ['A Free key has 990 requests a day.', admitsOther('free', 'perDay', -10)],
    'free-999-a-day': ['A Free key has 999 requests a day.', admitsOther('free', 'perDay', -1)],
    'free-1001-a-day': ['A Free key has 1,001 requests a day.', admitsOther('free', 'perDay', 1)],
    'free-1010-a-day': ['A Free key has 1,010 requests a day.', admitsOther('free', 'perDay', 10)],
    'free-day-unlimited': ['A Free key has no limit per day.', unlimited('free')],
    'day-of-ten-minutes': ['The day of every key is over after ten minutes.',
      { recipe: ({ dayMeter }) => ({ dayMeter: (limit) => dayMeter(limit, 600_000) }) }],
  },
  'rate-day-pro': {
    'pro-9990-a-day': ['A Pro key has 9,990 requests a day.', admitsOther('pro', 'perDay', -10)],
    'pro-10010-a-day': ['A Pro key has 10,010 requests a day.', admitsOther('pro', 'perDay', 10)],
    'pro-day-unlimited': ['A Pro key has no limit per day.', unlimited('pro')],
  },
  'rate-day-business': {
    'business-99990-a-day': ['A Business key has 99,990 requests a day.',
      admitsOther('business', 'perDay', -10)],
    'business-100010-a-day': ['A Business key has 100,010 requests a day.',
      admitsOther('business', 'perDay', 10)],
  },
  'rate-day-enterprise': {
    'enterprise-ten-too-few-a-day': ['An Enterprise key has ten requests a day too few.',
      admitsOther('enterprise', 'perDay', -10)],
    'enterprise-ten-too-many-a-day': ['An Enterprise key has ten requests a day too many.',
      admitsOther('enterprise', 'perDay', 10)],
  },
  'rate-day-refusal': {
    'day-refusal-for-a-minute': ["The day's refusal says to retry after a minute.", retryAfter(() => '60')],
    'day-refusal-without-retry-after': ["The day's refusal has no Retry-After.", retryAfter(() => null)],
    'day-refusal-for-two-days': ["The day's refusal says to retry after two days.",
      retryAfter(() => '172800')],
    'day-refusal-at-once': ["The day's refusal says to retry after 0 seconds.", retryAfter(() => '0')],
    'day-refusal-half': ["The day's refusal says to retry after half of what is left of the day.",
      retryAfter((seconds) => String(Math.floor(seconds / 2)))],
    'day-refusal-reset-in-a-minute': ["X-RateLimit-Reset of the day's refusal is a minute ahead.",
      header('X-RateLimit-Reset', refusedByDay, (_value, call) => String(Math.ceil(call.now / 1000) + 60))],
    'day-refusal-reset-beyond-day': ["X-RateLimit-Reset of the day's refusal is two days later.",
      header('X-RateLimit-Reset', refusedByDay, (value) => String(Number(value) + 172_800))],
    'day-refusal-403': ["The day's refusal is a 403.",
      answering(refusedByDay, (answer) => withError(answer, 403))],
  },
};
