/** Every check and every gap observer, in the order in which they are run. */
import type { Check, GapObserver } from '../run/check.ts';
import { addAnimalChecks } from './add/checks.ts';
import { addAnimalGaps } from './add/gaps.ts';
import { banChecks } from './ban/checks.ts';
import { banGaps } from './ban/gaps.ts';
import { dailyQuotaChecks } from './day/checks.ts';
import { errorBodyChecks } from './errors/checks.ts';
import { getAnimalChecks, getAnimalGaps } from './get/checks.ts';
import { deprecationChecks, deprecationGaps } from './get/deprecation.ts';
import { rateHeaderChecks } from './headers/checks.ts';
import { authenticationChecks } from './keys/checks.ts';
import { authenticationGaps } from './keys/gaps.ts';
import { listAnimalChecks } from './list/checks.ts';
import { listAnimalGaps } from './list/gaps.ts';
import { rateLimitChecks } from './minute/checks.ts';
import { rateLimitGaps } from './minute/gaps.ts';
import { serviceChecks, serviceGaps } from './service/checks.ts';

export { bannedAnswers } from './ban/checks.ts';

/**
 * The checks by part, as `--only` takes them, in the order in which they run. Adding comes before listing and getting,
 * so that these find the run's own animals. Limits come last.
 */
export const checksByPart: Readonly<Record<string, readonly Check[]>> = {
  service: serviceChecks,
  'add-animal': addAnimalChecks,
  'list-animals': listAnimalChecks,
  'get-animal': getAnimalChecks,
  deprecation: deprecationChecks,
  authentication: authenticationChecks,
  'error-bodies': errorBodyChecks,
  'rate-headers': rateHeaderChecks,
  'rate-limits': rateLimitChecks,
  bans: banChecks,
  'daily-quota': dailyQuotaChecks,
};

export const allChecks: readonly Check[] = Object.values(checksByPart).flat();

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
