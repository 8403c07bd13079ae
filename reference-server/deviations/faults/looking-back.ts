import type { MeterKind } from '../../rate-meter.ts';
import { slidingLog, tokenBucket } from '../meters.ts';
import { minuteBy } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

/** As a bucket that holds a single token. */
const atIntervals: MeterKind = (limit, windowMs) => {
  let free = 0;
  const freeAt = (now: number) => Math.max(now, free);
  return {
    limit,
    left: (now) => (now < free ? 0 : 1),
    spend(now) {
      free = now + windowMs / limit;
    },
    freeAt,
    resetAt: freeAt,
  };
};

/** Takes twice the time, and says when the bucket would be full if it refilled as it is to. */
const halfRefilled: MeterKind = (limit, windowMs) => {
  const bucket = tokenBucket(limit, windowMs * 2);
  return { ...bucket, resetAt: (now) => (now + bucket.resetAt(now)) / 2 };
};

/** Section 8: windows that look back or refill, and give back too soon. */
// biome-ignore format: a table, a line or two for each fault
export const LOOKING_BACK_FAULTS: FaultTable = {
  'rate-minute-free': {
    'sliding-window-half-minute': ['A sliding window looks back for half a minute only.',
      minuteBy((limit, windowMs) => slidingLog(limit, windowMs / 2))],
    'bucket-refills-twice-as-fast': ['A bucket of the right size refills in half a minute.',
      minuteBy((limit, windowMs) => tokenBucket(limit, windowMs / 2))],
    'burst-of-one': ['Requests are admitted one by one, at even intervals.',
      minuteBy(atIntervals)],
  },
  'rate-next-window': {
    'bucket-refills-half-as-fast': ['A bucket of the right size takes two minutes to refill.',
      minuteBy(halfRefilled)],
  },
};
