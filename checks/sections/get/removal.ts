import { contract } from '../../../spec/contract.ts';
import type { TimeRange } from '../../limits/target-clock.ts';

const REMOVED_AT = Date.parse(`${contract.removalDate}T00:00:00Z`);
/** The document names a day and no time zone: somewhere on Earth it begins 14 hours before and ends 12 after UTC's. */
const EARLIEST_ZONE = 14 * 3_600_000;
const LATEST_ZONE = 12 * 3_600_000;
const DAY = 86_400_000;

/** The moments, by the target's clock, between which the removal date begins and ends somewhere. */
export const removalDay = { begins: REMOVED_AT - EARLIEST_ZONE, ends: REMOVED_AT + DAY + LATEST_ZONE };

/**
 * Whether GET /pets/{petId} still exists by the target's clock (section 4.3, 9): before its removal date, after it, or
 * on it, when either is right. A target that shows no clock is taken to live before.
 */
export function removal(now: TimeRange | undefined): 'before' | 'on the day' | 'after' {
  if (now === undefined || now.latest < removalDay.begins) return 'before';
  return now.earliest > removalDay.ends ? 'after' : 'on the day';
}
