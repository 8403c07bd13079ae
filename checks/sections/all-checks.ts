/** Every check and every gap observer, in the order in which they are run. */
import { PLAN_NAMES } from '../../spec/plans.ts';
import type { Check, GapObserver } from '../run/check.ts';
import { addAnimalChecks } from './animals/add-checks.ts';
import { animalGaps } from './animals/gaps.ts';
import { getAnimalChecks } from './animals/get-checks.ts';
import { listAnimalChecks } from './animals/list-checks.ts';
import { errorBodyChecks } from './answers/by-status.ts';
import { keyChecks } from './answers/key-checks.ts';
import { rateHeaderChecks, remainingExhausted, remainingFalls } from './answers/rate-headers.ts';
import { serviceChecks, serviceGaps } from './answers/service.ts';
import { banChecks, banGaps } from './quota/ban-checks.ts';
import { dailyQuotaChecks } from './quota/day.ts';
import { keysApartChecks } from './quota/keys-apart.ts';
import { concurrent, minuteRow, nextWindow, overLimitChecks } from './quota/minute-count.ts';
import { resetTrue, retryAfterChecks, retryAfterFormat } from './quota/retry-after.ts';

/** Of section 8, ordered by subject. */
export const quotaChecks: readonly Check[] = [
  remainingFalls,
  ...keysApartChecks,
  ...PLAN_NAMES.map(minuteRow),
  concurrent,
  ...overLimitChecks,
  remainingExhausted,
  resetTrue,
  nextWindow,
  ...retryAfterChecks,
  ...banChecks,
  ...dailyQuotaChecks,
];

/** Adding comes before listing and getting, so that these find the run's own animals. */
export const animalChecks = [...addAnimalChecks, ...listAnimalChecks, ...getAnimalChecks];

/** In the order in which they run. Limits come last. */
export const allChecks: readonly Check[] = [
  ...serviceChecks,
  ...animalChecks,
  ...keyChecks,
  ...errorBodyChecks,
  ...rateHeaderChecks,
  ...quotaChecks,
];

export const allGapObservers: readonly GapObserver[] = [
  ...serviceGaps,
  ...animalGaps,
  retryAfterFormat,
  ...banGaps,
];
