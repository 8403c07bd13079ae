/** Every check and every gap observer, in the order in which they are run. */
import type { Check, GapObserver } from '../run/check.ts';
import { addAnimalChecks } from './animals/add-checks.ts';
import { animalGaps } from './animals/gaps.ts';
import { deprecationChecks, getAnimalChecks } from './animals/get-checks.ts';
import { listAnimalChecks } from './animals/list-checks.ts';
import { errorBodyChecks } from './answers/error-bodies.ts';
import { keyChecks } from './answers/key-checks.ts';
import { rateHeaderChecks } from './answers/rate-headers.ts';
import { serviceChecks, serviceGaps } from './answers/service.ts';
import { quotaChecks, quotaGaps } from './quota/checks.ts';

export { bannedAnswers } from './quota/ban-checks.ts';

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
  authentication: keyChecks,
  'error-bodies': errorBodyChecks,
  'rate-headers': rateHeaderChecks,
  ...quotaChecks,
};

export const allChecks: readonly Check[] = Object.values(checksByPart).flat();

export const allGapObservers: readonly GapObserver[] = [...serviceGaps, ...animalGaps, ...quotaGaps];
