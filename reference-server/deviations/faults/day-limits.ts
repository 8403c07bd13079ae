import type { Personality } from '../personality.ts';
import { answering, header, type When, withError } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';
import { admitsOther } from './windows.ts';

const REFUSAL = 'rate-day-refusal';

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
export const DAY_LIMIT_FAULTS: readonly Fault[] = [
  fault(
    'free-990-a-day',
    'rate-day-free',
    'A Free key has 990 requests a day.',
    admitsOther('free', 'perDay', -10),
  ),
  fault(
    'free-999-a-day',
    'rate-day-free',
    'A Free key has 999 requests a day.',
    admitsOther('free', 'perDay', -1),
  ),
  fault(
    'free-1001-a-day',
    'rate-day-free',
    'A Free key has 1,001 requests a day.',
    admitsOther('free', 'perDay', 1),
  ),
  fault(
    'free-1010-a-day',
    'rate-day-free',
    'A Free key has 1,010 requests a day.',
    admitsOther('free', 'perDay', 10),
  ),
  fault('free-day-unlimited', 'rate-day-free', 'A Free key has no limit per day.', unlimited('free')),
  fault('day-of-ten-minutes', 'rate-day-free', 'The day of every key is over after ten minutes.', {
    recipe: ({ dayMeter }) => ({ dayMeter: (limit) => dayMeter(limit, 600_000) }),
  }),
  fault(
    'pro-9990-a-day',
    'rate-day-pro',
    'A Pro key has 9,990 requests a day.',
    admitsOther('pro', 'perDay', -10),
  ),
  fault(
    'pro-10010-a-day',
    'rate-day-pro',
    'A Pro key has 10,010 requests a day.',
    admitsOther('pro', 'perDay', 10),
  ),
  fault('pro-day-unlimited', 'rate-day-pro', 'A Pro key has no limit per day.', unlimited('pro')),
  fault(
    'business-99990-a-day',
    'rate-day-business',
    'A Business key has 99,990 requests a day.',
    admitsOther('business', 'perDay', -10),
  ),
  fault(
    'business-100010-a-day',
    'rate-day-business',
    'A Business key has 100,010 requests a day.',
    admitsOther('business', 'perDay', 10),
  ),
  fault(
    'enterprise-ten-too-few-a-day',
    'rate-day-enterprise',
    'An Enterprise key has ten requests a day too few.',
    admitsOther('enterprise', 'perDay', -10),
  ),
  fault(
    'enterprise-ten-too-many-a-day',
    'rate-day-enterprise',
    'An Enterprise key has ten requests a day too many.',
    admitsOther('enterprise', 'perDay', 10),
  ),

  fault(
    'day-refusal-for-a-minute',
    REFUSAL,
    "The day's refusal says to retry after a minute.",
    retryAfter(() => '60'),
  ),
  fault(
    'day-refusal-without-retry-after',
    REFUSAL,
    "The day's refusal has no Retry-After.",
    retryAfter(() => null),
  ),
  fault(
    'day-refusal-for-two-days',
    REFUSAL,
    "The day's refusal says to retry after two days.",
    retryAfter(() => '172800'),
  ),
  fault(
    'day-refusal-at-once',
    REFUSAL,
    "The day's refusal says to retry after 0 seconds.",
    retryAfter(() => '0'),
  ),
  fault(
    'day-refusal-half',
    REFUSAL,
    "The day's refusal says to retry after half of what is left of the day.",
    retryAfter((seconds) => String(Math.floor(seconds / 2))),
  ),
  fault(
    'day-refusal-reset-in-a-minute',
    REFUSAL,
    "X-RateLimit-Reset of the day's refusal is a minute ahead.",
    header('X-RateLimit-Reset', refusedByDay, (_value, call) => String(Math.ceil(call.now / 1000) + 60)),
  ),
  fault(
    'day-refusal-reset-beyond-day',
    REFUSAL,
    "X-RateLimit-Reset of the day's refusal is two days later.",
    header('X-RateLimit-Reset', refusedByDay, (value) => String(Number(value) + 172_800)),
  ),
  fault(
    'day-refusal-403',
    REFUSAL,
    "The day's refusal is a 403.",
    answering(refusedByDay, (answer) => withError(answer, 403)),
  ),
];
