import type { TargetClock } from '../../limits/target-clock.ts';
import { MINUTE } from '../../limits/time.ts';
import { isAdmittedStatus } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import type { Reason } from '../reason.ts';

/**
 * Where a key has nothing left so often before this run has spent so much of its minute, Remaining is not waited for:
 * a refusal tells as well how long to wait.
 */
const MISLEADING = 2;
const SPENT_EARLY = 1 / 4;

/** As often may another client be the reason. */
const REFUSES_BURSTS = 2;

/** Whether an answer was made after another: one that came later but tells of more of the same window was overtaken. */
function isLater({ sentAt, receivedAt, limit, remaining = 0, reset }: RateReading, last: RateReading) {
  const tellsMore = limit === last.limit && reset === last.reset && remaining > (last.remaining ?? 0);
  return receivedAt >= last.receivedAt && !(sentAt < last.receivedAt && tellsMore);
}

/** A key's quota as far as the run knows it: what was sent, what the headers said. */
export class KeyLane {
  readonly key: Key;
  /** Sending times since a minute before the last answer, oldest first. */
  readonly #recent: number[] = [];
  #last: RateReading | undefined;
  #refusedUntil = 0;
  /**
   * Whether the target lets the key add animals, as far as its answers tell: permissions of a key are a question that
   * section 5 leaves open. Doubtful: an addition was forbidden, and nobody else tried it.
   */
  adding: 'untried' | 'allowed' | 'doubtful' | 'forbidden' = 'untried';
  /** Why the key cannot be used any more (unknown to the target, banned); undefined while it can. */
  unusable: Reason | undefined;
  /** Why nothing more is sent with the key for a day; undefined while it is. */
  spent: Reason | undefined;
  /** How often the key was refused although there should have been quota left. */
  refusedEarly = 0;
  /** Whether the requests that its window admits are being counted: one of another scene would be one too many. */
  isReserved = false;
  /** How often nothing was left although the run had hardly spent anything. */
  #emptyEarly = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(key: Key) {
    this.key = key;
  }

  /** Keeps the key for a count while that goes on. */
  async reserveFor<T>(count: () => Promise<T>): Promise<T> {
    this.isReserved = true;
    return count().finally(() => {
      this.isReserved = false;
    });
  }

  spend(now: number): void {
    this.#recent.push(now);
  }

  learn(reading: RateReading): void {
    if (reading.operation === 'createPet' && reading.status < 300) this.adding = 'allowed';
    // Where stored exchanges are gone through again, one is asked for before the time at which it was sent.
    while (this.#recent[0] !== undefined && this.#recent[0] <= reading.receivedAt - MINUTE)
      this.#recent.shift();
    const { perMinute } = this.key.limits;
    const isEmpty =
      isAdmittedStatus(reading.status) && reading.limit === perMinute && reading.remaining === 0;
    if (isEmpty && this.#recent.length < perMinute * SPENT_EARLY) this.#emptyEarly += 1;
    if (this.#last === undefined || isLater(reading, this.#last)) this.#last = reading;
  }

  /** Does something once what was begun so before has ended: ordinary requests of a key go one by one. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn;
    return turn;
  }

  /** The target asked to wait until this moment, although there should have been quota left. */
  refusedUntil(time: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil, time);
    this.refusedEarly += 1;
  }

  /** Whether the key was refused though the run had quota for it, and is to be left alone. */
  isHeldBack(now: number): boolean {
    return this.#refusedUntil > now;
  }

  /** Requests that the current minute still admits, as far as the run can know. */
  left(now: number): number {
    if (this.isHeldBack(now)) return 0;
    const bySelf = this.key.limits.perMinute - this.#inMinute(now).length;
    const last = this.#last;
    const isTold = last?.limit === this.key.limits.perMinute && last.receivedAt > now - MINUTE;
    const told = isTold && this.#emptyEarly < MISLEADING ? last.remaining : undefined;
    return Math.max(0, told ?? bySelf);
  }

  /**
   * The earliest moment at which a request is within the minute's quota: now, the window's reset where the headers
   * describe the minute, else a minute after the oldest request that counts.
   */
  readyAt(now: number, clock: TargetClock): number {
    if (this.isHeldBack(now)) return this.#refusedUntil;
    // Where the target refuses one request right after the other, they are sent as evenly as the plan has them.
    const pace = (1.1 * MINUTE) / this.key.limits.perMinute;
    const evenly = this.refusedEarly < REFUSES_BURSTS ? now : (this.#recent.at(-1) ?? now) + pace;
    if (this.left(now) > 0) return Math.max(now, evenly);
    const last = this.#last;
    if (last?.limit === this.key.limits.perMinute && last.reset !== undefined)
      return Math.min(Math.max(clock.reached(last.reset), now), last.receivedAt + MINUTE);
    return (this.#inMinute(now)[0] ?? now - MINUTE) + MINUTE;
  }

  #inMinute(now: number): number[] {
    return this.#recent.filter((sent) => sent > now - MINUTE && sent <= now);
  }
}
