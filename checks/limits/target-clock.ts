import type { RateReading } from '../wire/rate-headers.ts';
import { DAY, MINUTE } from './time.ts';

type Dated = Pick<RateReading, 'date' | 'sentAt' | 'receivedAt'>;

/** The earliest and the latest time it can be at the target, in milliseconds since 1970. */
export interface TimeRange {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * A Date header is a whole second. Servers renew its text once a second, and a busy event loop does that up to a second
 * late: such a server was seen with a Date 2.2 seconds old.
 */
const DATE_BEHIND = 1000 + 2000;
/** A clock that is this far off was never set, or its Date means nothing: no time can be told from it. */
const ABSURDLY_OFF = 10 * 365 * DAY;

/** How far the clocks of synchronised machines may differ. */
export const CLOCKS_APART = 5000;

/**
 * What the target's clock shows, learned from the Date header of its responses (RFC 9110, 6.6.1).
 *
 * A response was made between the sending of its request and its receipt, and its Date lies at most three seconds
 * before that moment. Each response therefore bounds the skew from both sides, and many of them narrow it down.
 */
export class TargetClock {
  #lowest = Number.NEGATIVE_INFINITY;
  #highest = Number.POSITIVE_INFINITY;
  #before: TimeRange | undefined;
  /** By how much two Dates have contradicted each other at most. */
  #contradiction = 0;

  learn({ date, reset, sentAt, receivedAt }: Dated & Pick<RateReading, 'reset'>): void {
    if (date === undefined) return;
    // Where Reset goes by it, it is our clock that was never set.
    const isConfirmed = reset !== undefined && Math.abs(reset - date) < 2 * DAY;
    if (Math.abs(date - receivedAt) > ABSURDLY_OFF && !isConfirmed) return;
    const lowest = date - receivedAt;
    const highest = date + DATE_BEHIND - sentAt;
    if (lowest > this.#highest || highest < this.#lowest) {
      // The clock was set, another machine answered, or one that was stalled sent an old text.
      this.#before = this.at(0);
      this.#contradiction = Math.max(this.#contradiction, lowest - this.#highest, this.#lowest - highest);
      this.#lowest = lowest;
      this.#highest = highest;
      return;
    }
    this.#lowest = Math.max(this.#lowest, lowest);
    this.#highest = Math.min(this.#highest, highest);
  }

  /** Whether any response carried a readable Date; without one nothing is known of the target's clock. */
  get known(): boolean {
    return Number.isFinite(this.#lowest);
  }

  /** The target's clock minus ours, in the middle of what is possible; undefined where nothing is known. */
  get skew(): number | undefined {
    return this.known ? (this.#lowest + this.#highest) / 2 : undefined;
  }

  /**
   * By how much Date and our clock contradict each other. One of them is wrong by that much then, and a third clock, by
   * which the target tells its times, may be as wrong.
   */
  get dispute(): number {
    const apart = Math.abs(this.skew ?? 0);
    return apart > CLOCKS_APART ? apart : 0;
  }

  /**
   * What the target's clock showed or will show at a moment of ours, as any Date so far allows: where they disagree
   * nobody knows which of them the target goes by.
   */
  at(time: number): TimeRange | undefined {
    if (!this.known) return undefined;
    const { earliest = this.#lowest, latest = this.#highest } = this.#before ?? {};
    return {
      earliest: time + Math.min(this.#lowest, earliest),
      latest: time + Math.max(this.#highest, latest),
    };
  }

  /** Whether Dates disagree by more than the clocks of several machines: one of them may have been set meanwhile. */
  get disagrees(): boolean {
    return this.#contradiction > CLOCKS_APART;
  }

  /**
   * The moment of ours at which a time that the target told has come. Where nothing is known of its clock, ours stands
   * in. Where the two are less than a minute apart both must have reached it: Date may be that of a proxy.
   */
  reached(time: number): number {
    const theirs = this.known ? time - this.#lowest : time;
    return time - theirs < MINUTE ? Math.max(time, theirs) : theirs;
  }
}

/** Whether the target's clock was set back between two answers, as far as their Dates tell. */
export function wentBack(before: Dated, after: Dated): boolean {
  if (before.date === undefined || after.date === undefined) return false;
  const passed = after.sentAt - before.receivedAt;
  return after.date - before.date < passed - DATE_BEHIND;
}
