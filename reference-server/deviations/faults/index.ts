import type { Deviation, DeviationTable } from '../deviation.ts';
import { ADDITION_FAULTS } from './additions.ts';
import { AUTHENTICATION_FAULTS } from './authentication.ts';
import { BODY_FAULTS } from './bodies.ts';
import { GETTING_FAULTS } from './getting.ts';
import { LIMIT_FAULTS } from './limits.ts';
import { LISTING_FAULTS } from './listing.ts';
import { LOAD_FAULTS } from './load.ts';
import { RATE_HEADER_FAULTS } from './rate-headers.ts';
import { REFUSAL_FAULTS } from './refusals.ts';

/** One thing that a server does wrong, and nothing else. */
export interface Fault {
  readonly name: string;
  /** The id of the requirement that it breaks. */
  readonly breaks: string;
  readonly deviation: Deviation;
}

/** The faults of a table, in its order: by the requirement that they break, then by a name that says what is wrong where. */
const faultsOf = (table: DeviationTable): Fault[] =>
  Object.entries(table).flatMap(([breaks, rows]) =>
    Object.entries(rows).map(([name, deviation]) => ({ name, breaks, deviation })),
  );

/** Every fault that a run of the checks can see, one at a time. */
export const FAULTS: readonly Fault[] = [
  BODY_FAULTS,
  LISTING_FAULTS,
  ADDITION_FAULTS,
  GETTING_FAULTS,
  AUTHENTICATION_FAULTS,
  RATE_HEADER_FAULTS,
  LIMIT_FAULTS,
  REFUSAL_FAULTS,
].flatMap(faultsOf);

/** What a server can be started with: also what shows only under load, as a run of checks does not send enough. */
export const EVERY_FAULT: readonly Fault[] = [...FAULTS, ...faultsOf(LOAD_FAULTS)];
