import type { ApiKey } from './api-keys.ts';

/** When a key is banned and for how long. */
export interface BanPolicy {
  /** How many requests after a 429, with none admitted in between, lead to a ban; at least 1. */
  readonly threshold: number;
  readonly seconds: number;
}

interface Record {
  refusals: number;
  bannedUntil: number;
}

/**
 * Section 8, behaviour when exceeded: a key that keeps sending after a 429 is banned for a time. The first 429 does not
 * count, requests during a ban do not prolong it, and an admitted request clears the record.
 */
export class BanList {
  readonly #policy: BanPolicy;
  readonly #records = new Map<string, Record>();

  constructor(policy: BanPolicy) {
    this.#policy = policy;
  }

  /** Whether no key has a record. This is the usual state, in which a request costs nothing more. */
  get empty(): boolean {
    return this.#records.size === 0;
  }

  /** End of the key's ban in milliseconds since 1970, or null if it is not banned. */
  bannedUntil(key: ApiKey, now: number): number | null {
    const record = this.#records.get(key.name);
    if (record === undefined || record.bannedUntil === 0) return null;
    if (now < record.bannedUntil) return record.bannedUntil;
    this.#records.delete(key.name);
    return null;
  }

  /** Counts a refused request; returns the end of the ban if this request causes one. */
  refused(key: ApiKey, now: number): number | null {
    const record = this.#records.get(key.name) ?? { refusals: 0, bannedUntil: 0 };
    this.#records.set(key.name, record);
    record.refusals += 1;
    if (record.refusals <= this.#policy.threshold) return null;
    record.bannedUntil = now + this.#policy.seconds * 1000;
    return record.bannedUntil;
  }

  /** Forgets the refusals of a key, after it was admitted. */
  admitted(key: ApiKey): void {
    this.#records.delete(key.name);
  }
}
