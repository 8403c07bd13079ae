import type { Meter } from '../rate-meter.ts';

/** A window that opens and closes by the clock: at every full minute, or at midnight UTC. */
export class WindowByClock implements Meter {
  readonly limit: number;
  readonly #windowMs: number;
  #startsAt = 0;
  #used = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  left(now: number): number {
    const start = now - (now % this.#windowMs);
    if (start !== this.#startsAt) {
      this.#startsAt = start;
      this.#used = 0;
    }
    return this.limit - this.#used;
  }

  spend(now: number): void {
    this.left(now);
    this.#used += 1;
  }

  freeAt(now: number): number {
    return this.left(now) > 0 ? now : this.resetAt(now);
  }

  resetAt(now: number): number {
    return now - (now % this.#windowMs) + this.#windowMs;
  }
}

/** Looks back over the length of the window: each request is given back when it has become that old. */
export class SlidingLog implements Meter {
  readonly limit: number;
  readonly #windowMs: number;
  #times: number[] = [];
  #oldest = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  left(now: number): number {
    while (this.#oldest < this.#times.length && (this.#times[this.#oldest] ?? 0) + this.#windowMs <= now) {
      this.#oldest += 1;
    }
    if (this.#oldest > this.limit) {
      this.#times = this.#times.slice(this.#oldest);
      this.#oldest = 0;
    }
    return this.limit - (this.#times.length - this.#oldest);
  }

  spend(now: number): void {
    this.#times.push(now);
  }

  freeAt(now: number): number {
    return this.left(now) > 0 ? now : (this.#times[this.#oldest] ?? now) + this.#windowMs;
  }

  /** When the oldest request is given back. */
  resetAt(now: number): number {
    this.left(now);
    return (this.#times[this.#oldest] ?? now) + this.#windowMs;
  }
}

/** Looks back over refused requests as well: who goes on asking waits longer. */
export class SlidingLogOfAll implements Meter {
  readonly limit: number;
  readonly #windowMs: number;
  readonly #times: number[] = [];

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  left(now: number): number {
    while ((this.#times[0] ?? now) + this.#windowMs <= now) this.#times.shift();
    return Math.max(0, this.limit - this.#times.length);
  }

  spend(now: number): void {
    this.#times.push(now);
  }

  refused(now: number): void {
    this.#times.push(now);
  }

  freeAt(now: number): number {
    return this.left(now) > 0 ? now : (this.#times.at(-this.limit) ?? now) + this.#windowMs;
  }

  resetAt(now: number): number {
    this.left(now);
    return (this.#times.at(-this.limit) ?? this.#times[0] ?? now) + this.#windowMs;
  }
}

/**
 * Windows by the clock, of which the one before counts as far as a minute that looks back still holds it, its requests
 * taken as spread evenly over it.
 */
export class SlidingCounter implements Meter {
  readonly limit: number;
  readonly #windowMs: number;
  #startsAt = 0;
  #used = 0;
  #usedBefore = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  left(now: number): number {
    const start = now - (now % this.#windowMs);
    if (start !== this.#startsAt) {
      this.#usedBefore = start === this.#startsAt + this.#windowMs ? this.#used : 0;
      this.#startsAt = start;
      this.#used = 0;
    }
    const held = Math.ceil((this.#usedBefore * (start + this.#windowMs - now)) / this.#windowMs);
    return this.limit - this.#used - held;
  }

  spend(now: number): void {
    this.left(now);
    this.#used += 1;
  }

  freeAt(now: number): number {
    if (this.left(now) > 0) return now;
    // So many of a window may still count that there is room for one.
    const freedAt = (startsAt: number, room: number, used: number) =>
      startsAt + Math.ceil(this.#windowMs - (room * this.#windowMs) / Math.max(used, 1));
    const room = this.limit - 1 - this.#used;
    if (room >= 0) return freedAt(this.#startsAt, room, this.#usedBefore);
    const next = this.#startsAt + this.#windowMs;
    return Math.max(next, freedAt(next, this.limit - 1, this.#used));
  }

  resetAt(now: number): number {
    this.left(now);
    return this.#startsAt + this.#windowMs;
  }
}

/** A bucket of `limit` tokens that fills up evenly over the window. */
export class TokenBucket implements Meter {
  readonly limit: number;
  readonly #msPerToken: number;
  // When the bucket will be full again: the one number from which all others follow.
  #fullAt = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#msPerToken = windowMs / limit;
  }

  left(now: number): number {
    return this.limit - Math.ceil(Math.max(0, this.#fullAt - now) / this.#msPerToken);
  }

  spend(now: number): void {
    this.#fullAt = Math.max(this.#fullAt, now) + this.#msPerToken;
  }

  freeAt(now: number): number {
    return Math.max(now, this.#fullAt - (this.limit - 1) * this.#msPerToken);
  }

  /** When the bucket is full. */
  resetAt(now: number): number {
    return Math.max(now, this.#fullAt);
  }
}
