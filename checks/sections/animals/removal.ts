import { contract } from '../../../spec/contract.ts';
import type { TimeRange } from '../../limits/target-clock.ts';
import { DAY } from '../../limits/time.ts';

const REMOVED_AT = Date.parse(`${contract.removalDate}T00:00:00Z`);
/**
 * The document names a day but no time zone: on Earth a day begins up to 14 hours before and ends up to 12 after UTC's.
 */
const EARLIEST_ZONE = 14 * 3_600_000;
const LATEST_ZONE = 12 * 3_600_000;

/** When the removal date begins in the first time zone and ends in the last, by the target's clock. */
export const removalDay = { begins: REMOVED_AT - EARLIEST_ZONE, ends: REMOVED_AT + DAY + LATEST_ZONE };

export type Removal = 'before' | 'on the day' | 'after' | 'disputed';

const removalAt = (earliest: number, latest: number): Removal =>
  latest < removalDay.begins ? 'before' : earliest > removalDay.ends ? 'after' : 'on the day';

/**
 * Whether GET /pets/{petId} still exists (sections 4.3 and 9): before its removal date, after it, or on it, when both
 * are right. If the target's clock and ours disagree about that, it is unknown which one is wrong.
 *
 * @param theirs the target's clock, if it shows one
 * @param ours our own clock at that moment
 */
export function removal(theirs: TimeRange | undefined, ours: number): Removal {
  const byOurs = removalAt(ours, ours);
  return theirs === undefined || removalAt(theirs.earliest, theirs.latest) === byOurs ? byOurs : 'disputed';
}
