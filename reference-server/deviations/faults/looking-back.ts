import type { MeterKind } from '../../rate-meter.ts';
import { SlidingLog, TokenBucket } from '../meters.ts';
import type { Personality } from '../personality.ts';
import { type Fault, type FaultTable, faultsOf } from './fault.ts';

const minuteBy = (minuteMeter: MeterKind): Personality => ({ recipe: () => ({ minuteMeter }) });

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'rate-minute-free': {
    'sliding-window-half-minute': ['A sliding window looks back for half a minute only.',
      minuteBy((limit, windowMs) => new SlidingLog(limit, windowMs / 2))],
    'bucket-refills-twice-as-fast': ['A bucket of the right size refills in half a minute.',
      minuteBy((limit, windowMs) => new TokenBucket(limit, windowMs / 2))],
  },
};

/** Section 8: windows that look back or refill, and give back too soon. */
export const LOOKING_BACK_FAULTS: readonly Fault[] = faultsOf(TABLE);
