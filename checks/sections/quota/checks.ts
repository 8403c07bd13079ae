/** Section 8: what keys may spend, and what becomes of those that spend more. */

import { PLAN_NAMES } from '../../../spec/plans.ts';
import type { Check, GapObserver } from '../../run/check.ts';
import { remainingExhausted, remainingFalls } from '../answers/remaining.ts';
import { banChecks, banGaps } from './ban-checks.ts';
import { dailyQuotaChecks } from './day-checks.ts';
import { keysApartChecks } from './keys-apart.ts';
import { concurrent, minuteRow, nextWindow } from './minute-count.ts';
import { overLimitChecks } from './over-limit.ts';
import { resetTrue, retryAfterChecks, retryAfterFormat } from './retry-after.ts';

/** Ordered by subject. */
const rateLimitChecks: readonly Check[] = [
  remainingFalls,
  ...keysApartChecks,
  ...PLAN_NAMES.map(minuteRow),
  concurrent,
  ...overLimitChecks,
  remainingExhausted,
  resetTrue,
  nextWindow,
  ...retryAfterChecks,
];

/** By part, as `--only` takes them. */
export const quotaChecks = {
  'rate-limits': rateLimitChecks,
  bans: banChecks,
  'daily-quota': dailyQuotaChecks,
} as const;

export const quotaGaps: readonly GapObserver[] = [retryAfterFormat, ...banGaps];
