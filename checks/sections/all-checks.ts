/** Every check and every gap observer, in the order in which they are run. */
import type { Check, GapObserver } from '../run/check.ts';
import { addAnimalChecks } from './add/checks.ts';
import { addAnimalGaps } from './add/gaps.ts';
import { banChecks, banGaps } from './ban/checks.ts';
import { dailyQuotaChecks } from './day/checks.ts';
import { errorBodyChecks } from './errors/checks.ts';
import { getAnimalChecks, getAnimalGaps } from './get/checks.ts';
import { deprecationChecks, deprecationGaps } from './get/deprecation.ts';
import { rateHeaderChecks } from './headers/checks.ts';
import { authenticationChecks, authenticationGaps } from './keys/checks.ts';
import { listAnimalChecks } from './list/checks.ts';
import { listAnimalGaps } from './list/gaps.ts';
import { rateLimitChecks, rateLimitGaps } from './minute/checks.ts';
import { serviceChecks, serviceGaps } from './service/checks.ts';

/** Adding comes before listing and getting, which then find the run's own animals; limits come last. */
export const allChecks: readonly Check[] = [
  ...serviceChecks,
  ...addAnimalChecks,
  ...listAnimalChecks,
  ...getAnimalChecks,
  ...deprecationChecks,
  ...authenticationChecks,
  ...errorBodyChecks,
  ...rateHeaderChecks,
  ...rateLimitChecks,
  ...banChecks,
  ...dailyQuotaChecks,
];

export const allGapObservers: readonly GapObserver[] = [
  ...serviceGaps,
  ...addAnimalGaps,
  ...listAnimalGaps,
  ...getAnimalGaps,
  ...deprecationGaps,
  ...authenticationGaps,
  ...rateLimitGaps,
  ...banGaps,
];
