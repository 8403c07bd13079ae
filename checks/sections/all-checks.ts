/** Every check and every gap observer, in the order in which they are run. */
import type { Check, GapObserver } from '../harness/check.ts';
import { addAnimalChecks } from './add-animal.ts';
import { addAnimalGaps } from './add-gaps.ts';
import { authenticationChecks, authenticationGaps } from './authentication.ts';
import { banChecks, banGaps } from './bans.ts';
import { dailyQuotaChecks } from './daily-quota.ts';
import { deprecationChecks, deprecationGaps } from './deprecation.ts';
import { errorBodyChecks } from './error-bodies.ts';
import { getAnimalChecks, getAnimalGaps } from './get-animal.ts';
import { listAnimalChecks } from './list-animals.ts';
import { listAnimalGaps } from './list-gaps.ts';
import { rateHeaderChecks } from './rate-headers.ts';
import { rateLimitChecks, rateLimitGaps } from './rate-limits.ts';
import { serviceChecks, serviceGaps } from './service.ts';

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
