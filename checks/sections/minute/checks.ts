/** Section 8: requests per minute. */

import type { Check } from '../../run/check.ts';
import { remainingExhausted, remainingFalls } from '../headers/remaining.ts';
import { keysApartChecks } from '../keys/apart.ts';
import { concurrent, minuteRow, nextWindow } from './minute-count.ts';
import { overLimitChecks } from './over-limit.ts';
import { resetTrue, retryAfterChecks } from './retry-after.ts';

/** Ordered by subject, including the checks of other folders. */
export const rateLimitChecks: readonly Check[] = [
  remainingFalls,
  ...keysApartChecks,
  minuteRow('free'),
  minuteRow('pro'),
  minuteRow('business'),
  minuteRow('enterprise'),
  concurrent,
  ...overLimitChecks,
  remainingExhausted,
  resetTrue,
  nextWindow,
  ...retryAfterChecks,
];
