/** Counts one key's requests against one limit. All times are milliseconds since 1970 by the server's clock. */
export interface Meter {
  readonly limit: number;
  /** Requests left now. */
  left(now: number): number;
  /** Spends one request; called only while one is left. */
  spend(now: number): void;
  /** Called for a refused request, if refusals count too. */
  refused?(now: number): void;
  /** When a request is admitted again; now, if one is left. */
  freeAt(now: number): number;
  /** When the limit resets. */
  resetAt(now: number): number;
}

/** Makes the meter of one limit. */
export type MeterKind = (limit: number, windowMs: number) => Meter;

/** A window that opens with the first request and closes after its whole length. */
export class WindowFromFirstRequest implements Meter {
  readonly limit: number;
  readonly #windowMs: number;
  #endsAt = 0;
  #used = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  left(now: number): number {
    return now < this.#endsAt ? this.limit - this.#used : this.limit;
  }

  spend(now: number): void {
    if (now >= this.#endsAt) {
      this.#endsAt = now + this.#windowMs;
      this.#used = 0;
    }
    this.#used += 1;
  }

  freeAt(now: number): number {
    return this.left(now) > 0 ? now : this.#endsAt;
  }

  resetAt(now: number): number {
    return now < this.#endsAt ? this.#endsAt : now + this.#windowMs;
  }
}
