import { ADDING_FAULTS } from './adding.ts';
import { AUTHENTICATION_FAULTS } from './authentication.ts';
import { BAN_FAULTS } from './bans.ts';
import { ERROR_BODY_FAULTS } from './error-bodies.ts';
import { type Fault, faultsOf } from './fault.ts';
import { GETTING_FAULTS } from './getting.ts';
import { INVALID_ADDITION_FAULTS } from './invalid-additions.ts';
import { KEYS_APART_FAULTS } from './keys-apart.ts';
import { LIMIT_FAULTS } from './limits.ts';
import { LISTING_FAULTS } from './listing.ts';
import { LOAD_FAULTS as OF_LOAD } from './load.ts';
import { OVER_LIMIT_FAULTS } from './over-limit.ts';
import { PET_FAULTS } from './pets.ts';
import { RATE_HEADER_FAULTS } from './rate-headers.ts';
import { VERSION_AND_BODY_FAULTS } from './version-and-bodies.ts';

/** Every fault that a run of the checks can see, one at a time, in the order of the document. */
export const FAULTS: readonly Fault[] = [
  VERSION_AND_BODY_FAULTS,
  PET_FAULTS,
  LISTING_FAULTS,
  ADDING_FAULTS,
  INVALID_ADDITION_FAULTS,
  GETTING_FAULTS,
  AUTHENTICATION_FAULTS,
  ERROR_BODY_FAULTS,
  RATE_HEADER_FAULTS,
  LIMIT_FAULTS,
  KEYS_APART_FAULTS,
  OVER_LIMIT_FAULTS,
  BAN_FAULTS,
].flatMap(faultsOf);

/** What shows only under load: a run of checks does not send enough to see it. */
export const LOAD_FAULTS: readonly Fault[] = faultsOf(OF_LOAD);

/** What a server can be started with. */
export const EVERY_FAULT: readonly Fault[] = [...FAULTS, ...LOAD_FAULTS];
