import { ADDING_FAULTS } from './adding.ts';
import { AUTHENTICATION_FAULTS } from './authentication.ts';
import { BAN_FAULTS } from './bans.ts';
import { DAY_LIMIT_FAULTS } from './day-limits.ts';
import { DEPRECATION_FAULTS } from './deprecation.ts';
import { ERROR_BODY_FAULTS } from './error-bodies.ts';
import { type Fault, faultsOf } from './fault.ts';
import { GETTING_ANIMAL_FAULTS } from './getting-animals.ts';
import { GETTING_ID_FAULTS } from './getting-ids.ts';
import { GETTING_REMOVAL_FAULTS } from './getting-removal.ts';
import { IDENTITY_FAULTS } from './identity.ts';
import { KEYS_APART_FAULTS } from './keys-apart.ts';
import { LIMIT_VALUE_FAULTS } from './limit-values.ts';
import { LISTING_ANSWER_FAULTS } from './listing-answers.ts';
import { LISTING_FILTER_FAULTS } from './listing-filters.ts';
import { LISTING_LIMIT_FAULTS } from './listing-limits.ts';
import { LOAD_FAULTS as OF_LOAD } from './load.ts';
import { LOOKING_BACK_FAULTS } from './looking-back.ts';
import { MINUTE_LIMIT_FAULTS } from './minute-limits.ts';
import { OVER_LIMIT_FAULTS } from './over-limit.ts';
import { PET_FIELD_FAULTS } from './pet-fields.ts';
import { RATE_HEADER_FAULTS } from './rate-headers.ts';
import { REFUSED_BODY_FAULTS } from './refused-bodies.ts';
import { REFUSED_FIELD_FAULTS } from './refused-fields.ts';
import { REMAINING_VALUE_FAULTS } from './remaining-values.ts';
import { RESET_VALUE_FAULTS } from './reset-values.ts';
import { RETRY_AFTER_FAULTS } from './retry-after.ts';
import { VERSION_AND_BODY_FAULTS } from './version-and-bodies.ts';

/** Every fault that a run of the checks can see, one at a time, in the order of the document. */
export const FAULTS: readonly Fault[] = [
  VERSION_AND_BODY_FAULTS,
  PET_FIELD_FAULTS,
  IDENTITY_FAULTS,
  LISTING_ANSWER_FAULTS,
  LISTING_LIMIT_FAULTS,
  LISTING_FILTER_FAULTS,
  ADDING_FAULTS,
  REFUSED_FIELD_FAULTS,
  REFUSED_BODY_FAULTS,
  GETTING_ANIMAL_FAULTS,
  GETTING_ID_FAULTS,
  GETTING_REMOVAL_FAULTS,
  DEPRECATION_FAULTS,
  AUTHENTICATION_FAULTS,
  ERROR_BODY_FAULTS,
  RATE_HEADER_FAULTS,
  LIMIT_VALUE_FAULTS,
  REMAINING_VALUE_FAULTS,
  RESET_VALUE_FAULTS,
  MINUTE_LIMIT_FAULTS,
  KEYS_APART_FAULTS,
  OVER_LIMIT_FAULTS,
  LOOKING_BACK_FAULTS,
  DAY_LIMIT_FAULTS,
  RETRY_AFTER_FAULTS,
  BAN_FAULTS,
].flatMap(faultsOf);

/** What shows only under load: a run of checks does not send enough to see it. */
export const LOAD_FAULTS: readonly Fault[] = faultsOf(OF_LOAD);
