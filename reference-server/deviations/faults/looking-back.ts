import type { MeterKind } from '../../rate-meter.ts';
import { SlidingLog, TokenBucket } from '../meters.ts';
import type { Personality } from '../personality.ts';
import { type Fault, fault } from './fault.ts';

const minuteBy = (minuteMeter: MeterKind): Personality => ({ recipe: () => ({ minuteMeter }) });

/** Section 8: windows that look back or refill, and give back too soon. */
export const LOOKING_BACK_FAULTS: readonly Fault[] = [
  fault(
    'sliding-window-half-minute',
    'rate-minute-free',
    'A sliding window looks back for half a minute only.',
    minuteBy((limit, windowMs) => new SlidingLog(limit, windowMs / 2)),
  ),
  fault(
    'bucket-refills-twice-as-fast',
    'rate-minute-free',
    'A bucket of the right size refills in half a minute.',
    minuteBy((limit, windowMs) => new TokenBucket(limit, windowMs / 2)),
  ),
];
