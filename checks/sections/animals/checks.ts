/** Sections 2 to 4: adding animals, listing them and getting one. */
import type { Check } from '../../run/check.ts';
import { addAnimalChecks } from './add-checks.ts';
import { deprecationChecks } from './deprecation.ts';
import { getAnimalChecks } from './get-checks.ts';
import { listAnimalChecks } from './list-checks.ts';

/** By part, in the order in which they run: what is added is listed and retrieved. */
export const animalChecks: Readonly<Record<string, readonly Check[]>> = {
  'add-animal': addAnimalChecks,
  'list-animals': listAnimalChecks,
  'get-animal': getAnimalChecks,
  deprecation: deprecationChecks,
};
