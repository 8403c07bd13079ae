import type { Meter, MeterKind } from '../../rate-meter.ts';
import { SlidingLog, TokenBucket } from '../meters.ts';
import type { Personality } from '../personality.ts';
import { type Fault, type FaultTable, faultsOf } from './fault.ts';

/** As a bucket that holds a single token. */
class AtIntervals implements Meter {
  readonly limit: number;
  readonly #pause: number;
  #freeAt = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#pause = windowMs / limit;
  }

  left = (now: number) => (now < this.#freeAt ? 0 : 1);

  spend(now: number): void {
    this.#freeAt = now + this.#pause;
  }

  freeAt = (now: number) => Math.max(now, this.#freeAt);
  resetAt = (now: number) => Math.max(now, this.#freeAt);
}

/** Says when the bucket would be full if it refilled as it is to. */
class HalfRefilled extends TokenBucket {
  override resetAt(now: number): number {
    return (now + super.resetAt(now)) / 2;
  }
}

const minuteBy = (minuteMeter: MeterKind): Personality => ({ recipe: () => ({ minuteMeter }) });

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'rate-minute-free': {
    'sliding-window-half-minute': ['A sliding window looks back for half a minute only.',
      minuteBy((limit, windowMs) => new SlidingLog(limit, windowMs / 2))],
    'bucket-refills-twice-as-fast': ['A bucket of the right size refills in half a minute.',
      minuteBy((limit, windowMs) => new TokenBucket(limit, windowMs / 2))],
    'burst-of-one': ['Requests are admitted one by one, at even intervals.',
      minuteBy((limit, windowMs) => new AtIntervals(limit, windowMs))],
  },
  'rate-next-window': {
    'bucket-refills-half-as-fast': ['A bucket of the right size takes two minutes to refill.',
      minuteBy((limit, windowMs) => new HalfRefilled(limit, windowMs * 2))],
  },
};

/** Section 8: windows that look back or refill, and give back too soon. */
export const LOOKING_BACK_FAULTS: readonly Fault[] = faultsOf(TABLE);
